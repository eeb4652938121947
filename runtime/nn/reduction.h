#pragma once

#include <ostream>
#include <variant>

#include "aten/dispatch/operator_types.h"
#include "runtime/nn/enum.h"

namespace tenon::nn {

/// What a loss makes of the values per element: none, their mean or their sum.
using LossReduction = std::variant<enumtype::kNone, enumtype::kMean, enumtype::kSum>;

/// The number by which operators know it.
inline int64_t reduction_number(const LossReduction& r) {
  static_assert(Reduction::None == 0 && Reduction::Mean == 1 && Reduction::Sum == 2);
  return int64_t(r.index());
}

}  // namespace tenon::nn
