#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace tenon::cuda {

/// Number, mean and sum of squared distances from the mean of a sample, each kept as the sum of two
/// V, float or double: the second is what the first has lost to rounding, so that neither long
/// samples nor the combination of many cost digits. V is 4 or 8 bytes wide, and so there is no
/// padding.
template <class V>
struct Moments {
  struct Number {
    V high = 0, low = 0;

    __device__ __forceinline__ double value() const {
      return static_cast<double>(high) + static_cast<double>(low);
    }
    /// Knuth's two-sum.
    __device__ __forceinline__ void add(V by) {
      const V sum = high + by, kept = sum - high;
      low += (high - (sum - kept)) + (by - kept);
      high = sum;
    }
    __device__ __forceinline__ void add(const Number& by) {
      add(by.high);
      low += by.low;
    }
  };
  Number count, mean, m2;

  /// Chan, Golub and LeVeque (1979): the union of two samples. With a sample of one element it is
  /// Welford's step (1962).
  __device__ __forceinline__ void join(const Moments& b) {
    if (count.high == V(0)) {
      *this = b;  // a difference from 0 would be rounded to one V
      return;
    }
    Number n = count;
    n.add(b.count);
    const V delta = (b.mean.high - mean.high) + (b.mean.low - mean.low);
    const V share = b.count.high / n.high;
    m2.add(b.m2);
    m2.add(delta * delta * (count.high * share));
    mean.add(delta * share);
    count = n;
  }
  __device__ __forceinline__ void join(V value) { join(Moments{{V(1)}, {value}, {}}); }

  static __device__ __forceinline__ Moments combine(Moments a, const Moments& b) {
    a.join(b);
    return a;
  }
};

}  // namespace tenon::cuda
