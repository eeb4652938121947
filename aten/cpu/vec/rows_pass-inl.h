// What generated row kernels are made of: a way along a row, and reductions on it. Included once
// per Highway target, by generated files.
#if defined(TENON_ATEN_CPU_VEC_ROWS_PASS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_ATEN_CPU_VEC_ROWS_PASS_INL_H_
#undef TENON_ATEN_CPU_VEC_ROWS_PASS_INL_H_
#else
#define TENON_ATEN_CPU_VEC_ROWS_PASS_INL_H_
#endif

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "aten/core/allocator.h"
#include "aten/core/parallel.h"
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
  HWY_INLINE Vec<T> load(const T* p) const { return load_part(Tag<T>(), p + i, count, T{1}); }
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

/// Places along the row whose partial results are kept apart, so that one need not wait for the
/// other.
inline constexpr int kSlots = 4;

/// The sum of a vector of floats in double, which loses nothing that a float would show.
HWY_INLINE double wide_sum(Vec<float> v) {
  const hn::Half<Tag<float>> half;
  const hn::RepartitionToWide<Tag<float>> wide;
  const auto low = hn::PromoteTo(wide, hn::LowerHalf(half, v));
  const auto high = hn::PromoteTo(wide, hn::UpperHalf(half, v));
  return hn::GetLane(hn::SumOfLanes(wide, hn::Add(low, high)));
}

/// A sum whose error does not grow with the row: each slot's lanes add up stretches of at most
/// eight values, and what the totals lose to rounding is added in the end (Knuth's two-sum). In
/// units of the sum of |x| the error is at most 10 roundings, whatever the length.
template <class T>
struct Sum {
  Vec<T> part[kSlots];
  Vec<T> total;
  Vec<T> lost;

  // An implicit constructor would be of another target than the functions here.
  HWY_INLINE Sum() {
    for (Vec<T>& p : part) p = hn::Zero(Tag<T>());
    total = lost = hn::Zero(Tag<T>());
  }
  template <class At>
  HWY_INLINE void add(At at, Vec<T> v) {
    part[At::kSlot] = hn::Add(part[At::kSlot], at.or_else(v, hn::Zero(Tag<T>())));
  }
  HWY_INLINE void fold() {
    const Vec<T> more = hn::Add(hn::Add(part[0], part[1]), hn::Add(part[2], part[3]));
    const Vec<T> sum = hn::Add(total, more);
    if constexpr (hwy::IsFloat<T>()) {
      const Vec<T> kept = hn::Sub(sum, total);
      lost = hn::Add(lost, hn::Add(hn::Sub(total, hn::Sub(sum, kept)), hn::Sub(more, kept)));
    }
    total = sum;
    for (Vec<T>& p : part) p = hn::Zero(Tag<T>());
  }
  /// Adds what another one has folded.
  HWY_INLINE void merge(const Sum& other) {
    part[0] = other.total;
    fold();
    lost = hn::Add(lost, other.lost);
  }
  HWY_INLINE Vec<T> value() const {
    if constexpr (std::is_same_v<T, float>) {
      const double sum = wide_sum(total);
      // Infinities and NaN stand for themselves: what they lose is NaN.
      return hn::Set(Tag<T>(), static_cast<T>(std::isfinite(sum) ? sum + wide_sum(lost) : sum));
    } else {
      return in_turn();
    }
  }

 private:
  HWY_INLINE Vec<T> in_turn() const {
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
      if (!std::isfinite(sum)) return hn::Set(Tag<T>(), static_cast<T>(sum));
      hn::Store(lost, Tag<T>(), lanes);
      for (size_t k = 0; k < hn::Lanes(Tag<T>()); ++k) rest += lanes[k];
      return hn::Set(Tag<T>(), static_cast<T>(sum + rest));
    }
  }
};

/// The product; lanes beyond the row hold 1.
template <class T>
struct Prod {
  Vec<T> part[kSlots];

