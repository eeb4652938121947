// Reductions of generated row kernels. Included once per Highway target, by rows_pass-inl.h.
#if defined(TENON_ATEN_CPU_VEC_ROWS_REDUCE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_ATEN_CPU_VEC_ROWS_REDUCE_INL_H_
#undef TENON_ATEN_CPU_VEC_ROWS_REDUCE_INL_H_
#else
#define TENON_ATEN_CPU_VEC_ROWS_REDUCE_INL_H_
#endif

#include <cmath>
#include <limits>
#include <type_traits>

#include "aten/cpu/vec/pointwise_loop-inl.h"
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

// A reduction of a Traversal has parts for its slots, whose partial results are apart so that one
// need not wait for the other. Traversal::kColumnMajor: every lane is a row; otherwise the
// lanes are parts of one row, and value() has the whole in all of them. fold() comes after every
// few elements, before merge() and value(). Traversal::kFinishes: finish() comes before value(); a
// row was one stretch, which was not folded and got to kUsed slots, or several: kUsed is 0.

/// A sum whose error does not grow with the row: each slot's lanes add up short stretches, and what
/// the totals lose to rounding is added in the end (Knuth's two-sum). In units of the sum of |x|
/// the error is at most some 30 roundings, whatever the length.
template <class Traversal>
struct Sum {
  using T = typename Traversal::T;
  Vec<T> part[Traversal::kSlots];
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
  /// a * b, rounded with the sum alone.
  template <class At>
  HWY_INLINE void add_product(At at, Vec<T> a, Vec<T> b) {
    part[At::kSlot] = at.or_else(m::fma(a, b, part[At::kSlot]), part[At::kSlot]);
  }
  HWY_INLINE void fold() {
    Vec<T> more = part[0];
    if constexpr (Traversal::kSlots == 4)
      more = hn::Add(hn::Add(more, part[1]), hn::Add(part[2], part[3]));
    take(more);
    for (Vec<T>& p : part) p = hn::Zero(Tag<T>());
  }
  template <int kUsed>
  HWY_INLINE void finish() {
    if constexpr (kUsed == 0) {
      total = with_lost();
    } else {
      total = part[0];
      if constexpr (kUsed == 4) total = hn::Add(hn::Add(total, part[1]), hn::Add(part[2], part[3]));
    }
  }
  /// Adds what another one has folded.
  HWY_INLINE void merge(const Sum& other) {
    take(other.total);
    lost = hn::Add(lost, other.lost);
  }
  HWY_INLINE Vec<T> value() const {
    if constexpr (!hwy::IsFloat<T>()) {
      return Traversal::kColumnMajor ? total : in_turn();
    } else if constexpr (Traversal::kColumnMajor) {
      return with_lost();
    } else {
      return hn::SumOfLanes(Tag<T>(), Traversal::kFinishes ? total : with_lost());
    }
  }

 private:
  HWY_INLINE Vec<T> with_lost() const {
    if constexpr (!hwy::IsFloat<T>()) {
      return total;
    } else {
      // Infinities and NaN stand for themselves: what they lose is NaN.
      return hn::IfThenElse(hn::IsFinite(total), hn::Add(total, lost), total);
    }
  }
  HWY_INLINE void take(Vec<T> more) {
    const Vec<T> sum = hn::Add(total, more);
    if constexpr (hwy::IsFloat<T>()) {
      const Vec<T> kept = hn::Sub(sum, total);
      lost = hn::Add(lost, hn::Add(hn::Sub(total, hn::Sub(sum, kept)), hn::Sub(more, kept)));
    }
    total = sum;
  }
  HWY_INLINE Vec<T> in_turn() const {
    HWY_ALIGN T lanes[kMaxLanes<T>];
    hn::Store(total, Tag<T>(), lanes);
    uint64_t sum = 0;  // wraps around
    for (size_t k = 0; k < hn::Lanes(Tag<T>()); ++k) sum += static_cast<uint64_t>(lanes[k]);
    return hn::Set(Tag<T>(), static_cast<T>(sum));
  }
};

