#include "tenon/native/poisson.h"

#include <cmath>

#include "aten/common/contiguous.h"
#include "aten/cpu/random_fill.h"
#include "aten/cpu/random_words.h"

namespace tenon {
namespace {

/// As many uniform numbers as their product exceeds exp(-rate) (Knuth).
int64_t by_product(double rate, GeneratorImpl& generator) {
  if (rate == 0) return 0;
  const double limit = std::exp(-rate);
  double product = 1;
  for (int64_t count = 0;; ++count) {
    product *= native::uniform_double(generator);
    if (product <= limit) return count;
  }
}

/// Transformed rejection with squeeze, for rates of 10 and more (Hormann, 1993: PTRS).
int64_t by_rejection(double rate, GeneratorImpl& generator) {
  const double log_rate = std::log(rate);
  const double b = 0.931 + 2.53 * std::sqrt(rate);
  const double a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  const double squeeze = 0.9277 - 3.6224 / (b - 2);
  while (true) {
    const double u = native::uniform_double(generator) - 0.5;
    const double v = native::uniform_double(generator);
    const double us = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / us + b) * u + rate + 0.43);
    if (us >= 0.07 && v <= squeeze) return static_cast<int64_t>(k);
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (std::log(v) + std::log(inverse_alpha) - std::log(a / (us * us) + b) <=
        -rate + k * log_rate - std::lgamma(k + 1)) {
      return static_cast<int64_t>(k);
    }
  }
}

}  // namespace

/// Element after element, row-major, in double.
void native::poisson_cpu(const Tensor& self, std::optional<Generator> generator,
                         const Tensor& out) {
  const TensorBase rates = contiguous(self, kDouble);
  const ContiguousOutput result(out, kDouble);
  const LockedGenerator source("poisson", generator);
  const auto* rate = static_cast<const double*>(rates.const_data_ptr());
  for (int64_t i = 0; i < self.numel(); ++i) {
    TENON_CHECK(rate[i] >= 0,
                "[poisson] invalid Poisson rate, expected rate to be non-negative, got ", rate[i]);
    result.data<double>()[i] = static_cast<double>(rate[i] >= 10 ? by_rejection(rate[i], *source)
                                                                 : by_product(rate[i], *source));
  }
  result.copy_back();
}

}  // namespace tenon
