#include "tenon/native/hash_tensor.h"

#include <atomic>
#include <bit>

#include "aten/common/contiguous.h"
#include "aten/core/parallel.h"
#include "aten/meta/hash_tensor.h"
#include "tenon/ops/permute.h"

namespace tenon {
namespace {

template <class T>
uint64_t bits_of(T x) {
  if constexpr (is_floating_point(scalar_type_of<T>)) {
    return std::bit_cast<uint64_t>(static_cast<double>(static_cast<opmath_type<T>>(x)));
  } else {
    return static_cast<uint64_t>(static_cast<int64_t>(x));
  }
}

}  // namespace

Tensor native::hash_tensor_cpu(const Tensor& self, IntArrayRef dim, bool keepdim, int64_t mode) {
  const HashedRows rows(self, dim, keepdim, mode);
  const TensorBase in = contiguous(self.permute(rows.order));
  const Tensor out(empty(rows.sizes, kUInt64, kCPU));
  auto* to = static_cast<uint64_t*>(out.mutable_data_ptr());
  constexpr int64_t kWork = 32768;
  TENON_DISPATCH_REAL(self.scalar_type(), "hash_tensor", {
    const auto* x = static_cast<const scalar_t*>(in.const_data_ptr());
    parallel_for(0, rows.kept, 1 + kWork / rows.reduced, [&](int64_t first, int64_t last) {
      for (int64_t row = first; row < last; ++row) {
        const scalar_t* elements = x + row * rows.reduced;
        std::atomic<uint64_t> hash{0};
        parallel_for(0, rows.reduced, kWork, [&](int64_t begin, int64_t end) {
          uint64_t part = 0;
          for (int64_t i = begin; i < end; ++i) part ^= bits_of(elements[i]);
          hash.fetch_xor(part, std::memory_order_relaxed);
        });
        to[row] = hash.load();
      }
    });
  });
  return out;
}

}  // namespace tenon
