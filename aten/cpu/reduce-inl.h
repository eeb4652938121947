// Loops of reductions, written plainly: the compiler vectorises them for each Highway target that
// includes this file.
#if defined(TENON_ATEN_CPU_REDUCE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_ATEN_CPU_REDUCE_INL_H_
#undef TENON_ATEN_CPU_REDUCE_INL_H_
#else
#define TENON_ATEN_CPU_REDUCE_INL_H_
#endif

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "aten/core/scalar_type.h"
#include "aten/cpu/reduce.h"
#include "aten/iterator/convert.h"

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tenon::native::HWY_NAMESPACE {

/// Op: types In, Acc, Out and static functions
///   Acc load(In), Acc combine(Acc, Acc), Acc identity(), Out finish(Acc, const ReduceContext&);
/// kCascade: partial sums are kept short, so that rounding errors do not add up.
/// Half types are converted to float in blocks first: an Op has In = float then.
template <class Op, class Stored = typename Op::In>
struct Loops {
  using In = typename Op::In;
  using Acc = typename Op::Acc;
  using Out = typename Op::Out;

  static constexpr int64_t kLanes = 256 / sizeof(Acc);
  static constexpr int64_t kRun = Op::kCascade ? 32 * kLanes : int64_t{1} << 60;
  static constexpr int64_t kConverted = 2048;

  static HWY_INLINE Acc fold(Acc* lanes) {
    for (int64_t width = kLanes / 2; width > 0; width /= 2) {
      for (int64_t j = 0; j < width; ++j) lanes[j] = Op::combine(lanes[j], lanes[j + width]);
    }
    return lanes[0];
  }

  /// Ops on float and double may bring combine_vectors(V, V) and combine_lanes(d, V), which keep
  /// the results in registers.
  static constexpr bool kOwnVectors = requires { Op::kCombinesVectors; }
  &&std::is_floating_point_v<Acc>;
  /// Whether combine_vectors may drop a NaN, as the processor's maximum does. They are looked for
  /// beside the chain of combinations, by a sum that any NaN makes one, as do infinities of both
  /// signs: then the elements are combined once more, one by one.
  static constexpr bool kDropsNaN = requires { Op::kDropsNaN; };

  using Tag = hwy::HWY_NAMESPACE::CappedTag<Acc, kLanes / 4>;
  static HWY_INLINE int64_t width() {
    return static_cast<int64_t>(hwy::HWY_NAMESPACE::Lanes(Tag()));
  }

  /// The elements from p up to the index left in i; at least a vector is there.
  static HWY_INLINE Acc run_vectors(const In* HWY_RESTRICT p, int64_t n, int64_t& i) {
    namespace hn = hwy::HWY_NAMESPACE;
    const Tag d;
    const int64_t w = width();
    auto a0 = hn::LoadU(d, p), nan = a0;
    i = w;
    if (n >= 4 * w) {
      auto a1 = hn::LoadU(d, p + w), a2 = hn::LoadU(d, p + 2 * w), a3 = hn::LoadU(d, p + 3 * w);
      nan = hn::Add(hn::Add(a0, a1), hn::Add(a2, a3));
      for (i = 4 * w; i + 4 * w <= n; i += 4 * w) {
        const auto v0 = hn::LoadU(d, p + i), v1 = hn::LoadU(d, p + i + w);
        const auto v2 = hn::LoadU(d, p + i + 2 * w), v3 = hn::LoadU(d, p + i + 3 * w);
        a0 = Op::combine_vectors(a0, v0);
        a1 = Op::combine_vectors(a1, v1);
        a2 = Op::combine_vectors(a2, v2);
        a3 = Op::combine_vectors(a3, v3);
        if constexpr (kDropsNaN) {
          nan = hn::Add(nan, hn::Add(hn::Add(v0, v1), hn::Add(v2, v3)));
        }
      }
      a0 = Op::combine_vectors(Op::combine_vectors(a0, a1), Op::combine_vectors(a2, a3));
    }
    for (; i + w <= n; i += w) {
      const auto v = hn::LoadU(d, p + i);
      a0 = Op::combine_vectors(a0, v);
      if constexpr (kDropsNaN) nan = hn::Add(nan, v);
    }
#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
    if (i < n) {
      const auto rest = hn::FirstN(d, static_cast<size_t>(n - i));
      const auto v = hn::MaskedLoad(rest, d, p + i);
      a0 = hn::IfThenElse(rest, Op::combine_vectors(a0, v), a0);
      if constexpr (kDropsNaN) nan = hn::Add(nan, v);
      i = n;
    }
#endif
    if constexpr (kDropsNaN) {
      if (HWY_UNLIKELY(!hn::AllFalse(d, hn::IsNaN(nan)))) return one_by_one(p, i);
    }
    return Op::combine_lanes(d, a0);
  }

  static Acc one_by_one(const In* p, int64_t n) {
    Acc acc = Op::load(p[0]);
    for (int64_t i = 1; i < n; ++i) acc = Op::combine(acc, Op::load(p[i]));
    return acc;
  }

  /// Up to kRun elements, kLanes at a time.
  static Acc run(const In* HWY_RESTRICT p, int64_t n) {
    int64_t i = kLanes;
    Acc acc;
    if constexpr (kOwnVectors) {
      if (n < width()) return one_by_one(p, n);
      acc = run_vectors(p, n, i);
    } else {
      if (n < kLanes) return one_by_one(p, n);
      Acc lanes[kLanes];
      for (int64_t j = 0; j < kLanes; ++j) lanes[j] = Op::load(p[j]);
      for (; i + kLanes <= n; i += kLanes) {
        for (int64_t j = 0; j < kLanes; ++j) lanes[j] = Op::combine(lanes[j], Op::load(p[i + j]));
      }
      acc = fold(lanes);
    }
    for (; i < n; ++i) acc = Op::combine(acc, Op::load(p[i]));
    return acc;
  }

  /// Runs are combined like the digits of a binary counter: every sum is of two of equal length.
  static Acc row(const In* p, int64_t n) {
    if (n <= kRun) return run(p, n);
    Acc level[64];
    uint64_t used = 0;
    for (int64_t i = 0; i < n; i += kRun) {
      Acc acc = run(p + i, std::min(kRun, n - i));
      int l = 0;
      for (; (used >> l) & 1; ++l) {
        acc = Op::combine(level[l], acc);
        used &= ~(uint64_t{1} << l);
      }
      level[l] = acc;
      used |= uint64_t{1} << l;
    }
    int l = std::countr_zero(used);
    Acc acc = level[l];
    for (++l; l < 64; ++l) {
      if ((used >> l) & 1) acc = Op::combine(level[l], acc);
    }
    return acc;
  }

  static void rows(const void* in, int64_t step, int64_t count, int64_t n, void* acc, bool first) {
    const auto* p = static_cast<const Stored*>(in);
    auto* a = static_cast<Acc*>(acc);
    for (int64_t i = 0; i < count; ++i, p += step) {
      Acc value{};
      if constexpr (std::is_same_v<Stored, In>) {
        value = row(p, n);
      } else {
        alignas(64) In buffer[kConverted];
        const Converter convert = converter(scalar_type_of<In>, scalar_type_of<Stored>);
        for (int64_t k = 0; k < n; k += kConverted) {
          const int64_t m = std::min(kConverted, n - k);
          convert(buffer, p + k, m);
          const Acc part = row(buffer, m);
          value = k == 0 ? part : Op::combine(value, part);
        }
      }
      a[i] = first ? value : Op::combine(a[i], value);
    }
  }

  static HWY_INLINE void take_rows(const In* HWY_RESTRICT p, int64_t pitch, int64_t rows, int64_t n,
                                   Acc* HWY_RESTRICT a, bool first) {
    int64_t r = 0;
    if (first) {
      for (int64_t j = 0; j < n; ++j) a[j] = Op::load(p[j]);
      r = 1;
    }
    for (; r + 4 <= rows; r += 4) {
      const In* HWY_RESTRICT p0 = p + r * pitch;
      const In* HWY_RESTRICT p1 = p0 + pitch;
      const In* HWY_RESTRICT p2 = p1 + pitch;
      const In* HWY_RESTRICT p3 = p2 + pitch;
      for (int64_t j = 0; j < n; ++j) {
        const Acc left = Op::combine(Op::load(p0[j]), Op::load(p1[j]));
        const Acc right = Op::combine(Op::load(p2[j]), Op::load(p3[j]));
        a[j] = Op::combine(a[j], Op::combine(left, right));
      }
    }
    for (; r < rows; ++r) {
      const In* HWY_RESTRICT q = p + r * pitch;
      for (int64_t j = 0; j < n; ++j) a[j] = Op::combine(a[j], Op::load(q[j]));
    }
  }

  static void columns(const void* in, int64_t pitch, int64_t rows, int64_t n, void* acc,
                      bool first) {
    const auto* p = static_cast<const Stored*>(in);
    auto* a = static_cast<Acc*>(acc);
    if constexpr (!std::is_same_v<Stored, In>) {
      alignas(64) In buffer[kMaxColumns];
      alignas(64) Acc block[kMaxColumns];
      const Converter convert = converter(scalar_type_of<In>, scalar_type_of<Stored>);
      for (int64_t r = 0; r < rows;) {
        const int64_t end = std::min(rows, r + kBlockRows);
        for (const int64_t begin = r; r < end; ++r) {
          convert(buffer, p + r * pitch, n);
          take_rows(buffer, 0, 1, n, block, r == begin);
        }
        put(a, block, n, first);
        first = false;
      }
    } else if constexpr (Op::kCascade) {
      alignas(64) Acc block[kMaxColumns];
      for (int64_t r = 0; r < rows; r += kBlockRows) {
        take_rows(p + r * pitch, pitch, std::min(kBlockRows, rows - r), n, block, true);
        put(a, block, n, first);
        first = false;
      }
    } else {
      take_rows(p, pitch, rows, n, a, first);
    }
  }

  static constexpr int64_t kBlockRows = 257;

  static void put(Acc* a, const Acc* block, int64_t n, bool first) {
    if (first) {
      std::copy(block, block + n, a);
    } else {
      combine(a, block, n);
    }
  }

  static void combine(void* acc, const void* other, int64_t n) {
    auto* HWY_RESTRICT a = static_cast<Acc*>(acc);
    const auto* HWY_RESTRICT b = static_cast<const Acc*>(other);
    for (int64_t i = 0; i < n; ++i) a[i] = Op::combine(a[i], b[i]);
  }

  static void identity(void* acc, int64_t n) {
    std::fill(static_cast<Acc*>(acc), static_cast<Acc*>(acc) + n, Op::identity());
  }

  static void finish(const void* acc, void* out, int64_t step, int64_t n,
                     const ReduceContext& context) {
    const auto* a = static_cast<const Acc*>(acc);
    auto* o = static_cast<Out*>(out);
    if (step == 1) {
      for (int64_t i = 0; i < n; ++i) o[i] = Op::finish(a[i], context);
    } else {
      for (int64_t i = 0; i < n; ++i) o[i * step] = Op::finish(a[i], context);
    }
  }

  static constexpr ReduceLoops table() {
    return {sizeof(Acc), sizeof(Stored), rows, columns, combine, identity, finish};
  }
};

/// The table of a template over the element type: constant data.
template <class Op, class Stored = typename Op::In>
inline constexpr ReduceLoops kLoops = Loops<Op, Stored>::table();

}  // namespace tenon::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
