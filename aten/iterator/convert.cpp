// The plain loops here are what GCC vectorises well, given leave to: -O2 alone does not. A build
// for size wants neither.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__OPTIMIZE_SIZE__)
#pragma GCC optimize("O3")
#endif

#include "aten/core/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/iterator/convert.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "aten/iterator/convert.h"
#include "aten/iterator/half_memory-inl.h"
#include "aten/iterator/storage_only.h"

#include <algorithm>
#include <complex>
#include <cstring>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace tenon::native::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
constexpr bool kComplexType = false;
template <class R>
constexpr bool kComplexType<std::complex<R>> = true;
template <class T>
constexpr bool kHalfType = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

template <class D, class S>
inline D convert_one(S s) {
  if constexpr (kComplexType<S>) {
    if constexpr (std::is_same_v<D, bool>) {
      return s.real() != 0 || s.imag() != 0;
    } else if constexpr (kComplexType<D>) {
      using R = typename D::value_type;
      return D(static_cast<R>(s.real()), static_cast<R>(s.imag()));
    } else {
      return convert_one<D>(s.real());
    }
  } else if constexpr (kHalfType<S>) {
    return convert_one<D>(static_cast<float>(s));
  } else if constexpr (kHalfType<D>) {
    return D(static_cast<float>(s));
  } else if constexpr (kComplexType<D>) {
    return D(static_cast<typename D::value_type>(s));
  } else if constexpr (std::is_same_v<D, bool>) {
    return s != 0;
  } else if constexpr (std::is_floating_point_v<S> && std::is_integral_v<D> && sizeof(D) < 4) {
    return static_cast<D>(
        static_cast<int32_t>(s));  // negative numbers wrap, as PyTorch's do on x86
  } else {
    return static_cast<D>(s);
  }
}

template <class D, class S>
void convert_loop(void* dst, const void* src, int64_t n) {
  D* __restrict d = static_cast<D*>(dst);
  const S* __restrict s = static_cast<const S*>(src);
  for (int64_t i = 0; i < n; ++i) d[i] = convert_one<D>(s[i]);
}

template <class T>
void copy_loop(void* dst, const void* src, int64_t n) {
  std::memcpy(dst, src, n * sizeof(T));
}

/// Numbers of two bytes, which Memory reads and rounds, to float and back.
template <class S, class Memory>
void from_half(void* dst, const void* src, int64_t n) {
  const auto* s = static_cast<const uint16_t*>(src);
  auto* out = static_cast<float*>(dst);
  const hn::ScalableTag<float> d;
  const int64_t lanes = hn::Lanes(d);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(Memory::load(s + i), d, out + i);
  convert_loop<float, S>(out + i, s + i, n - i);
}

template <class D, class Memory>
void to_half(void* dst, const void* src, int64_t n) {
  const auto* s = static_cast<const float*>(src);
  auto* out = static_cast<uint16_t*>(dst);
  const hn::ScalableTag<float> d;
  const hn::Repartition<uint16_t, decltype(d)> bits;
  const int64_t lanes = hn::Lanes(d);
  int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes)
    hn::StoreU(Memory::rounded(hn::LoadU(d, s + i), hn::LoadU(d, s + i + lanes)), bits, out + i);
  convert_loop<D, float>(out + i, s + i, n - i);
}

template <class D, class S>
Converter pick() {
  if constexpr (std::is_same_v<D, S>) return &copy_loop<D>;
#if HWY_TARGET != HWY_SCALAR
  // The emulation that kHasHalfMemory excludes reads infinities and NaN as large numbers, too.
  if constexpr (std::is_same_v<D, float> && std::is_same_v<S, Half> && kHasHalfMemory)
    return &from_half<Half, memory::Half>;
  if constexpr (std::is_same_v<D, Half> && std::is_same_v<S, float> && kHasHalfMemory)
    return &to_half<Half, memory::Half>;
  if constexpr (std::is_same_v<D, float> && std::is_same_v<S, BFloat16>)
    return &from_half<BFloat16, memory::BFloat16>;
  if constexpr (std::is_same_v<D, BFloat16> && std::is_same_v<S, float>)
    return &to_half<BFloat16, memory::BFloat16>;
#endif
  // As bytes, because GCC does not vectorise loops that read bool.
  if constexpr (std::is_same_v<S, bool>) return &convert_loop<D, uint8_t>;
  return &convert_loop<D, S>;
}

