// What generated row kernels are made of: a way along a row, and reductions on it. Included once
// per Highway target, by generated files.
#if defined(TENON_ATEN_CPU_VEC_ROWS_PASS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_ATEN_CPU_VEC_ROWS_PASS_INL_H_
#undef TENON_ATEN_CPU_VEC_ROWS_PASS_INL_H_
#else
#define TENON_ATEN_CPU_VEC_ROWS_PASS_INL_H_
#endif

#include <cmath>
#include <limits>

#include "aten/cpu/vec/pointwise-inl.h"
#include "aten/iterator/rows.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::native::HWY_NAMESPACE {
namespace rows {

template <class T>
using Tag = hn::ScalableTag<T>;
template <class T>
using Vec = hn::Vec<Tag<T>>;
template <class T>
inline constexpr size_t kMaxLanes = hn::MaxLanes(Tag<T>());

/// A vector's place in the row. Reductions keep apart what consecutive places add.
template <class T, int kSlotOf>
struct Full {
  static constexpr int kSlot = kSlotOf;
  int64_t i;
  HWY_INLINE Vec<T> load(const T* p) const { return hn::LoadU(Tag<T>(), p + i); }
  HWY_INLINE void store(T* p, Vec<T> v) const { hn::StoreU(v, Tag<T>(), p + i); }
  HWY_INLINE void add(T* p, Vec<T> v) const { store(p, hn::Add(load(p), v)); }
  HWY_INLINE Vec<T> index() const { return hn::Iota(Tag<T>(), static_cast<T>(i)); }
  HWY_INLINE Vec<T> or_else(Vec<T> v, Vec<T>) const { return v; }
};

/// The rest of a row, fewer than a vector.
template <class T>
struct Tail {
  static constexpr int kSlot = 0;
  int64_t i;
  size_t count;
  HWY_INLINE Vec<T> load(const T* p) const { return load_part(Tag<T>(), p + i, count); }
  HWY_INLINE void store(T* p, Vec<T> v) const { store_part(v, Tag<T>(), p + i, count); }
  HWY_INLINE void add(T* p, Vec<T> v) const { store(p, hn::Add(load(p), v)); }
  HWY_INLINE Vec<T> index() const { return hn::Iota(Tag<T>(), static_cast<T>(i)); }
  HWY_INLINE Vec<T> or_else(Vec<T> v, Vec<T> beyond) const {
    return hn::IfThenElse(hn::FirstN(Tag<T>(), count), v, beyond);
  }
};

/// One element, in all lanes.
template <class T>
struct Single {
  int64_t i;
  HWY_INLINE Vec<T> load(const T* p) const { return hn::Set(Tag<T>(), p[i]); }
  HWY_INLINE Vec<T> index() const { return hn::Set(Tag<T>(), static_cast<T>(i)); }
};

/// A sum whose error does not grow with the row: lanes add up stretches of at most eight values,
/// and what the totals lose to rounding is added in the end (Knuth's two-sum). In units of the sum
/// of |x| the error is at most 9 roundings, whatever the length.
template <class T>
struct Sum {
  Vec<T> part[2];
  Vec<T> total;
  Vec<T> lost;