  HWY_INLINE Prod() {
    for (Vec<T>& p : part) p = hn::Set(Tag<T>(), T{1});
  }
  template <class At>
  HWY_INLINE void add(At at, Vec<T> v) {
    part[At::kSlot] = m::mul(part[At::kSlot], at.or_else(v, hn::Set(Tag<T>(), T{1})));
  }
  HWY_INLINE void fold() {}
  HWY_INLINE void merge(const Prod& other) {
    for (int k = 0; k < kSlots; ++k) part[k] = m::mul(part[k], other.part[k]);
  }
  HWY_INLINE Vec<T> value() const {
    HWY_ALIGN T lanes[kMaxLanes<T>];
    hn::Store(m::mul(m::mul(part[0], part[1]), m::mul(part[2], part[3])), Tag<T>(), lanes);
    Vec<T> result = hn::Set(Tag<T>(), lanes[0]);
    for (size_t k = 1; k < hn::Lanes(Tag<T>()); ++k)
      result = m::mul(result, hn::Set(Tag<T>(), lanes[k]));
    return result;
  }
};

/// The largest or smallest; lanes beyond the row hold the identity. A NaN, which the machine's
/// instructions may forget, is remembered beside them.
template <class T, class Operation>
struct Extreme {
  Vec<T> part[kSlots];
  Vec<T> bad;

  HWY_INLINE Extreme() {
    for (Vec<T>& p : part) p = hn::Set(Tag<T>(), Operation::template identity<T>());
    bad = hn::Zero(Tag<T>());
  }
  template <class At>
  HWY_INLINE void add(At at, Vec<T> v) {
    v = at.or_else(v, hn::Set(Tag<T>(), Operation::template identity<T>()));
    part[At::kSlot] = Operation::apply(part[At::kSlot], v);
    if constexpr (hwy::IsFloat<T>()) bad = hn::Or(bad, hn::IfThenElseZero(m::isnan(v), v));
  }
  HWY_INLINE void fold() {}
  HWY_INLINE void merge(const Extreme& other) {
    for (int k = 0; k < kSlots; ++k) part[k] = Operation::apply(part[k], other.part[k]);
    if constexpr (hwy::IsFloat<T>()) bad = hn::Or(bad, other.bad);
  }
  HWY_INLINE Vec<T> value() const {
    const Vec<T> best =
        Operation::apply(Operation::apply(part[0], part[1]), Operation::apply(part[2], part[3]));
    if constexpr (hwy::IsFloat<T>()) {
      const bool any_bad = !hn::AllFalse(Tag<T>(), m::isnan(bad));
      return any_bad ? hn::Set(Tag<T>(), std::numeric_limits<T>::quiet_NaN())
                     : Operation::of_lanes(best);
    } else {
      HWY_ALIGN T lanes[kMaxLanes<T>];
      hn::Store(best, Tag<T>(), lanes);
      Vec<T> result = hn::Set(Tag<T>(), lanes[0]);
      for (size_t k = 1; k < hn::Lanes(Tag<T>()); ++k)
        result = Operation::apply(result, hn::Set(Tag<T>(), lanes[k]));
      return result;
    }
  }
};

struct Larger {
  template <class T>
  static constexpr T identity() {
    return hwy::IsFloat<T>() ? -std::numeric_limits<T>::infinity()
                             : std::numeric_limits<T>::lowest();
  }
  template <class V>
  static HWY_INLINE V apply(V a, V b) {
    return hn::Max(a, b);
  }
  template <class V>
  static HWY_INLINE V of_lanes(V v) {
    return hn::MaxOfLanes(hn::DFromV<V>(), v);
  }
};
struct Smaller {
  template <class T>
  static constexpr T identity() {
    return hwy::IsFloat<T>() ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  }
  template <class V>
  static HWY_INLINE V apply(V a, V b) {
    return hn::Min(a, b);
  }
  template <class V>
  static HWY_INLINE V of_lanes(V v) {
    return hn::MinOfLanes(hn::DFromV<V>(), v);
  }
};