template <class D>
Converter pick_source(ScalarType src) {
  switch (src) {
#define TENON_PICK(T, Name) \
  case ScalarType::Name: return pick<D, T>();
    TENON_FORALL_TYPES(TENON_PICK)
#undef TENON_PICK
  default: break;
  }
  return nullptr;
}

// ---- transposition of small blocks -----------------------------------------------------------

/// dst[j][i] = src[i][j] for a block of kSide x kSide elements; strides in bytes.
template <class T>
struct Block {
  static constexpr int kSide = 1;
};

#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
template <>
struct Block<uint32_t> {
  static constexpr int kSide = 8;
  static HWY_INLINE void transpose(char* dst, int64_t dst_stride, const char* src,
                                   int64_t src_stride) {
    const hn::FixedTag<uint32_t, 8> d;
    const hn::Repartition<uint64_t, decltype(d)> d64;
    using V = hn::Vec<decltype(d)>;
    V r[8], t[8];
    for (int i = 0; i < 8; ++i) {
      r[i] = hn::LoadU(d, reinterpret_cast<const uint32_t*>(src + i * src_stride));
    }
    for (int i = 0; i < 8; i += 2) {
      t[i] = hn::InterleaveLower(d, r[i], r[i + 1]);
      t[i + 1] = hn::InterleaveUpper(d, r[i], r[i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
      for (int k = 0; k < 2; ++k) {
        const auto a = hn::BitCast(d64, t[i + k]), b = hn::BitCast(d64, t[i + 2 + k]);
        r[i + 2 * k] = hn::BitCast(d, hn::InterleaveLower(d64, a, b));
        r[i + 2 * k + 1] = hn::BitCast(d, hn::InterleaveUpper(d64, a, b));
      }
    }
    for (int i = 0; i < 4; ++i) {
      hn::StoreU(hn::ConcatLowerLower(d, r[i + 4], r[i]), d,
                 reinterpret_cast<uint32_t*>(dst + i * dst_stride));
      hn::StoreU(hn::ConcatUpperUpper(d, r[i + 4], r[i]), d,
                 reinterpret_cast<uint32_t*>(dst + (i + 4) * dst_stride));
    }
  }
};

template <>
struct Block<uint64_t> {
  static constexpr int kSide = 4;
  static HWY_INLINE void transpose(char* dst, int64_t dst_stride, const char* src,
                                   int64_t src_stride) {
    const hn::FixedTag<uint64_t, 4> d;
    using V = hn::Vec<decltype(d)>;
    V r[4], t[4];
    for (int i = 0; i < 4; ++i) {
      r[i] = hn::LoadU(d, reinterpret_cast<const uint64_t*>(src + i * src_stride));
    }
    for (int i = 0; i < 4; i += 2) {
      t[i] = hn::InterleaveLower(d, r[i], r[i + 1]);
      t[i + 1] = hn::InterleaveUpper(d, r[i], r[i + 1]);
    }
    for (int i = 0; i < 2; ++i) {
      hn::StoreU(hn::ConcatLowerLower(d, t[i + 2], t[i]), d,
                 reinterpret_cast<uint64_t*>(dst + i * dst_stride));
      hn::StoreU(hn::ConcatUpperUpper(d, t[i + 2], t[i]), d,
                 reinterpret_cast<uint64_t*>(dst + (i + 2) * dst_stride));
    }
  }
};
#endif

/// dst[j][i] = src[i][j], i < rows, j < columns; both have unit stride along their second index.
template <class T>
void transpose_block(char* dst, int64_t dst_stride, const char* src, int64_t src_stride,
                     int64_t rows, int64_t columns) {
  constexpr int64_t kSide = Block<T>::kSide;
  const auto scalar = [&](int64_t i0, int64_t i1, int64_t j0, int64_t j1) {
    for (int64_t j = j0; j < j1; ++j) {
      for (int64_t i = i0; i < i1; ++i) {
        std::memcpy(dst + j * dst_stride + i * sizeof(T), src + i * src_stride + j * sizeof(T),
                    sizeof(T));
      }
    }
  };
  if constexpr (kSide > 1) {
    const int64_t full_rows = rows / kSide * kSide, full_columns = columns / kSide * kSide;
    for (int64_t i = 0; i < full_rows; i += kSide) {
      for (int64_t j = 0; j < full_columns; j += kSide) {
        Block<T>::transpose(dst + j * dst_stride + i * sizeof(T), dst_stride,
                            src + i * src_stride + j * sizeof(T), src_stride);
      }
    }
    scalar(full_rows, rows, 0, full_columns);
    scalar(0, rows, full_columns, columns);
  } else {
    constexpr int64_t kTile = 16;
    for (int64_t i = 0; i < rows; i += kTile) {
      for (int64_t j = 0; j < columns; j += kTile) {
        scalar(i, std::min(i + kTile, rows), j, std::min(j + kTile, columns));
      }
    }
  }
}

struct Pair {
  uint64_t a, b;
};

/// Row j of `rows` dense rows of n becomes the value at src + j * stride. One store per row begins
/// where the row does, the others where a vector's memory does: those that cross cache lines cost
/// several times as much. What a row's last one writes too much, the rows that follow overwrite.
template <class T>
void fill_rows(T* HWY_RESTRICT out, const char* src, int64_t n, int64_t rows, int64_t stride) {
  T* const end = out + n * rows;
  for (int64_t j = 0; j < rows; ++j, out += n) {
    const T value = *reinterpret_cast<const T*>(src + j * stride);
    if constexpr (!std::is_same_v<T, Pair>) {
      const hn::ScalableTag<T> d;
      const auto lanes = static_cast<int64_t>(hn::Lanes(d));
      if (end - (out + n) >= lanes) {
        const auto v = hn::Set(d, value);
        hn::StoreU(v, d, out);
        const auto past =
            static_cast<int64_t>(reinterpret_cast<uintptr_t>(out) / sizeof(T) % lanes);
        for (int64_t i = lanes - past; i < n; i += lanes) hn::StoreU(v, d, out + i);
        continue;
      }
    }
    std::fill_n(out, n, value);
  }
}

/// Copies rows of `bytes`, which lie `from` apart, to where they lie `to` apart. A call of memcpy
/// would cost as much as copying a short row.
void copy_rows(char* HWY_RESTRICT dst, const char* HWY_RESTRICT src, size_t bytes, int64_t rows,
               int64_t to, int64_t from) {
  const auto copy = [](auto d, char* out, const char* in) HWY_ATTR {
    hn::StoreU(hn::LoadU(d, reinterpret_cast<const uint8_t*>(in)), d,
               reinterpret_cast<uint8_t*>(out));
  };
  // Rows far apart are not foreseen by the hardware; asking past the last one does no harm.
  constexpr int64_t kAhead = 8;
  // Every row in vectors, its last one overlapping the one before.
  const auto each = [&](auto d) HWY_ATTR {
    const size_t lanes = hn::Lanes(d), last = bytes - lanes;
    for (int64_t j = 0; j < rows; ++j, dst += to, src += from) {
      for (size_t i = 0; i < bytes; i += 64) __builtin_prefetch(src + kAhead * from + i);
      for (size_t i = 0; i < last; i += lanes) {
        copy(d, dst + i, src + i);
        asm volatile(
            "" ::
                : "memory");  // else GCC makes a `rep movsq` of the loop, many times slower
      }
      copy(d, dst + last, src + last);
    }
  };
  const hn::ScalableTag<uint8_t> widest;
  constexpr size_t kLongRow = 1024;
  if (bytes >= hn::Lanes(widest) && bytes <= kLongRow) return each(widest);
  if (bytes >= 16 && bytes < hn::Lanes(widest)) return each(hn::CappedTag<uint8_t, 16>());
  for (int64_t j = 0; j < rows; ++j, dst += to, src += from) std::memcpy(dst, src, bytes);
}

template <class T>
void gather_2d_of(void* dst, const void* src, int64_t n0, int64_t n1, int64_t stride0,
                  int64_t stride1) {
  const char* s = static_cast<const char*>(src);
  char* d = static_cast<char*>(dst);
  constexpr int64_t kSize = sizeof(T);
  if (stride0 == kSize) {
    copy_rows(d, s, n0 * kSize, n1, n0 * kSize, stride1);
  } else if (stride0 == 0) {
    fill_rows(static_cast<T*>(dst), s, n0, n1, stride1);
  } else if (stride1 == kSize && n1 > 1) {
    transpose_block<T>(d, n0 * kSize, s, stride0, n0, n1);
  } else {
    T* HWY_RESTRICT out = static_cast<T*>(dst);
    for (int64_t j = 0; j < n1; ++j) {
      const char* row = s + j * stride1;
      if (stride0 == 2 * kSize) {  // every other element: a distance that the compiler vectorises
        for (int64_t i = 0; i < n0; ++i) out[i] = reinterpret_cast<const T*>(row)[2 * i];
        out += n0;
        continue;
      }
      for (int64_t i = 0; i < n0; ++i) out[i] = *reinterpret_cast<const T*>(row + i * stride0);
      out += n0;
    }
  }
}

template <class T>
void scatter_2d_of(void* dst, const void* src, int64_t n0, int64_t n1, int64_t stride0,
                   int64_t stride1) {
  const char* s = static_cast<const char*>(src);
  char* d = static_cast<char*>(dst);
  constexpr int64_t kSize = sizeof(T);
  if (stride0 == kSize) {
    copy_rows(d, s, n0 * kSize, n1, stride1, n0 * kSize);
  } else if (stride1 == kSize && n1 > 1) {
    transpose_block<T>(d, stride0, s, n0 * kSize, n1, n0);
  } else {
    const T* in = static_cast<const T*>(src);
    for (int64_t j = 0; j < n1; ++j) {
      char* row = d + j * stride1;
      for (int64_t i = 0; i < n0; ++i) *reinterpret_cast<T*>(row + i * stride0) = in[i];
      in += n0;
    }
  }
}

}  // namespace

Converter pick_converter(ScalarType dst, ScalarType src) {
  switch (dst) {
#define TENON_PICK(T, Name) \
  case ScalarType::Name: return pick_source<T>(src);
    TENON_FORALL_TYPES(TENON_PICK)
#undef TENON_PICK
  default: break;
  }
  return nullptr;
}

void gather(void* dst, const void* src, size_t size, int64_t n0, int64_t n1, int64_t stride0,
            int64_t stride1) {
  switch (size) {
  case 1: return gather_2d_of<uint8_t>(dst, src, n0, n1, stride0, stride1);
  case 2: return gather_2d_of<uint16_t>(dst, src, n0, n1, stride0, stride1);
  case 4: return gather_2d_of<uint32_t>(dst, src, n0, n1, stride0, stride1);
  case 8: return gather_2d_of<uint64_t>(dst, src, n0, n1, stride0, stride1);
  default: return gather_2d_of<Pair>(dst, src, n0, n1, stride0, stride1);
  }
}

void scatter(void* dst, const void* src, size_t size, int64_t n0, int64_t n1, int64_t stride0,
             int64_t stride1) {
  switch (size) {
  case 1: return scatter_2d_of<uint8_t>(dst, src, n0, n1, stride0, stride1);
  case 2: return scatter_2d_of<uint16_t>(dst, src, n0, n1, stride0, stride1);
  case 4: return scatter_2d_of<uint32_t>(dst, src, n0, n1, stride0, stride1);
  case 8: return scatter_2d_of<uint64_t>(dst, src, n0, n1, stride0, stride1);
  default: return scatter_2d_of<Pair>(dst, src, n0, n1, stride0, stride1);
  }
}

void stream(void* dst, const void* src, size_t bytes) {
  const hn::ScalableTag<uint8_t> d;
  const size_t lanes = hn::Lanes(d);
  auto* out = static_cast<uint8_t*>(dst);
  const auto* in = static_cast<const uint8_t*>(src);
  const size_t head = std::min(bytes, (lanes - reinterpret_cast<uintptr_t>(out) % lanes) % lanes);
  std::memcpy(out, in, head);
  size_t i = head;
  for (; i + lanes <= bytes; i += lanes) hn::Stream(hn::LoadU(d, in + i), d, out + i);
  std::memcpy(out + i, in + i, bytes - i);
}

}  // namespace tenon::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <hwy/cache_control.h>

namespace tenon::native {

HWY_EXPORT(pick_converter);
HWY_EXPORT(gather);
HWY_EXPORT(scatter);
HWY_EXPORT(stream);

Converter converter(ScalarType dst, ScalarType src) {
  const Converter found = HWY_DYNAMIC_DISPATCH(pick_converter)(dst, src);
  return found ? found : storage_only_converter(dst, src);
}
void gather_2d(void* dst, const void* src, size_t element_size, int64_t n0, int64_t n1,
               int64_t stride0, int64_t stride1) {
  HWY_DYNAMIC_DISPATCH(gather)(dst, src, element_size, n0, n1, stride0, stride1);
}
void scatter_2d(void* dst, const void* src, size_t element_size, int64_t n0, int64_t n1,
                int64_t stride0, int64_t stride1) {
  HWY_DYNAMIC_DISPATCH(scatter)(dst, src, element_size, n0, n1, stride0, stride1);
}
void stream_copy(void* dst, const void* src, size_t bytes) {
  HWY_DYNAMIC_DISPATCH(stream)(dst, src, bytes);
}
void stream_fence() { hwy::FlushStream(); }

}  // namespace tenon::native
#endif
