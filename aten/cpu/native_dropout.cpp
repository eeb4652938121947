#include "tenon/native/native_dropout.h"

#include <algorithm>
#include <mutex>

#include "aten/core/generator.h"
#include "aten/core/parallel.h"
#include "aten/cpu/dropout_mask.h"
#include "aten/cpu/plain.h"

namespace tenon {
namespace {

/// Draws the mask and applies it, piece by piece while a piece is in cache. PyTorch's stream, one
/// Mersenne twister step per element, is not kept: it would be the slowest part of the operator.
template <class T>
void drop(const T* in, T* out, bool* mask, int64_t n, double p, uint64_t key) {
  constexpr int64_t kPiece = 4096;
  const T scale = static_cast<T>(1 / (1 - p));
  parallel_for(0, n, 65536, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i += kPiece) {
      const int64_t count = std::min(kPiece, end - i);
      native::draw_mask(key, static_cast<uint64_t>(i), p, mask + i, count);
      native::apply_mask(in + i, mask + i, scale, out + i, count);
    }
  });
}

}  // namespace

/// out = input * mask / (1 - p) with each element kept with probability 1 - p; all kept unless
/// `train`.
void native::native_dropout_cpu(const Tensor& input, double p, std::optional<bool> train,
                                const Tensor& out, const Tensor& mask) {
  const ScalarType type = opmath_type(input.scalar_type());
  const TensorBase x = plain_input(input, type);
  const PlainOutput y(out, type), kept(mask, kBool);
  const int64_t n = input.numel();
  const bool drops = train.value_or(true) && p > 0;
  TENON_DISPATCH_FLOATING(type, "dropout", {
    const scalar_t* in = x.data_ptr<scalar_t>();
    if (!drops || p == 1) {
      std::fill_n(kept.data<bool>(), n, !drops);
      for (int64_t i = 0; i < n; ++i) y.data<scalar_t>()[i] = drops ? scalar_t(0) : in[i];
    } else {
      const Generator& generator = default_generator();
      uint64_t key;
      {
        const std::lock_guard lock(generator->mutex);
        key = generator->random64();
      }
      drop(in, y.data<scalar_t>(), kept.data<bool>(), n, p, key);
    }
  });
  y.deliver();
  kept.deliver();
}

}  // namespace tenon
