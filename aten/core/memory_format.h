#pragma once

#include <cstdint>
#include <ostream>

namespace tenon {

/// How a tensor's elements are ordered in memory. The numbers are PyTorch's.
enum class MemoryFormat : int8_t {
  Contiguous = 0,
  Preserve = 1,
  ChannelsLast = 2,
  ChannelsLast3d = 3
};

inline std::ostream& operator<<(std::ostream& out, MemoryFormat format) {
  constexpr const char* kNames[] = {"contiguous_format", "preserve_format", "channels_last",
                                    "channels_last_3d"};
  return out << kNames[static_cast<int>(format)];
}

/// How a tensor keeps its elements; the numbers are PyTorch's.
enum class Layout : int8_t {
  Strided = 0,
  Sparse = 1,
  SparseCsr = 2,
  SparseCsc = 4,
  SparseBsr = 5,
  SparseBsc = 6
};

inline constexpr Layout kStrided = Layout::Strided;
inline constexpr Layout kSparse = Layout::Sparse;
inline constexpr Layout kSparseCsr = Layout::SparseCsr;
inline constexpr Layout kSparseCsc = Layout::SparseCsc;
inline constexpr Layout kSparseBsr = Layout::SparseBsr;
inline constexpr Layout kSparseBsc = Layout::SparseBsc;

inline std::ostream& operator<<(std::ostream& out, Layout layout) {
  constexpr const char* kNames[] = {"strided",    "sparse_coo", "sparse_csr", "mkldnn",
                                    "sparse_csc", "sparse_bsr", "sparse_bsc"};
  return out << kNames[static_cast<int>(layout)];
}

}  // namespace tenon
