#include "tenon/native/native_dropout.h"

#include <algorithm>
#include <mutex>

#include "aten/core/generator.h"
#include "aten/core/parallel.h"
#include "aten/cpu/plain.h"

namespace tenon {
namespace {

/// 64 random bits that depend only on the counter: the finalizer of SplitMix64 (Steele, Lea, Flood 2014).
uint64_t mix(uint64_t counter) {
  uint64_t z = counter * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

/// mask[i] = whether element i is kept; every number of threads draws the same. PyTorch's stream, one
/// Mersenne twister step per element, is not kept: it would be the slowest part of the operator.
template <class T>
void drop(const T* in, T* out, bool* mask, int64_t n, double p, uint64_t key) {
  const uint32_t limit = static_cast<uint32_t>(std::min(p * 4294967296.0, 4294967295.0));
  const T scale = static_cast<T>(1 / (1 - p));
  constexpr int64_t kPairs = 128;
  parallel_for(0, (n + 2 * kPairs - 1) / (2 * kPairs), 64, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const int64_t start = block * 2 * kPairs, count = std::min(2 * kPairs, n - start);
      uint32_t draws[2 * kPairs];
      for (int64_t i = 0; i < kPairs; ++i) {
        const uint64_t bits = mix(key + static_cast<uint64_t>(block * kPairs + i));
        draws[i] = static_cast<uint32_t>(bits);
        draws[kPairs + i] = static_cast<uint32_t>(bits >> 32);
      }
      for (int64_t i = 0; i < count; ++i) mask[start + i] = draws[i] >= limit;
      for (int64_t i = 0; i < count; ++i) {
        out[start + i] = in[start + i] * (draws[i] >= limit ? scale : T(0));
      }
    }
  });
}

}  // namespace

/// out = input * mask / (1 - p) with each element kept with probability 1 - p; all kept unless `train`.
void native::native_dropout_cpu(const Tensor& input, double p, std::optional<bool> train, const Tensor& out,
                                const Tensor& mask) {
  const ScalarType type = compute_type(input.scalar_type());
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
