#pragma once

#include <complex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aten/core/scalar.h"
#include "aten/core/tensor_base.h"

namespace tenon::ops_test {

/// The elements of a tensor in row-major order: `ints` for integers and bool, else `numbers`.
struct Cells {
  ScalarType dtype = ScalarType::Undefined;
  std::vector<int64_t> ints;
  std::vector<std::complex<double>> numbers;

  size_t size() const { return ints.size() + numbers.size(); }
  bool integral() const { return is_integral(dtype, true); }
  bool operator==(const Cells&) const = default;
};

Cells read_cells(const TensorBase& tensor);
void write_cells(const TensorBase& tensor, const Cells& cells);
/// As if stored in a tensor of that dtype.
Cells convert(const Cells& cells, ScalarType dtype);

/// "f32", "i64", "bool", ...
std::optional<ScalarType> dtype_of(std::string_view token);
const char* token_of(ScalarType dtype);
/// The number that the text spells, of the kind it spells: true, 3, 2.5, -inf, 1+2j. Throws.
Scalar parse_number(const std::string& text);

/// How the elements lie in memory.
enum class Arrangement {
  kContiguous,
  kReversed,      ///< `t`: the first dimension is the densest
  kEverySecond,   ///< `every2`: a gap after each element of the last dimension
  kExpanded,      ///< `expand`: the first dimension has stride 0
  kChannelsLast,  ///< `cl`
};

/// A tensor of a sample: `dtype[sizes] option...`, README.md has the options.
struct Recipe {
  ScalarType dtype = ScalarType::Float;
  std::vector<int64_t> sizes;
  Arrangement arrangement = Arrangement::kContiguous;
  std::optional<std::pair<double, double>> range;
  std::vector<Scalar> values;
  std::optional<int64_t> stream;
  bool grad = true;

  bool wants_grad() const { return grad && is_differentiable(dtype); }
};

/// Throws on a text that is none.
Recipe parse_recipe(std::string_view text);
/// The tensor; its cells are drawn from the recipe's stream, else from stream `argument`.
TensorBase make_tensor(const Recipe& recipe, int64_t argument);
/// Same elements, other memory; `offset` leaves that many elements unused in front of kEverySecond.
TensorBase rearranged(const TensorBase& tensor, Arrangement arrangement, int64_t offset = 0);
/// An uninitialised tensor so arranged.
TensorBase empty_arranged(IntArrayRef sizes, ScalarType dtype, Arrangement arrangement,
                          int64_t offset = 0);

}  // namespace tenon::ops_test
