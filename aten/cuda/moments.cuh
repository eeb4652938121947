#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace tenon::cuda {

/// Number, mean and sum of squared distances from the mean of a sample, in double.
struct Moments {
  double count, mean, m2;

  /// Welford (1962): the sample with one more element.
  __device__ Moments with(double value) const {
    const double n = count + 1;
    const double delta = value - mean;
    const double next = mean + delta / n;
    return {n, next, m2 + delta * (value - next)};
  }
  /// Chan, Golub and LeVeque (1979): the union of two samples.
  static __device__ Moments combine(const Moments& a, const Moments& b) {
    const double n = a.count + b.count;
    if (n == 0) return a;
    const double delta = b.mean - a.mean;
    return {n, a.mean + delta * (b.count / n),
            a.m2 + b.m2 + delta * delta * (a.count * b.count / n)};
  }
};

}  // namespace tenon::cuda
