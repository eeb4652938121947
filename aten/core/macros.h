#pragma once

/// Symbols that another library or program may link to.
#define TENON_API __attribute__((visibility("default")))
/// Symbols that only their own library links to.
#define TENON_LOCAL __attribute__((visibility("hidden")))

#define TENON_LIKELY(x) __builtin_expect(static_cast<bool>(x), 1)
#define TENON_UNLIKELY(x) __builtin_expect(static_cast<bool>(x), 0)

#define TENON_ALWAYS_INLINE inline __attribute__((always_inline))
#define TENON_NOINLINE __attribute__((noinline))
#define TENON_COLD __attribute__((cold, noinline))

/// Usable in host code and, when compiled by nvcc, in device code.
#ifdef __CUDACC__
#define TENON_HOST_DEVICE __host__ __device__
#else
#define TENON_HOST_DEVICE
#endif
