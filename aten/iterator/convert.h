#pragma once

#include "aten/core/scalar_type.h"

namespace tenon::native {

/// Converts n contiguous elements. Float to half types rounds to nearest even and keeps NaN; to
/// Bool is != 0; to integers truncates; complex to real drops the imaginary part.
using Converter = void (*)(void* dst, const void* src, int64_t n);

/// The fastest one on this machine; between equal dtypes it copies.
TENON_API Converter converter(ScalarType dst, ScalarType src);

/// dst[j][i] = the element at src + i stride0 + j stride1 (bytes), i < n0, j < n1; dst is dense.
TENON_API void gather_2d(void* dst, const void* src, size_t element_size, int64_t n0, int64_t n1,
                         int64_t stride0, int64_t stride1);
/// The inverse: src is dense.
TENON_API void scatter_2d(void* dst, const void* src, size_t element_size, int64_t n0, int64_t n1,
                          int64_t stride0, int64_t stride1);

/// From this much memory on, results bypass the caches: they would not survive there anyway.
inline constexpr int64_t kStreamBytes = int64_t{16} << 20;

/// Copies past the caches, for data that will not be read soon. Needs a stream_fence() before other
/// threads may read it.
TENON_API void stream_copy(void* dst, const void* src, size_t bytes);
TENON_API void stream_fence();

}  // namespace tenon::native
