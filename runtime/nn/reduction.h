#pragma once

#include <cstdint>
#include <ostream>

namespace tenon {

/// What a loss makes of the values per element. The numbers are PyTorch's.
enum class Reduction : int64_t { None = 0, Mean = 1, Sum = 2 };

inline constexpr Reduction kNone = Reduction::None;
inline constexpr Reduction kMean = Reduction::Mean;
inline constexpr Reduction kSum = Reduction::Sum;

inline std::ostream& operator<<(std::ostream& out, Reduction r) {
  return out << (r == kNone ? "none" : r == kMean ? "mean" : "sum");
}

}  // namespace tenon