/// f over all slots, then over the lanes where these are of one row.
template <class Traversal, class V, class F>
HWY_INLINE V combined(const V* part, const F& f) {
  V all = part[0];
  if constexpr (Traversal::kSlots == 4) all = f(f(all, part[1]), f(part[2], part[3]));
  if constexpr (Traversal::kColumnMajor) {
    return all;
  } else {
    using T = typename Traversal::T;
    HWY_ALIGN T lanes[kMaxLanes<T>];
    hn::Store(all, Tag<T>(), lanes);
    V result = hn::Set(Tag<T>(), lanes[0]);
    for (size_t k = 1; k < hn::Lanes(Tag<T>()); ++k)
      result = f(result, hn::Set(Tag<T>(), lanes[k]));
    return result;
  }
}

/// The product; lanes beyond the row hold 1.
template <class Traversal>
struct Prod {
  using T = typename Traversal::T;
  Vec<T> part[Traversal::kSlots];

  HWY_INLINE Prod() {
    for (Vec<T>& p : part) p = hn::Set(Tag<T>(), T{1});
  }
  template <class At>
  HWY_INLINE void add(At at, Vec<T> v) {
    part[At::kSlot] = m::mul(part[At::kSlot], at.or_else(v, hn::Set(Tag<T>(), T{1})));
  }
  HWY_INLINE void fold() {}
  template <int>
  HWY_INLINE void finish() {}
  HWY_INLINE void merge(const Prod& other) {
    for (int k = 0; k < Traversal::kSlots; ++k) part[k] = m::mul(part[k], other.part[k]);
  }
  HWY_INLINE Vec<T> value() const {
    return combined<Traversal>(part, [](auto a, auto b) HWY_ATTR { return m::mul(a, b); });
  }
};

template <class V>
HWY_INLINE hn::Mask<hn::DFromV<V>> either_is_nan(V a, V b) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  using Mask = hn::Mask<hn::DFromV<V>>;
  if constexpr (sizeof(hn::TFromV<V>) == 4) {
    return Mask{_mm512_cmp_ps_mask(a.raw, b.raw, _CMP_UNORD_Q)};
  } else {
    return Mask{_mm512_cmp_pd_mask(a.raw, b.raw, _CMP_UNORD_Q)};
  }
#else
  return hn::Or(hn::IsNaN(a), hn::IsNaN(b));
#endif
}

/// The largest or smallest lane of a vector of bytes.
template <class Operation, class V>
HWY_INLINE uint8_t byte_of_lanes(V v) {
  const hn::Repartition<uint16_t, hn::DFromV<V>> d;
  const auto pairs = hn::BitCast(d, v);
  const auto low = hn::And(pairs, hn::Set(d, uint16_t{0xFF}));
  return static_cast<uint8_t>(
      hn::GetLane(Operation::of_lanes(Operation::apply(low, hn::ShiftRight<8>(pairs)))));
}

/// The largest or smallest; lanes beyond the row hold the identity. A NaN, which the machine's
/// instructions may forget, is remembered beside them; not where kUnlessNan: where the row has a
/// NaN the result may then be anything.
template <class Traversal, class Operation, bool kUnlessNan = false>
struct Extreme {
  using T = typename Traversal::T;
  static constexpr bool kSeesNan = hwy::IsFloat<T>() && !kUnlessNan;
  Vec<T> part[Traversal::kSlots];
  Vec<T> bad;     ///< NaN where there was one
  Vec<T> before;  ///< of an even slot, while it waits for the next one to be looked at with it

