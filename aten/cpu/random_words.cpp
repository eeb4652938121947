#include "aten/cpu/random_words.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/cpu/random_words.cpp"
#include "aten/core/simd_targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "aten/cpu/vec/math_exp-inl.h"
#include "aten/cpu/vec/math_trig-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::native::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int kWords = Mt19937::kWords;
constexpr int kShift = 397;

template <class V>
HWY_INLINE V twisted(V high, V low) {
  const hn::DFromV<V> d;
  const V y = hn::Or(hn::And(high, hn::Set(d, 0x80000000u)), hn::And(low, hn::Set(d, 0x7fffffffu)));
  const V odd = hn::Sub(hn::Zero(d), hn::And(low, hn::Set(d, 1u)));
  return hn::Xor(hn::ShiftRight<1>(y), hn::And(odd, hn::Set(d, 0x9908b0dfu)));
}

inline uint32_t twisted(uint32_t high, uint32_t low) {
  const uint32_t y = (high & 0x80000000u) | (low & 0x7fffffffu);
  return (y >> 1) ^ ((low & 1u) ? 0x9908b0dfu : 0u);
}

void refill(uint32_t* HWY_RESTRICT s) {
  const hn::ScalableTag<uint32_t> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  // s[i + 1] of the last lane is still the old one when it is read, as it must be.
  const auto run = [&](int begin, int end, int from) HWY_ATTR {
    int i = begin;
    for (; i + lanes <= end; i += lanes) {
      const auto next = twisted(hn::LoadU(d, s + i), hn::LoadU(d, s + i + 1));
      hn::StoreU(hn::Xor(hn::LoadU(d, s + i + from), next), d, s + i);
    }
    for (; i < end; ++i) s[i] = s[i + from] ^ twisted(s[i], s[i + 1]);
  };
  run(0, kWords - kShift, kShift);
  run(kWords - kShift, kWords - 1, kShift - kWords);
  s[kWords - 1] = s[kShift - 1] ^ twisted(s[kWords - 1], s[0]);
}

void temper(const uint32_t* in, uint32_t* out, int64_t count) {
  const hn::ScalableTag<uint32_t> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    auto y = hn::LoadU(d, in + i);
    y = hn::Xor(y, hn::ShiftRight<11>(y));
    y = hn::Xor(y, hn::And(hn::ShiftLeft<7>(y), hn::Set(d, 0x9d2c5680u)));
    y = hn::Xor(y, hn::And(hn::ShiftLeft<15>(y), hn::Set(d, 0xefc60000u)));
    hn::StoreU(hn::Xor(y, hn::ShiftRight<18>(y)), d, out + i);
  }
  for (; i < count; ++i) {
    uint32_t y = in[i];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    out[i] = y ^ (y >> 18);
  }
}

void to_uniform_float(const uint32_t* words, float* out, int64_t count, float from, float range) {
  const hn::ScalableTag<float> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const hn::RebindToSigned<decltype(d)> di;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto bits = hn::And(hn::LoadU(du, words + i), hn::Set(du, 0xffffffu));
    const auto unit = hn::Mul(hn::ConvertTo(d, hn::BitCast(di, bits)), hn::Set(d, 0x1p-24f));
    hn::StoreU(hn::MulAdd(unit, hn::Set(d, range), hn::Set(d, from)), d, out + i);
  }
  for (; i < count; ++i) {
    out[i] = static_cast<float>(words[i] & 0xffffffu) * 0x1p-24f * range + from;
  }
}

void to_uniform_double(const uint32_t* words, double* out, int64_t count, double from,
                       double range) {
  // Plain enough for the compiler to vectorise for each target.
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t bits =
        (static_cast<uint64_t>(words[2 * i] & 0x1fffffu) << 32) | words[2 * i + 1];
    out[i] = static_cast<double>(static_cast<int64_t>(bits)) * 0x1p-53 * range + from;
  }
}

