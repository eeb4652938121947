#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "tenon/tensor.h"

namespace tenon::optim {

/// One value of an optimizer's options, or of what it keeps of a parameter, under PyTorch's name:
/// "betas", "exp_avg". Files, comparisons and copies go through these.
struct Field {
  using Pointer = std::variant<double*, int64_t*, bool*, std::tuple<double, double>*,
                               std::optional<int64_t>*, std::optional<std::string>*, Tensor*,
                               std::deque<Tensor>*, std::optional<std::vector<Tensor>>*>;
  enum class Kind : uint8_t {
    kOther,
    kMoment,  ///< a tensor with the parameter's shape, dtype and device
    kNumber,  ///< a tensor of no dimension
  };
  std::string_view name;
  Pointer value;
  Kind kind = Kind::kOther;
};
using Fields = std::vector<Field>;

/// Whether both have the same names with the same values; tensors are compared by their elements.
TENON_API bool equal(const Fields& a, const Fields& b);

}  // namespace tenon::optim
