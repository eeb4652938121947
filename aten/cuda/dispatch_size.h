#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::cuda {

/// Calls f.operator()<T>() with a plain type of the item's size: 1, 2, 4, 8 or 16 bytes; for
/// kernels that only move elements.
struct alignas(16) Bytes16 {
  uint64_t low, high;
};
template <class F>
void dispatch_size(size_t item, F&& f) {
  switch (item) {
  case 1: return f.template operator()<uint8_t>();
  case 2: return f.template operator()<uint16_t>();
  case 4: return f.template operator()<uint32_t>();
  case 8: return f.template operator()<uint64_t>();
  default: return f.template operator()<Bytes16>();
  }
}

}  // namespace tenon::cuda
