#include "tenon/native/binomial.h"

#include <cmath>
#include <numbers>

#include "aten/common/contiguous.h"
#include "aten/cpu/random_fill.h"
#include "aten/cpu/random_words.h"
#include "aten/iterator/element_copy.h"

namespace tenon {
namespace {

/// log(k!) less Stirling's approximation of it.
double stirling_tail(double k) {
  if (k <= 9) {
    return std::lgamma(k + 1) -
           ((k + 0.5) * std::log(k + 1) - (k + 1) + 0.5 * std::log(2 * std::numbers::pi));
  }
  const double square = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

/// Successes among `count` trials, of which the numbers of trials between them are geometric.
double by_gaps(double count, double p, GeneratorImpl& generator) {
  double trials = 0;
  for (double successes = 0;; ++successes) {
    trials += std::ceil(std::log(native::uniform_double(generator)) / std::log1p(-p));
    if (trials > count) return successes;
  }
}

/// Transformed rejection with squeeze, where 10 and more are expected (Hormann, 1993: BTRS).
double by_rejection(double count, double p, GeneratorImpl& generator) {
  const double deviation = std::sqrt(count * p * (1 - p));
  const double b = 1.15 + 2.53 * deviation;
  const double a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double c = count * p + 0.5;
  const double squeeze = 0.92 - 4.2 / b;
  const double odds = p / (1 - p);
  const double alpha = (2.83 + 5.1 / b) * deviation;
  const double mode = std::floor((count + 1) * p);
  while (true) {
    const double u = native::uniform_double(generator) - 0.5;
    const double v = native::uniform_double(generator);
    const double us = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / us + b) * u + c);
    if (us >= 0.07 && v <= squeeze) return k;
    if (k < 0 || k > count) continue;
    const double limit = (mode + 0.5) * std::log((mode + 1) / (odds * (count - mode + 1))) +
                         (count + 1) * std::log((count - mode + 1) / (count - k + 1)) +
                         (k + 0.5) * std::log(odds * (count - k + 1) / (k + 1)) +
                         stirling_tail(mode) + stirling_tail(count - mode) - stirling_tail(k) -
                         stirling_tail(count - k);
    if (std::log(v * alpha / (a / (us * us) + b)) <= limit) return k;
  }
}

double sample(double count, double p, GeneratorImpl& generator) {
  if (count <= 0 || p <= 0) return 0;
  if (p >= 1) return count;
  if (std::isnan(count) || std::isnan(p)) return NAN;
  if (p > 0.5) return count - sample(count, 1 - p, generator);
  return count * p >= 10 ? by_rejection(count, p, generator) : by_gaps(count, p, generator);
}

TensorBase expanded_to(const TensorBase& result, const Tensor& t) {
  const TensorBase copied = empty(result.sizes(), kDouble, kCPU);
  native::copy(copied, t);
  return copied;
}

}  // namespace

/// Element after element, row-major, in double.
void native::binomial_cpu(const Tensor& count, const Tensor& prob,
                          std::optional<Generator> generator, const Tensor& out) {
  const TensorBase counts = expanded_to(out, count), probabilities = expanded_to(out, prob);
  const ContiguousOutput result(out, kDouble);
  const LockedGenerator source("binomial", generator);
  const auto* n = static_cast<const double*>(counts.const_data_ptr());
  const auto* p = static_cast<const double*>(probabilities.const_data_ptr());
  for (int64_t i = 0; i < out.numel(); ++i) result.data<double>()[i] = sample(n[i], p[i], *source);
  result.copy_back();
}

}  // namespace tenon
