#include "tenon/native/normal.h"

#include <cmath>
#include <numbers>

#include "aten/cpu/random_fill.h"
#include "aten/cpu/random_words.h"
#include "tenon/native/log_normal.h"

namespace tenon {
namespace {

constexpr int64_t kBoxMullerBlock = 16;

/// Box and Muller's method in double; the second value of each pair is kept for the next call.
double next_normal(GeneratorImpl& generator) {
  if (generator.next_double_normal) {
    const double value = *generator.next_double_normal;
    generator.next_double_normal.reset();
    return value;
  }
  const double u1 = native::uniform_double(generator);
  const double u2 = native::uniform_double(generator);
  const double radius = std::sqrt(-2.0 * std::log1p(-u2));
  const double theta = 2.0 * std::numbers::pi * u1;
  generator.next_double_normal = radius * std::sin(theta);
  return radius * std::cos(theta);
}

/// Half types draw each block on its own, which leaves the generator elsewhere than float does.
template <class H>
void fill_half_blocks(GeneratorImpl& generator, H* out, int64_t n, float mean, float std) {
  const auto block = [&](H* at) {
    float values[kBoxMullerBlock];
    native::draw_uniform(generator, values, kBoxMullerBlock, 0.0f, 1.0f);
    native::box_muller(values, kBoxMullerBlock, mean, std);
    for (int64_t j = 0; j < kBoxMullerBlock; ++j) at[j] = H(values[j]);
  };
  for (int64_t i = 0; i + kBoxMullerBlock <= n; i += kBoxMullerBlock) block(out + i);
  if (n % kBoxMullerBlock != 0) block(out + n - kBoxMullerBlock);
}

template <class T, class F>
void fill_one_by_one(const Tensor& self, int64_t parts, F&& next) {
  native::fill_in_order<T>(self, [&](T* out, int64_t n) {
    for (int64_t i = 0; i < n * parts; ++i) {
      if constexpr (std::is_class_v<T>) {
        out[i] = T(static_cast<float>(next()));
      } else {
        out[i] = static_cast<T>(next());
      }
    }
  });
}

template <class T>
void fill_normal(const Tensor& self, GeneratorImpl& generator, double mean, double std,
                 int64_t parts) {
  if (self.numel() * parts >= kBoxMullerBlock && self.is_contiguous()) {
    T* out = static_cast<T*>(self.mutable_data_ptr());
    if constexpr (std::is_class_v<T>) {
      fill_half_blocks(generator, out, self.numel(), static_cast<float>(mean),
                       static_cast<float>(std));
    } else {
      native::NormalBlocks<T> blocks;
      blocks.draw(generator, out, self.numel() * parts);
      blocks.transform(out, self.numel() * parts, static_cast<T>(mean), static_cast<T>(std));
    }
    return;
  }
  fill_one_by_one<T>(self, parts, [&] { return next_normal(generator) * std + mean; });
}

}  // namespace

/// PyTorch's streams: below 16 elements, or not contiguous, pairs in double; else blocks of 16.
Tensor& native::normal_cpu_(Tensor& self, double mean, double std,
                            std::optional<Generator> generator) {
  TENON_CHECK(std >= 0, "[normal_] normal expects std >= 0.0, but found std ", std);
  const LockedGenerator source("normal_", generator);
  if (self.is_complex()) {
    // Real and imaginary part share the variance; each has the mean.
    std /= std::numbers::sqrt2;
  }
  switch (self.scalar_type()) {
  case kFloat: fill_normal<float>(self, *source, mean, std, 1); break;
  case kDouble: fill_normal<double>(self, *source, mean, std, 1); break;
  case kHalf: fill_normal<Half>(self, *source, mean, std, 1); break;
  case kBFloat16: fill_normal<BFloat16>(self, *source, mean, std, 1); break;
  case kComplexFloat: fill_normal<float>(self, *source, mean, std, 2); break;
  case kComplexDouble: fill_normal<double>(self, *source, mean, std, 2); break;
  default:
    detail::raise<NotImplementedError>("[normal_] is not implemented for ", self.scalar_type());
  }
  return self;
}

/// Pairs in double, however many elements there are.
Tensor& native::log_normal_cpu_(Tensor& self, double mean, double std,
                                std::optional<Generator> generator) {
  TENON_CHECK(std > 0, "[log_normal_] log_normal_ expects std > 0.0, but found std=", std);
  const LockedGenerator source("log_normal_", generator);
  TENON_DISPATCH_FLOATING_AND_REDUCED(self.scalar_type(), "log_normal_", {
    fill_one_by_one<scalar_t>(self, 1, [&] { return std::exp(next_normal(*source) * std + mean); });
  });
  return self;
}

}  // namespace tenon
