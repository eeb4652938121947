#pragma once

#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "codegen/expr/graph/intrinsics.h"

namespace tenon::codegen::rows {

using expr::Domain;

/// A node of a random expression: apart from the generator's own graph, against which it is held.
struct Term {
  std::string name;  ///< of a function, an operand or, where `is_number`, nothing
  std::vector<size_t> arguments;
  Domain domain = Domain::kScalar;
  double number = 0;
  bool is_number = false;
  bool is_operand = false;
  bool is_mask = false;
};

/// The operands that expressions may have, as the schema of `kRandomSchema` declares them.
inline constexpr const char* kRandomArguments =
    "Tensor x, Tensor y, Tensor w, Tensor? v, Tensor r, Tensor place, float scale";
/// What stands for `v` where it is absent.
inline constexpr double kAbsent = 0.75;

/// A random `rowwise` entry: a typed expression of each result, in which subexpressions are shared
/// and results may use those before them. Arguments stand before what uses them.
struct RandomEntry {
  std::vector<Term> terms;
  std::vector<size_t> results;
  bool picks_guarded = true;  ///< position -1 is chosen away wherever there is a `pick`

  /// As one would write the result in YAML, with locals for what is shared.
  std::string text(size_t result) const;
  static std::string result_name(size_t result, size_t count) {
    return count == 1 ? "result" : "result" + std::to_string(result);
  }
};

/// `num_results` results of about `size` functions each.
RandomEntry random_entry(std::mt19937_64& random, size_t num_results, size_t size);
/// The entry of a seed; `random` goes on from there.
RandomEntry random_entry(size_t seed, std::mt19937_64* random = nullptr);

}  // namespace tenon::codegen::rows