template <class T>
using Max = Extreme<T, Larger>;
template <class T>
using Min = Extreme<T, Smaller>;

/// Calls body(at, reductions...) along [i, n) of a row; the reductions are folded every so many
/// vectors.
template <class T, class Body, class... Reductions>
HWY_INLINE void stretch(int64_t i, int64_t n, const Body& body, Reductions&... reductions) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(Tag<T>()));
  constexpr int64_t kStretch = 8;
  if constexpr (sizeof...(Reductions) > 0) {
    while (i + kSlots * lanes <= n) {
      const int64_t stop = HWY_MIN(n, i + kStretch * kSlots * lanes);
      for (; i + kSlots * lanes <= stop; i += kSlots * lanes) {
        body(Full<T, 0>{i}, reductions...);
        body(Full<T, 1>{i + lanes}, reductions...);
        body(Full<T, 2>{i + 2 * lanes}, reductions...);
        body(Full<T, 3>{i + 3 * lanes}, reductions...);
      }
      (reductions.fold(), ...);
    }
  } else {
    for (; i + 2 * lanes <= n; i += 2 * lanes) {
      body(Full<T, 0>{i});
      body(Full<T, 1>{i + lanes});
    }
  }
  for (; i + lanes <= n; i += lanes) body(Full<T, 0>{i}, reductions...);
  if (i < n) body(Tail<T>{i, static_cast<size_t>(n - i)}, reductions...);
  (reductions.fold(), ...);
}

/// One piece, whose reductions go to `kept`, one after the other.
template <class T, class Body, class... Reductions>
HWY_NOINLINE void piece(int64_t begin, int64_t end, const Body& body, char* kept,
                        Reductions... reductions) {
  stretch<T>(begin, end, body, reductions...);
  ((std::memcpy(kept, &reductions, sizeof(reductions)), kept += sizeof(reductions)), ...);
}

template <class Reduction>
HWY_INLINE void merge_kept(Reduction& into, const char*& kept) {
  Reduction other;
  std::memcpy(&other, kept, sizeof(other));
  into.merge(other);
  kept += sizeof(other);
}

/// A long row, whose pieces do not depend on the threads, so that nor do the results.
template <class T, class Body, class... Reductions>
HWY_NOINLINE void pass_in_pieces(int64_t n, const Body& body, Reductions&... reductions) {
  const int64_t pieces = n / kRowPiece;
  constexpr size_t kBytes = (sizeof(Reductions) + ... + 0);
  const size_t bytes = kBytes * static_cast<size_t>(pieces);
  char* const kept = bytes ? static_cast<char*>(tenon::memory::allocate(bytes)) : nullptr;
  parallel_for(0, pieces, 1, [&](int64_t begin, int64_t end) HWY_ATTR {
    for (int64_t k = begin; k < end; ++k) {
      // The last one is longer by the rest.
      piece<T>(k * kRowPiece, k + 1 == pieces ? n : (k + 1) * kRowPiece, body, kept + k * kBytes,
               Reductions()...);
    }
  });
  [[maybe_unused]] const char* next = kept;
  for (int64_t k = 0; k < pieces && kBytes > 0; ++k) (merge_kept(reductions, next), ...);
  tenon::memory::deallocate(kept, bytes);
}

/// The same of copies, so that what a short row is computed with has no address and stays in
/// registers.
template <class T, class Body, class... Reductions>
HWY_INLINE void long_pass(int64_t n, Body body, Reductions&... reductions) {
  [&](Reductions... copies) HWY_ATTR {
    pass_in_pieces<T>(n, body, copies...);
    ((reductions = copies), ...);
  }(reductions...);
}

/// Calls body(at, reductions...) along a row of n.
template <class T, class Body, class... Reductions>
HWY_INLINE void pass(int64_t n, const Body& body, Reductions&... reductions) {
  if (HWY_UNLIKELY(n >= 2 * kRowPiece)) return long_pass<T>(n, body, reductions...);
  stretch<T>(0, n, body, reductions...);
}

}  // namespace rows
}  // namespace tenon::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
