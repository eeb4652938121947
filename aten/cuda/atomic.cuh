#pragma once

#include <cstdio>

#include "aten/cuda/cuda_convert.cuh"

namespace tenon::cuda {

/// What a kernel needs to hold of its data, such as indices in range. A kernel cannot throw: it
/// prints where and what, and stops, after which every call of CUDA in this process fails.
#define TENON_KERNEL_CHECK(cond)                                                       \
  do {                                                                                 \
    if (!(cond)) {                                                                     \
      printf("%s:%d: %s does not hold in a CUDA kernel\n", __FILE__, __LINE__, #cond); \
      __trap();                                                                        \
    }                                                                                  \
  } while (false)

namespace detail {

/// Adds to an element smaller than the words that hardware can exchange atomically.
template <class T>
__device__ void add_within_word(T* to, T value) {
  const auto address = reinterpret_cast<uintptr_t>(to);
  auto* word = reinterpret_cast<unsigned*>(address & ~uintptr_t{3});
  const unsigned shift = static_cast<unsigned>(address & 3) * 8;
  const unsigned mask = ((1u << (8 * sizeof(T))) - 1) << shift;
  unsigned seen = *word, expected;
  do {
    expected = seen;
    const T old = static_cast<T>((expected & mask) >> shift);
    const T sum =
        std::is_same_v<T, bool> ? static_cast<T>(old || value) : static_cast<T>(old + value);
    const unsigned bits = (static_cast<unsigned>(sum) << shift) & mask;
    seen = atomicCAS(word, expected, (expected & ~mask) | bits);
  } while (seen != expected);
}

}  // namespace detail

/// *to += value, by any number of threads at once. The order, and so the last bits, may differ from
/// run to run.
template <class T>
__device__ __forceinline__ void atomic_add(T* to, T value) {
  if constexpr (std::is_same_v<T, Half>) {
    atomicAdd(reinterpret_cast<__half*>(to), __ushort_as_half(value.bits));
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    atomicAdd(reinterpret_cast<__nv_bfloat16*>(to), __ushort_as_bfloat16(value.bits));
  } else if constexpr (kIsComplex<T>) {
    auto* parts = reinterpret_cast<typename T::value_type*>(to);
    atomicAdd(parts, value.real());
    atomicAdd(parts + 1, value.imag());
  } else if constexpr (std::is_same_v<T, int64_t>) {
    atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(value));
  } else if constexpr (sizeof(T) < 4) {
    detail::add_within_word(to, value);
  } else {
    atomicAdd(to, value);
  }
}

}  // namespace tenon::cuda