template <class T>
void transform(T* HWY_RESTRICT data, int64_t count, T mean, T std) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  constexpr int64_t kPairs = 512;  // 64 blocks at a time, their two halves gathered
  HWY_ALIGN T first[kPairs];
  HWY_ALIGN T second[kPairs];
  for (int64_t begin = 0; begin < count; begin += 2 * kPairs) {
    const int64_t blocks = std::min<int64_t>((count - begin) / 16, kPairs / 8);
    for (int64_t b = 0; b < blocks; ++b) {
      std::memcpy(first + 8 * b, data + begin + 16 * b, 8 * sizeof(T));
      std::memcpy(second + 8 * b, data + begin + 16 * b + 8, 8 * sizeof(T));
    }
    for (int64_t i = 8 * blocks; i % lanes != 0; ++i) first[i] = second[i] = T(0);
    for (int64_t i = 0; i < 8 * blocks; i += lanes) {
      const auto u1 = hn::Sub(hn::Set(d, T(1)), hn::Load(d, first + i));
      const auto theta = hn::Mul(hn::Set(d, T(2) * std::numbers::pi_v<T>), hn::Load(d, second + i));
      const auto radius =
          hn::Mul(hn::Sqrt(hn::Mul(hn::Set(d, T(-2)), m::log(u1))), hn::Set(d, std));
      const auto c = m::detail::sin_shifted(theta, 1);
      const auto s = m::detail::sin_shifted(theta, 0);
      hn::Store(hn::MulAdd(radius, c, hn::Set(d, mean)), d, first + i);
      hn::Store(hn::MulAdd(radius, s, hn::Set(d, mean)), d, second + i);
    }
    for (int64_t b = 0; b < blocks; ++b) {
      std::memcpy(data + begin + 16 * b, first + 8 * b, 8 * sizeof(T));
      std::memcpy(data + begin + 16 * b + 8, second + 8 * b, 8 * sizeof(T));
    }
  }
}

void box_muller_float(float* data, int64_t count, float mean, float std) {
  transform(data, count, mean, std);
}
void box_muller_double(double* data, int64_t count, double mean, double std) {
  transform(data, count, mean, std);
}

}  // namespace tenon::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::native {

HWY_EXPORT(refill);
HWY_EXPORT(temper);
HWY_EXPORT(to_uniform_float);
HWY_EXPORT(to_uniform_double);
HWY_EXPORT(box_muller_float);
HWY_EXPORT(box_muller_double);

namespace {

constexpr int64_t kChunk = 4096;  // words converted at a time, in the first-level cache

}  // namespace

void RandomWords::draw(uint32_t* out, int64_t count) {
  draw_raw(out, count);
  HWY_DYNAMIC_DISPATCH(temper)(out, out, count);
}

void RandomWords::draw_raw(uint32_t* out, int64_t count) {
  while (count > 0) {
    if (next_ == Mt19937::kWords) {
      HWY_DYNAMIC_DISPATCH(refill)(state_.data());
      next_ = 0;
    }
    const int64_t n = std::min<int64_t>(count, Mt19937::kWords - next_);
    std::copy_n(state_.data() + next_, n, out);
    next_ += static_cast<int>(n);
    out += n;
    count -= n;
  }
}

void draw_uniform(GeneratorImpl& generator, float* out, int64_t count, float from, float to) {
  if (count < kFewWords) {
    for (int64_t i = 0; i < count; ++i)
      out[i] = std::fma(uniform_float(generator), to - from, from);
    return;
  }
  RandomWords source(generator.engine);
  uint32_t words[kChunk];
  for (int64_t i = 0; i < count; i += kChunk) {
    const int64_t n = std::min(kChunk, count - i);
    source.draw(words, n);
    HWY_DYNAMIC_DISPATCH(to_uniform_float)(words, out + i, n, from, to - from);
  }
}

void draw_uniform(GeneratorImpl& generator, double* out, int64_t count, double from, double to) {
  if (count < kFewWords) {
    for (int64_t i = 0; i < count; ++i)
      out[i] = std::fma(uniform_double(generator), to - from, from);
    return;
  }
  RandomWords source(generator.engine);
  uint32_t words[kChunk];
  for (int64_t i = 0; i < count; i += kChunk / 2) {
    const int64_t n = std::min(kChunk / 2, count - i);
    source.draw(words, 2 * n);
    HWY_DYNAMIC_DISPATCH(to_uniform_double)(words, out + i, n, from, to - from);
  }
}

void draw_raw_words(GeneratorImpl& generator, uint32_t* words, int64_t count) {
  RandomWords(generator.engine).draw_raw(words, count);
}

void uniform_of_raw(uint32_t* words, float* out, int64_t count) {
  HWY_DYNAMIC_DISPATCH(temper)(words, words, count);
  HWY_DYNAMIC_DISPATCH(to_uniform_float)(words, out, count, 0, 1);
}

void uniform_of_raw(uint32_t* words, double* out, int64_t count) {
  HWY_DYNAMIC_DISPATCH(temper)(words, words, 2 * count);
  HWY_DYNAMIC_DISPATCH(to_uniform_double)(words, out, count, 0, 1);
}

void box_muller(float* data, int64_t count, float mean, float std) {
  HWY_DYNAMIC_DISPATCH(box_muller_float)(data, count, mean, std);
}

void box_muller(double* data, int64_t count, double mean, double std) {
  HWY_DYNAMIC_DISPATCH(box_muller_double)(data, count, mean, std);
}

}  // namespace tenon::native
#endif