  HWY_INLINE Extreme() {
    for (Vec<T>& p : part) p = hn::Set(Tag<T>(), Operation::template identity<T>());
    bad = before = hn::Zero(Tag<T>());
  }
  template <class At>
  HWY_INLINE void add(At at, Vec<T> v) {
    v = at.or_else(v, hn::Set(Tag<T>(), Operation::template identity<T>()));
    part[At::kSlot] = Operation::apply(part[At::kSlot], v);
    if constexpr (kSeesNan && At::kInTurn && At::kSlot % 2 == 0) {
      before = v;
    } else if constexpr (kSeesNan) {
      const Vec<T> nan = hn::Set(Tag<T>(), std::numeric_limits<T>::quiet_NaN());
      bad = hn::IfThenElse(either_is_nan(v, At::kInTurn ? before : v), nan, bad);
    }
  }
  HWY_INLINE void fold() {}
  template <int>
  HWY_INLINE void finish() {}
  HWY_INLINE void merge(const Extreme& other) {
    for (int k = 0; k < Traversal::kSlots; ++k) part[k] = Operation::apply(part[k], other.part[k]);
    if constexpr (kSeesNan) bad = hn::Or(bad, other.bad);
  }
  HWY_INLINE Vec<T> value() const {
    const auto apply = [](auto a, auto b) HWY_ATTR { return Operation::apply(a, b); };
    if constexpr (Traversal::kColumnMajor && !kSeesNan) {
      return combined<Traversal>(part, apply);
    } else if constexpr (sizeof(T) == 8 && !hwy::IsFloat<T>()) {
      return combined<Traversal>(part, apply);
    } else if constexpr (sizeof(T) == 1) {
      return hn::Set(Tag<T>(), byte_of_lanes<Operation>(
                                   apply(apply(part[0], part[1]), apply(part[2], part[3]))));
    } else if constexpr (!hwy::IsFloat<T>()) {
      return Operation::of_lanes(apply(apply(part[0], part[1]), apply(part[2], part[3])));
    } else {
      const Vec<T> nan = hn::Set(Tag<T>(), std::numeric_limits<T>::quiet_NaN());
      if constexpr (Traversal::kColumnMajor)
        return hn::IfThenElse(hn::IsNaN(bad), nan, combined<Traversal>(part, apply));
      Vec<T> best = part[0];
      if constexpr (Traversal::kSlots == 4)
        best = apply(apply(best, part[1]), apply(part[2], part[3]));
      if (kSeesNan && HWY_UNLIKELY(!hn::AllFalse(Tag<T>(), hn::IsNaN(bad)))) return nan;
      return Operation::of_lanes(best);
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

template <class Traversal>
using Max = Extreme<Traversal, Larger>;
template <class Traversal>
using Min = Extreme<Traversal, Smaller>;
template <class Traversal>
using MaxUnlessNan = Extreme<Traversal, Larger, true>;
template <class Traversal>
using MinUnlessNan = Extreme<Traversal, Smaller, true>;

/// The largest or smallest of the numbers among the values; NaN where there is none.
template <class Traversal, class Operation>
struct ExtremeNumber {
  using T = typename Traversal::T;
  Vec<T> part[Traversal::kSlots];

  HWY_INLINE ExtremeNumber() {
    for (Vec<T>& p : part) p = none();
  }
  template <class At>
  HWY_INLINE void add(At at, Vec<T> v) {
    part[At::kSlot] = Operation::apply(part[At::kSlot], at.or_else(v, none()));
  }
  HWY_INLINE void fold() {}
  template <int>
  HWY_INLINE void finish() {}
  HWY_INLINE void merge(const ExtremeNumber& other) {
    for (int k = 0; k < Traversal::kSlots; ++k) part[k] = Operation::apply(part[k], other.part[k]);
  }
  HWY_INLINE Vec<T> value() const {
    return combined<Traversal>(part,
                               [](auto a, auto b) HWY_ATTR { return Operation::apply(a, b); });
  }

 private:
  static HWY_INLINE Vec<T> none() {
    return hn::Set(Tag<T>(), hwy::IsFloat<T>() ? std::numeric_limits<T>::quiet_NaN()
                                               : Operation::template identity<T>());
  }
};
struct LargerNumber : Larger {
  template <class V>
  static HWY_INLINE V apply(V a, V b) {
    return m::fmax(a, b);
  }
};
struct SmallerNumber : Smaller {
  template <class V>
  static HWY_INLINE V apply(V a, V b) {
    return m::fmin(a, b);
  }
};
template <class Traversal>
using Fmax = ExtremeNumber<Traversal, LargerNumber>;
template <class Traversal>
using Fmin = ExtremeNumber<Traversal, SmallerNumber>;

// What follows gives whole numbers, whatever T is. Along a row it is an int64, and lanes keep
// numbers of a chunk, which any type has; across rows each lane has an integer as wide as T, and
// rows have less than 2^31 elements where T is float.
static_assert(2 * kRowChunk <= int64_t{1} << 24);

/// Of rows side by side whose elements are bytes: a number for each lane.
struct WholeOfLanes {
  int32_t lanes[kMaxLanes<uint8_t>];
};
template <class Traversal>
using Whole =
    std::conditional_t<!Traversal::kColumnMajor, int64_t,
                       std::conditional_t<sizeof(typename Traversal::T) == 1, WholeOfLanes,
                                          Vec<hwy::MakeSigned<typename Traversal::T>>>>;

/// How many values are not 0; each is 0 or 1.
template <class Traversal, bool = Traversal::kColumnMajor>
struct Count {
  using T = typename Traversal::T;
  Vec<T> part[Traversal::kSlots];
  int64_t total;

  HWY_INLINE Count() : total(0) {
    for (Vec<T>& p : part) p = hn::Zero(Tag<T>());
  }
  template <class At>
  HWY_INLINE void add(At at, Vec<T> v) {
    part[At::kSlot] = hn::Add(part[At::kSlot], at.or_else(v, hn::Zero(Tag<T>())));
  }
  HWY_INLINE void fold() {}
  template <int>
  HWY_INLINE void finish() {}
  HWY_INLINE void merge(const Count& other) { total += other.value(); }
  HWY_INLINE int64_t value() const {
    HWY_ALIGN T lanes[kMaxLanes<T>];
    hn::Store(hn::Add(hn::Add(part[0], part[1]), hn::Add(part[2], part[3])), Tag<T>(), lanes);
    int64_t sum = total;
    for (size_t k = 0; k < hn::Lanes(Tag<T>()); ++k) sum += static_cast<int64_t>(lanes[k]);
    return sum;
  }
};

template <class Traversal>
struct Count<Traversal, true> {
  using T = typename Traversal::T;
  using I = hwy::MakeSigned<T>;
  Vec<I> count;

  HWY_INLINE Count() : count(hn::Zero(Tag<I>())) {}
  template <class At>
  HWY_INLINE void add(At, Vec<T> v) {
    const auto one = hn::Ne(v, hn::Zero(Tag<T>()));
    count = hn::Add(count, hn::IfThenElseZero(hn::RebindMask(Tag<I>(), one), hn::Set(Tag<I>(), 1)));
  }
  HWY_INLINE void fold() {}
  HWY_INLINE void merge(const Count& other) { count = hn::Add(count, other.count); }
  HWY_INLINE Vec<I> value() const { return count; }
};

/// Whether a is more extreme than b, as a NaN is than a number.
template <class Operation, class V>
HWY_INLINE auto beats(V a, V b) {
  if constexpr (hwy::IsFloat<hn::TFromV<V>>()) {
    return hn::AndNot(Operation::at_most(a, b), hn::Eq(b, b));
  } else {
    return Operation::exceeds(a, b);
  }
}

template <class Traversal>
inline constexpr bool kOfBytes = sizeof(typename Traversal::T) == 1;

/// The position of the largest or smallest, of ties the first. A NaN is more extreme than a number.
template <class Traversal, class Operation, bool = Traversal::kColumnMajor,
          bool = kOfBytes<Traversal>>
struct Place {
  using T = typename Traversal::T;
  using I = hwy::MakeSigned<T>;
  Vec<T> best[Traversal::kSlots];
  Vec<I> places[Traversal::kSlots];  ///< of the vectors that the lanes of `best` are from, after
                                     ///< `start`
  int64_t start;                     ///< of what was added; below 0: nothing
  bool in_one_slot;                  ///< all that was added
  T value_of_chunks;
  int64_t place_of_chunks;  ///< below 0: none was merged

  HWY_INLINE Place() : start(-1), in_one_slot(false), value_of_chunks(), place_of_chunks(-1) {
    for (Vec<T>& b : best) b = worst();
    for (Vec<I>& p : places) p = hn::Zero(Tag<I>());
  }
  template <class At>
  HWY_INLINE void add(At at, Vec<T> v) {
    start = start < 0 ? at.first + at.i : start;
    Vec<T>& b = best[At::kSlot];
    Vec<I>& p = places[At::kSlot];
    v = at.or_else(v, worst());
    const auto better = beats<Operation>(v, b);
    p = hn::IfThenElse(hn::RebindMask(Tag<I>(), better),
                       hn::Set(Tag<I>(), static_cast<I>(at.first + at.i - start)), p);
    b = hn::IfThenElse(better, v, b);
  }
  HWY_INLINE void fold() {}
  template <int kUsed>
  HWY_INLINE void finish() {
    in_one_slot = kUsed == 1;
  }
  /// Chunks come in their order; each may be made of such.
  HWY_INLINE void merge(const Place& other) {
    if (other.start < 0 && other.place_of_chunks < 0) return;
    T value;
    const int64_t place = other.chosen(value);
    if (place_of_chunks >= 0 && !beats_one(value, value_of_chunks)) return;
    value_of_chunks = value;
    place_of_chunks = place;
  }
  HWY_INLINE int64_t value() const {
    T unused;
    return chosen(unused);
  }

 private:
  // A lane that nothing was added to names the start, which is right where all are as bad.
  static HWY_INLINE Vec<T> worst() { return hn::Set(Tag<T>(), Operation::template identity<T>()); }
  static HWY_INLINE bool beats_one(T a, T b) {
    const bool more = Operation::exceeds(a, b);
    if constexpr (hwy::IsFloat<T>()) {
      return more || (std::isnan(a) && !std::isnan(b));
    } else {
      return more;
    }
  }
  HWY_INLINE int64_t chosen(T& value) const {
    if (place_of_chunks < 0) return first_best(value);
    value = value_of_chunks;
    return place_of_chunks;
  }
  HWY_INLINE int64_t first_best(T& value) const {
    const Tag<I> d;
    Vec<T> top = best[0];
    Vec<I> where = hn::Add(places[0], hn::Iota(d, 0));
    for (int k = 1; k < Traversal::kSlots && !in_one_slot; ++k) {
      const Vec<I> other = hn::Add(places[k], hn::Iota(d, 0));
      const auto better = hn::RebindMask(d, beats<Operation>(best[k], top));
      const auto worse = hn::RebindMask(d, beats<Operation>(top, best[k]));
      const auto takes = hn::Or(better, hn::AndNot(worse, hn::Lt(other, where)));
      top = hn::IfThenElse(hn::RebindMask(Tag<T>(), takes), best[k], top);
      where = hn::IfThenElse(takes, other, where);
    }
    if constexpr (sizeof(T) == 4) {
      const Vec<T> extreme = Operation::of_lanes(top);
      auto chosen = hn::Eq(top, extreme);
      value = hn::GetLane(extreme);
      if constexpr (hwy::IsFloat<T>()) {
        const auto nans = hn::IsNaN(top);
        const bool number = hn::AllFalse(Tag<T>(), nans);
        if (!number) chosen = nans;
        if (!number) value = std::numeric_limits<T>::quiet_NaN();
      }
      // Of a row that has one vector at most, the first lane.
      if (in_one_slot) return HWY_MAX(start, 0) + hn::FindFirstTrue(Tag<T>(), chosen);
      const Vec<I> none = hn::Set(d, std::numeric_limits<I>::max());
      return HWY_MAX(start, 0) +
             hn::GetLane(hn::MinOfLanes(d, hn::IfThenElse(hn::RebindMask(d, chosen), where, none)));
    } else {
      HWY_ALIGN T values[kMaxLanes<T>];
      HWY_ALIGN I offsets[kMaxLanes<T>];
      hn::Store(top, Tag<T>(), values);
      hn::Store(where, d, offsets);
      size_t first = 0;
      for (size_t k = 1; k < hn::Lanes(d); ++k) {
        const bool ties = !beats_one(values[first], values[k]) && offsets[k] < offsets[first];
        if (beats_one(values[k], values[first]) || ties) first = k;
      }
      value = values[first];
      return HWY_MAX(start, 0) + offsets[first];
    }
  }
};

/// Of each lane's row.
template <class Traversal, class Operation>
struct Place<Traversal, Operation, true, false> {
  using T = typename Traversal::T;
  using I = hwy::MakeSigned<T>;
  Vec<T> best;
  Vec<I> place;

  // Nothing beats the worst where all are as bad: the place is then the row's first.
  HWY_INLINE Place()
      : best(hn::Set(Tag<T>(), Operation::template identity<T>())), place(hn::Zero(Tag<I>())) {}
  template <class At>
  HWY_INLINE void add(At at, Vec<T> v) {
    take(v, hn::Set(Tag<I>(), static_cast<I>(at.first + at.i)));
  }
  HWY_INLINE void fold() {}
  /// Chunks come in their order.
  HWY_INLINE void merge(const Place& other) { take(other.best, other.place); }
  HWY_INLINE Vec<I> value() const { return place; }

 private:
  HWY_INLINE void take(Vec<T> v, Vec<I> where) {
    const auto better = beats<Operation>(v, best);
    place = hn::IfThenElse(hn::RebindMask(Tag<I>(), better), where, place);
    best = hn::IfThenElse(better, v, best);
  }
};
/// Of bytes, whose lanes keep numbers of vectors.
template <class Traversal, class Operation>
struct Place<Traversal, Operation, false, true> {
  using T = typename Traversal::T;
  Vec<T> best[Traversal::kSlots];
  Vec<T> vectors[Traversal::kSlots];  ///< that the lanes of `best` are from, counted from `start`
  int64_t start,
      last;  ///< vectors that were added since the lanes were looked at; start below 0: none
  bool in_one_slot;  ///< all that was added
  T value_before;
  int64_t place_before;  ///< of what came before `start`; below 0: nothing

  HWY_INLINE Place() : start(-1), last(-1), in_one_slot(false), value_before(), place_before(-1) {
    clear();
  }
  template <class At>
  HWY_INLINE void add(At at, Vec<T> v) {
    last = at.first + at.i;
    start = start < 0 ? last : start;
    Vec<T>& b = best[At::kSlot];
    v = at.or_else(v, worst());
    const auto number = hn::Set(Tag<T>(), static_cast<T>((last - start) / lanes()));
    vectors[At::kSlot] = hn::IfThenElse(Operation::exceeds(v, b), number, vectors[At::kSlot]);
    b = Operation::apply(b, v);
  }
  /// A byte counts the vectors that are added until the next time.
  HWY_INLINE void fold() {
    if (last - start < kMost * lanes()) return;
    T value;
    const int64_t place = first_best(value);
    take(value, place);
    clear();
    start = -1;
  }
  template <int kUsed>
  HWY_INLINE void finish() {
    in_one_slot = kUsed == 1;
  }
  /// Chunks come in their order; each may be made of such.
  HWY_INLINE void merge(const Place& other) {
    if (other.start < 0 && other.place_before < 0) return;
    T value;
    const int64_t place = other.chosen(value);
    take(value, place);
  }
  HWY_INLINE int64_t value() const {
    T unused;
    return chosen(unused);
  }

 private:
  static constexpr int64_t kMost = 180;  // a stretch adds some 70 more

  static HWY_INLINE int64_t lanes() { return static_cast<int64_t>(hn::Lanes(Tag<T>())); }
  static HWY_INLINE Vec<T> worst() { return hn::Set(Tag<T>(), Operation::template identity<T>()); }
  HWY_INLINE void clear() {
    for (Vec<T>& b : best) b = worst();
    for (Vec<T>& v : vectors) v = hn::Zero(Tag<T>());
  }
  HWY_INLINE void take(T value, int64_t place) {
    if (place_before >= 0 && !Operation::exceeds(value, value_before)) return;
    value_before = value;
    place_before = place;
  }
  HWY_INLINE int64_t chosen(T& value) const {
    const int64_t place = first_best(value);
    const bool later = start < 0 || !Operation::exceeds(value, value_before);
    if (place_before < 0 || !later) return place;
    value = value_before;
    return place_before;
  }
  HWY_INLINE int64_t first_best(T& value) const {
    const Tag<T> d;
    Vec<T> top = best[0], where = vectors[0];
    for (int k = 1; k < Traversal::kSlots && !in_one_slot; ++k) {
      const auto ties = hn::And(hn::Eq(best[k], top), hn::Lt(vectors[k], where));
      where = hn::IfThenElse(hn::Or(ties, Operation::exceeds(best[k], top)), vectors[k], where);
      top = Operation::apply(top, best[k]);
    }
    value = byte_of_lanes<Operation>(top);
    auto chosen = hn::Eq(top, hn::Set(d, value));
    T vector = 0;
    if (!in_one_slot) {
      const Vec<T> none = hn::Set(d, std::numeric_limits<T>::max());
      vector = byte_of_lanes<Smaller>(hn::IfThenElse(chosen, where, none));
      chosen = hn::And(chosen, hn::Eq(where, hn::Set(d, vector)));
    }
    return HWY_MAX(start, 0) + vector * lanes() + hn::FindFirstTrue(d, chosen);
  }
};

/// Of each lane's row, of bytes.
template <class Traversal, class Operation>
struct Place<Traversal, Operation, true, true> {
  using T = typename Traversal::T;
  Vec<T> best;
  Vec<T> step;         ///< of the best, counted from 1 at `start`; 0: it came before
  int64_t start;       ///< the position of the first element since the steps were looked at
  int64_t steps;       ///< how many came since
  WholeOfLanes place;  ///< of the best before `start`

  HWY_INLINE Place()
      : best(hn::Set(Tag<T>(), Operation::template identity<T>())), step(hn::Zero(Tag<T>())),
        start(0), steps(0), place() {}
  template <class At>
  HWY_INLINE void add(At at, Vec<T> v) {
    start = steps == 0 ? at.first + at.i : start;
    ++steps;
    const auto number = hn::Set(Tag<T>(), static_cast<T>(steps));
    step = hn::IfThenElse(Operation::exceeds(v, best), number, step);
    best = Operation::apply(best, v);
  }
  /// A byte counts the elements that are added until the next time, a stretch.
  HWY_INLINE void fold() {
    if (steps > kMost) settle();
  }
  /// Chunks come in their order.
  HWY_INLINE void merge(const Place& other) {
    settle();
    const WholeOfLanes places = other.value();
    HWY_ALIGN T values[kMaxLanes<T>], others[kMaxLanes<T>];
    hn::Store(best, Tag<T>(), values);
    hn::Store(other.best, Tag<T>(), others);
    for (size_t k = 0; k < hn::Lanes(Tag<T>()); ++k) {
      if (Operation::exceeds(others[k], values[k])) place.lanes[k] = places.lanes[k];
    }
    best = Operation::apply(best, other.best);
  }
  HWY_INLINE WholeOfLanes value() const {
    Place settled = *this;
    settled.settle();
    return settled.place;
  }

 private:
  static constexpr int64_t kMost = 200;

  HWY_INLINE void settle() {
    HWY_ALIGN T numbers[kMaxLanes<T>];
    hn::Store(step, Tag<T>(), numbers);
    for (size_t k = 0; k < hn::Lanes(Tag<T>()); ++k) {
      const auto now = static_cast<int32_t>(start + numbers[k] - 1);
      place.lanes[k] = numbers[k] > 0 ? now : place.lanes[k];
    }
    step = hn::Zero(Tag<T>());
    steps = 0;
  }
};

struct Largest : Larger {
  template <class V>
  static HWY_INLINE auto at_most(V a, V b) {
    return hn::Le(a, b);
  }
  template <class V>
  static HWY_INLINE auto exceeds(V a, V b) {
    if constexpr (std::is_arithmetic_v<V>) {
      return a > b;
    } else {
      return hn::Gt(a, b);
    }
  }
};
struct Smallest : Smaller {
  template <class V>
  static HWY_INLINE auto at_most(V a, V b) {
    return hn::Ge(a, b);
  }
  template <class V>
  static HWY_INLINE auto exceeds(V a, V b) {
    if constexpr (std::is_arithmetic_v<V>) {
      return a < b;
    } else {
      return hn::Lt(a, b);
    }
  }
};
template <class Traversal>
using Argmax = Place<Traversal, Largest>;
template <class Traversal>
using Argmin = Place<Traversal, Smallest>;

}  // namespace rows
}  // namespace tenon::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
