#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <thrust/complex.h>

#include "aten/common/opmath_type.h"
#include "aten/core/scalar.h"
#include "aten/core/scalar_type.h"

// Between the types elements are stored in and those kernels compute in.
namespace tenon::cuda {

/// std::complex has no device functions; thrust's has, with the same layout.
template <class T>
struct DeviceType {
  using type = T;
};
template <class R>
struct DeviceType<std::complex<R>> {
  using type = thrust::complex<R>;
};
template <class T>
using device_t = typename DeviceType<T>::type;

/// The type that a kernel computes elements of T in on the device.
template <class T>
using opmath_type = device_t<tenon::opmath_type<T>>;

template <class T>
inline constexpr bool kIsComplex = false;
template <class R>
inline constexpr bool kIsComplex<thrust::complex<R>> = true;
template <class T>
inline constexpr bool kIsHalfType = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

/// The value of type From as a To. Complex to real drops the imaginary part; to bool is != 0;
/// floating point to small integers goes through int64_t, so that negative numbers wrap around.
template <class To, class From>
__device__ __forceinline__ To convert(From v) {
  if constexpr (std::is_same_v<To, From>) {
    return v;
  } else if constexpr (std::is_same_v<From, Half>) {
    return convert<To>(__half2float(__ushort_as_half(v.bits)));
  } else if constexpr (std::is_same_v<From, BFloat16>) {
    return convert<To>(__uint_as_float(static_cast<uint32_t>(v.bits) << 16));
  } else if constexpr (std::is_same_v<To, bool>) {
    return !(v == From(0));
  } else if constexpr (kIsComplex<To>) {
    using R = typename To::value_type;
    if constexpr (kIsComplex<From>) {
      return To(static_cast<R>(v.real()), static_cast<R>(v.imag()));
    } else {
      return To(static_cast<R>(v), R(0));
    }
  } else if constexpr (kIsComplex<From>) {
    return convert<To>(v.real());
  } else if constexpr (std::is_same_v<To, Half>) {
    return Half::from_bits(__half_as_ushort(__float2half_rn(static_cast<float>(v))));
  } else if constexpr (std::is_same_v<To, BFloat16>) {
    return BFloat16::from_bits(__bfloat16_as_ushort(__float2bfloat16_rn(static_cast<float>(v))));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> && sizeof(To) < 8) {
    return static_cast<To>(static_cast<int64_t>(v));
  } else {
    return static_cast<To>(v);
  }
}

/// a + b and a * b; integers wrap around, bools are true or not.
template <class V>
__device__ __forceinline__ V plus(V a, V b) {
  if constexpr (std::is_integral_v<V> && !std::is_same_v<V, bool>) {
    using U = std::make_unsigned_t<V>;
    return static_cast<V>(static_cast<U>(a) + static_cast<U>(b));
  } else {
    return static_cast<V>(a + b);
  }
}
template <class V>
__device__ __forceinline__ V times(V a, V b) {
  if constexpr (std::is_integral_v<V> && !std::is_same_v<V, bool>) {
    using U = std::make_unsigned_t<V>;
    return static_cast<V>(1u * static_cast<U>(a) * static_cast<U>(b));
  } else {
    return static_cast<V>(a * b);
  }
}

/// A number as a kernel's value.
template <class V>
V number_as(const Scalar& number) {
  if constexpr (kIsComplex<V>) {
    const auto z = number.to<std::complex<typename V::value_type>>();
    return V(z.real(), z.imag());
  } else {
    return number.to<V>();
  }
}

}  // namespace tenon::cuda
