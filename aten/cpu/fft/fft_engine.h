#pragma once

#include <complex>

#include "aten/core/array_ref.h"

namespace tenon::native {

/// Sizes and strides, in elements, of what is transformed. Input and output have the same sizes,
/// but for a real side's last axis, whose n elements are n/2 + 1 complex ones.
struct FftShape {
  IntArrayRef sizes;  ///< of the real side, if there is one
  IntArrayRef in_strides;
  IntArrayRef out_strides;
};

/// The transforms of one type, for one set of instructions, each multiplied by `factor`. They run
/// in parallel where there is enough to do.
template <class T>
struct FftEngine {
  using Complex = std::complex<T>;
  /// Over all axes; out may be in, with the same strides.
  void (*c2c)(const Complex* in, Complex* out, const FftShape& shape, IntArrayRef axes,
              bool forward, T factor);
  /// Over one axis, forward, the first n/2 + 1 values.
  void (*r2c)(const T* in, Complex* out, const FftShape& shape, int64_t axis, T factor);
  /// Over one axis, backward, from n/2 + 1 values.
  void (*c2r)(const Complex* in, T* out, const FftShape& shape, int64_t axis, T factor);
};

/// The engine for this processor. NotImplementedError if the library was built without one.
template <class T>
const FftEngine<T>& fft_engine();
template <>
const FftEngine<float>& fft_engine();
template <>
const FftEngine<double>& fft_engine();

}  // namespace tenon::native
