#pragma once

#include <ostream>

#include "aten/dispatch/operator_types.h"

namespace tenon {
namespace nn {

/// What a loss makes of the values per element.
enum class LossReduction : int64_t {
  None = Reduction::None,
  Mean = Reduction::Mean,
  Sum = Reduction::Sum
};

inline std::ostream& operator<<(std::ostream& out, LossReduction r) {
  return out << (r == LossReduction::None ? "none" : r == LossReduction::Mean ? "mean" : "sum");
}

}  // namespace nn

inline constexpr nn::LossReduction kNone = nn::LossReduction::None;
inline constexpr nn::LossReduction kMean = nn::LossReduction::Mean;
inline constexpr nn::LossReduction kSum = nn::LossReduction::Sum;

}  // namespace tenon