  // An implicit constructor would be of another target than the functions here.
  HWY_INLINE Sum() { part[0] = part[1] = total = lost = hn::Zero(Tag<T>()); }
  template <class At>
  HWY_INLINE void add(At at, Vec<T> v) {
    part[At::kSlot] = hn::Add(part[At::kSlot], at.or_else(v, hn::Zero(Tag<T>())));
  }
  HWY_INLINE void fold() {
    const Vec<T> more = hn::Add(part[0], part[1]);
    const Vec<T> sum = hn::Add(total, more);
    if constexpr (hwy::IsFloat<T>()) {
      const Vec<T> kept = hn::Sub(sum, total);
      lost = hn::Add(lost, hn::Add(hn::Sub(total, hn::Sub(sum, kept)), hn::Sub(more, kept)));
    }
    total = sum;
    part[0] = part[1] = hn::Zero(Tag<T>());
  }
  HWY_INLINE Vec<T> value() const {
    HWY_ALIGN T lanes[kMaxLanes<T>];
    hn::Store(total, Tag<T>(), lanes);
    if constexpr (!hwy::IsFloat<T>()) {
      uint64_t sum = 0;  // wraps around
      for (size_t k = 0; k < hn::Lanes(Tag<T>()); ++k) sum += static_cast<uint64_t>(lanes[k]);
      return hn::Set(Tag<T>(), static_cast<T>(sum));
    } else {
      double sum = 0, rest = 0;
      for (size_t k = 0; k < hn::Lanes(Tag<T>()); ++k) {
        const double next = sum + lanes[k], kept = next - sum;
        rest += (sum - (next - kept)) + (lanes[k] - kept);
        sum = next;
      }
      // Infinities and NaN stand for themselves: what they lose is NaN.
      if (!std::isfinite(sum)) return hn::Set(Tag<T>(), static_cast<T>(sum));
      hn::Store(lost, Tag<T>(), lanes);
      for (size_t k = 0; k < hn::Lanes(Tag<T>()); ++k) rest += lanes[k];
      return hn::Set(Tag<T>(), static_cast<T>(sum + rest));
    }
  }
};

/// Folds lanes and slots with an operation of `m`; lanes beyond the row hold its identity.
template <class T, class Operation>
struct Fold {
  Vec<T> part[2];

  HWY_INLINE Fold() { part[0] = part[1] = Operation::template identity<T>(); }
  template <class At>
  HWY_INLINE void add(At at, Vec<T> v) {
    part[At::kSlot] =
        Operation::apply(part[At::kSlot], at.or_else(v, Operation::template identity<T>()));
  }
  HWY_INLINE void fold() {}
  HWY_INLINE Vec<T> value() const {
    HWY_ALIGN T lanes[kMaxLanes<T>];
    hn::Store(Operation::apply(part[0], part[1]), Tag<T>(), lanes);
    Vec<T> result = hn::Set(Tag<T>(), lanes[0]);
    for (size_t k = 1; k < hn::Lanes(Tag<T>()); ++k)
      result = Operation::apply(result, hn::Set(Tag<T>(), lanes[k]));
    return result;
  }
};

struct Multiply {
  template <class T>
  static HWY_INLINE Vec<T> identity() {
    return hn::Set(Tag<T>(), T{1});
  }
  template <class V>
  static HWY_INLINE V apply(V a, V b) {
    return m::mul(a, b);
  }
};
/// A NaN stays.
struct Larger {
  template <class T>
  static HWY_INLINE Vec<T> identity() {
    return hn::Set(Tag<T>(), hwy::IsFloat<T>() ? -std::numeric_limits<T>::infinity()
                                               : std::numeric_limits<T>::lowest());
  }
  template <class V>
  static HWY_INLINE V apply(V a, V b) {
    return m::maximum(a, b);
  }
};
struct Smaller {
  template <class T>
  static HWY_INLINE Vec<T> identity() {
    return hn::Set(Tag<T>(), hwy::IsFloat<T>() ? std::numeric_limits<T>::infinity()
                                               : std::numeric_limits<T>::max());
  }
  template <class V>
  static HWY_INLINE V apply(V a, V b) {
    return m::minimum(a, b);
  }
};

template <class T>
using Prod = Fold<T, Multiply>;
template <class T>
using Max = Fold<T, Larger>;
template <class T>
using Min = Fold<T, Smaller>;

/// Calls body(at) along a row of n; the reductions it adds to are folded every so many vectors.
template <class T, class Body, class... Reductions>
HWY_INLINE void pass(int64_t n, Body&& body, Reductions&... reductions) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(Tag<T>()));
  constexpr int64_t kStretch = 8;
  int64_t i = 0;
  while (i + 2 * lanes <= n) {
    const int64_t stop = HWY_MIN(n, i + kStretch * 2 * lanes);
    for (; i + 2 * lanes <= stop; i += 2 * lanes) {
      body(Full<T, 0>{i});
      body(Full<T, 1>{i + lanes});
    }
    (reductions.fold(), ...);
  }
  if (i + lanes <= n) {
    body(Full<T, 0>{i});
    i += lanes;
  }
  if (i < n) body(Tail<T>{i, static_cast<size_t>(n - i)});
  (reductions.fold(), ...);
}

}  // namespace rows
}  // namespace tenon::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
