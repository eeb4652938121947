#pragma once

#include <complex>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "aten/core/scalar_type.h"
#include "aten/iterator/half_memory-inl.h"

// Elements between memory and loops, in code that is compiled into a generated source and links
// nothing: no exceptions, nothing of the C++ library but headers.

HWY_BEFORE_NAMESPACE();
namespace tenon::standalone {

/// The text of an error, which stays until the thread's next one.
[[gnu::format(printf, 1, 2)]] inline const char* fail(const char* format, ...) {
  static thread_local char text[512];
  va_list values;
  va_start(values, format);
  std::vsnprintf(text, sizeof(text), format, values);
  va_end(values);
  return text;
}

/// Calls f with a value of the dtype's C++ type; false if kernels do not know the dtype.
template <class F>
bool with_type(ScalarType dtype, F f) {
  switch (dtype) {
  case kByte: return f(uint8_t()), true;
  case kChar: return f(int8_t()), true;
  case kShort: return f(int16_t()), true;
  case kInt: return f(int32_t()), true;
  case kLong: return f(int64_t()), true;
  case kHalf: return f(Half()), true;
  case kBFloat16: return f(BFloat16()), true;
  case kFloat: return f(float()), true;
  case kDouble: return f(double()), true;
  case kComplexFloat: return f(std::complex<float>()), true;
  case kComplexDouble: return f(std::complex<double>()), true;
  case kBool: return f(bool()), true;
  default: return false;
  }
}

template <class T>
inline constexpr bool kIsComplex = false;
template <class T>
inline constexpr bool kIsComplex<std::complex<T>> = true;
template <class T>
inline constexpr bool kIsHalf = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

template <class To, class From>
To converted(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (kIsHalf<From>) {
    return converted<To>(static_cast<float>(value));
  } else if constexpr (kIsComplex<From> && !kIsComplex<To>) {
    return converted<To>(value.real());
  } else if constexpr (kIsHalf<To>) {
    return To(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From(0);
  } else if constexpr (kIsComplex<To> && kIsComplex<From>) {
    using R = typename To::value_type;
    return To(static_cast<R>(value.real()), static_cast<R>(value.imag()));
  } else if constexpr (kIsComplex<To>) {
    return To(static_cast<typename To::value_type>(value));
  } else {
    return static_cast<To>(value);
  }
}

#if HWY_TARGET != HWY_SCALAR
/// Contiguous numbers of two bytes as float, and back, in whole vectors; gives how many.
template <class Memory>
int64_t widen_vectors(float* to, const uint16_t* from, int64_t n) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(Memory::load(from + i), d, to + i);
  return i;
}
template <class Memory>
int64_t round_vectors(uint16_t* to, const float* from, int64_t n) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  const hn::Repartition<uint16_t, decltype(d)> bits;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const auto low = hn::LoadU(d, from + i), high = hn::LoadU(d, from + i + lanes);
    hn::StoreU(Memory::rounded(low, high), bits, to + i);
  }
  return i;
}
inline int64_t convert_vectors(void* to, ScalarType to_type, const void* from, ScalarType from_type,
                               int64_t n) {
  namespace memory = native::HWY_NAMESPACE::memory;
  const auto convert = [&]<class Memory>(Memory) {
    return to_type == kFloat ? widen_vectors<Memory>(static_cast<float*>(to),
                                                     static_cast<const uint16_t*>(from), n)
                             : round_vectors<Memory>(static_cast<uint16_t*>(to),
                                                     static_cast<const float*>(from), n);
  };
  const ScalarType other = to_type == kFloat     ? from_type
                           : from_type == kFloat ? to_type
                                                 : ScalarType::Undefined;
  if (other == kBFloat16) return convert(memory::BFloat16());
  if (native::HWY_NAMESPACE::kHasHalfMemory && other == kHalf) return convert(memory::Half());
  return 0;
}
#else
inline int64_t convert_vectors(void*, ScalarType, const void*, ScalarType, int64_t) { return 0; }
#endif

/// n elements; one of the dtypes is float, double, int32, int64 or complex. Strides are in bytes.
inline void convert(void* to, ScalarType to_type, int64_t to_stride, const void* from,
                    ScalarType from_type, int64_t from_stride, int64_t n) {
  if (to_type == from_type) {
    const size_t size = element_size(to_type);
    const auto copy = [&](auto bytes) {
      for (int64_t i = 0; i < n; ++i)
        std::memcpy(static_cast<char*>(to) + i * to_stride,
                    static_cast<const char*>(from) + i * from_stride, decltype(bytes)::value);
    };
    switch (size) {
    case 1: return copy(std::integral_constant<size_t, 1>());
    case 2: return copy(std::integral_constant<size_t, 2>());
    case 4: return copy(std::integral_constant<size_t, 4>());
    case 8: return copy(std::integral_constant<size_t, 8>());
    default: return copy(std::integral_constant<size_t, 16>());
    }
  }
  with_type(to_type, [&](auto t) {
    with_type(from_type, [&](auto f) {
      using To = decltype(t);
      using From = decltype(f);
      constexpr bool computed = sizeof(To) >= 4 || sizeof(From) >= 4;
      if constexpr (computed) {
        const auto one = [&](int64_t i, int64_t in, int64_t out) {
          From value;
          std::memcpy(&value, static_cast<const char*>(from) + i * in, sizeof(From));
          const To result = converted<To>(value);
          std::memcpy(static_cast<char*>(to) + i * out, &result, sizeof(To));
        };
        constexpr int64_t kIn = sizeof(From), kOut = sizeof(To);
        if (from_stride == kIn && to_stride == kOut) {
          const int64_t done = convert_vectors(to, to_type, from, from_type, n);
          for (int64_t i = done; i < n; ++i) one(i, kIn, kOut);
        } else {
          for (int64_t i = 0; i < n; ++i) one(i, from_stride, to_stride);
        }
      }
    });
  });
}

}  // namespace tenon::standalone
HWY_AFTER_NAMESPACE();
