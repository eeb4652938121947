// What generated row kernels are made of: traversals of rows. Included once per Highway target, by
// generated files.
#if defined(TENON_ATEN_CPU_VEC_ROWS_PASS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_ATEN_CPU_VEC_ROWS_PASS_INL_H_
#undef TENON_ATEN_CPU_VEC_ROWS_PASS_INL_H_
#else
#define TENON_ATEN_CPU_VEC_ROWS_PASS_INL_H_
#endif

#include <hwy/cache_control.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "aten/core/allocator.h"
#include "aten/core/parallel.h"
#include "aten/cpu/vec/rows_reduce-inl.h"
#include "aten/iterator/rows.h"
#include "aten/iterator/zero_division.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::native::HWY_NAMESPACE {
namespace rows {

// A kernel is written once for both traversals. Numbers are positions in memory, a vector is drawn
// as [...] or as a column between --.
//
//   RowMajor                           ColumnMajor     --  --  --
//   row 0   [0  1  2  3] [ 4 ...       row 0            0   4   8 ...
//   row 1   [8  9 10 11] [12 ...       row 1            1   5   9 ...
//                                      row 2            2   6  10 ...
//                                      row 3            3   7  11 ...
//                                                      --  --  --
//
// RowMajor takes one row at a time, or some whose segments follow one another in memory. Its
// vectors hold neighbouring elements of a row. ColumnMajor takes rows that are interleaved in
// memory: each lane of a vector is a row. Long rows are chunked: partial reductions of a chunk are
// saved and then merged. A value that a later pass reads again is spilled.

/// a / b, where b is the same for a whole row: by its reciprocal, which the compiler takes out of
/// the loop, and a correction step that makes it the rounded quotient (Markstein). Where that is no
/// number, as with infinities and where the reciprocal is one, the machine divides.
template <class V>
HWY_INLINE V quotient(V a, V b) {
#if HWY_NATIVE_FMA
  const hn::DFromV<V> d;
  const V inverse = hn::Div(hn::Set(d, 1), b);
  const V first = hn::Mul(a, inverse);
  const V second = hn::MulAdd(hn::NegMulAdd(first, b, a), inverse, first);
  if (HWY_UNLIKELY(!hn::AllFalse(d, hn::IsNaN(second)))) return hn::Div(a, b);
  return second;
#else
  return hn::Div(a, b);
#endif
}

/// Where the elements of one row, or of rows side by side, lie: step i of segment s at
/// data + s * segment + i * step; those of the next row begin `row` further on.
template <class S>
struct Elements {
  S* data;
  int64_t row;
  int64_t segment;
  int64_t step;
  HWY_INLINE explicit operator bool() const { return data != nullptr; }
  HWY_INLINE S* at(int64_t s, int64_t i) const { return data + s * segment + i * step; }
};

/// The same of an output. `past_caches`: whole vectors are aligned and will not be read soon.
template <class S>
struct Output {
  Elements<S> at;
  bool past_caches;
  HWY_INLINE explicit operator bool() const { return static_cast<bool>(at); }
};

/// Memory for spilled values; `padded`: a vector may be written at its end.
template <class T>
struct Spill {
  Elements<T> at;
  bool padded;
};

/// A vector of T from memory that holds T or a narrower type.
template <class T, class S>
HWY_INLINE Vec<T> loaded(const S* p) {
  const Tag<T> d;
  if constexpr (std::is_same_v<T, S>) {
    return hn::LoadU(d, p);
  } else {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<S, Tag<T>>(), p));
  }
}
template <class T, class S>
HWY_INLINE Vec<T> loaded_part(const S* p, size_t count) {
  const Tag<T> d;
  if constexpr (std::is_same_v<T, S>) {
    return load_part(d, p, count, T{1});
  } else {
    using Bits = hwy::UnsignedFromSize<sizeof(S)>;
    const hn::Rebind<Bits, Tag<T>> bits;
    const hn::Rebind<S, Tag<T>> narrow;
    return hn::PromoteTo(
        d, hn::BitCast(narrow, load_part(bits, reinterpret_cast<const Bits*>(p), count, Bits{0})));
  }
}

/// Which one of the rows that a traversal takes at a time: the only one, or one of several.
struct OnlyRow {
  static constexpr int number = 0;
};
struct OneRow {
  int number;
};

/// Vectors of one row. `first`: where its segment begins in the row. kInTurn: those of four slots
/// follow one another, from the first to the last.
template <class T, int kSlotOf, class Row, bool kInTurnOf = true>
struct Full {
  static constexpr int kSlot = kSlotOf;
  static constexpr bool kInTurn = kInTurnOf;
  int64_t i, segment, first;
  Row row;
  HWY_INLINE int group() const { return row.number; }
  template <class S>
  HWY_INLINE S* place(Elements<S> e) const {
    return e.data + row.number * e.row + segment * e.segment + i;
  }
  template <class S>
  HWY_INLINE Vec<T> load(Elements<S> e) const {
    return loaded<T>(place(e));
  }
  template <class S>
  HWY_INLINE Vec<T> column(Elements<S> e) const {
    return load(e);
  }
  HWY_INLINE void put(Elements<T> e, Vec<T> v) const { hn::StoreU(v, Tag<T>(), place(e)); }
  HWY_INLINE void store(Output<T> out, Vec<T> v) const {
    if (HWY_LIKELY(!out.past_caches)) return put(out.at, v);
    hn::Stream(v, Tag<T>(), place(out.at));
  }
  HWY_INLINE void add(Output<T> out, Vec<T> v) const { put(out.at, hn::Add(load(out.at), v)); }
  HWY_INLINE void spill(Spill<T> e, Vec<T> v) const { put(e.at, v); }
  HWY_INLINE Vec<T> spilled(Spill<T> e) const { return load(e.at); }
  template <class S>
  HWY_INLINE void ahead(Elements<S> e) const {
    hwy::Prefetch(place(e));
  }
  HWY_INLINE Vec<T> index() const { return hn::Iota(Tag<T>(), static_cast<T>(first + i)); }
  HWY_INLINE Vec<T> or_else(Vec<T> v, Vec<T>) const { return v; }
};

/// The rest of a row, fewer than a vector.
template <class T, class Row>
struct Tail {
  static constexpr int kSlot = 0;
  static constexpr bool kInTurn = false;
  int64_t i, segment, first;
  size_t count;
  Row row;
  HWY_INLINE int group() const { return row.number; }
  template <class S>
  HWY_INLINE S* place(Elements<S> e) const {
    return e.data + row.number * e.row + segment * e.segment + i;
  }
  template <class S>
  HWY_INLINE Vec<T> load(Elements<S> e) const {
    return loaded_part<T>(place(e), count);
  }
  template <class S>
  HWY_INLINE Vec<T> column(Elements<S> e) const {
    return load(e);
  }
  /// Whole vectors, since a part that was just written is slow to read.
  HWY_INLINE void spill(Spill<T> e, Vec<T> v) const {
    if (e.padded) return hn::StoreU(v, Tag<T>(), e.at.data + i);
    put(e.at, v);
  }
  HWY_INLINE Vec<T> spilled(Spill<T> e) const {
    return e.padded ? hn::LoadU(Tag<T>(), e.at.data + i) : load(e.at);
  }
  HWY_INLINE void put(Elements<T> e, Vec<T> v) const { store_part(v, Tag<T>(), place(e), count); }
  HWY_INLINE void store(Output<T> out, Vec<T> v) const { put(out.at, v); }
  HWY_INLINE void add(Output<T> out, Vec<T> v) const { put(out.at, hn::Add(load(out.at), v)); }
  template <class S>
  HWY_INLINE void ahead(Elements<S>) const {}
  HWY_INLINE Vec<T> index() const { return hn::Iota(Tag<T>(), static_cast<T>(first + i)); }
  HWY_INLINE Vec<T> or_else(Vec<T> v, Vec<T> beyond) const {
    return hn::IfThenElse(hn::FirstN(Tag<T>(), count), v, beyond);
  }
};

/// One element of a row, in all lanes.
template <class T>
struct Single {
  int64_t i, segment, first;
  static constexpr int group() { return 0; }
  template <class S>
  HWY_INLINE Vec<T> load(Elements<S> e) const {
    return hn::Set(Tag<T>(), e.data[segment * e.segment + i]);
  }
  template <class S>
  HWY_INLINE Vec<T> column(Elements<S> e) const {
    return load(e);
  }
  HWY_INLINE Vec<T> spilled(Spill<T> e) const { return load(e.at); }
  HWY_INLINE Vec<T> index() const { return hn::Set(Tag<T>(), static_cast<T>(first + i)); }
};

/// One element of each of several rows, a lane per row; if kPart, of fewer rows than a vector has
/// lanes.
template <class T, bool kPart>
struct LanePerRow {
  static constexpr int kSlot = 0;
  static constexpr bool kInTurn = false;
  int64_t i, segment, first;
  int number;
  size_t count;
  HWY_INLINE int group() const { return number; }
  HWY_INLINE int64_t offset() const { return number * static_cast<int64_t>(hn::Lanes(Tag<T>())); }
  template <class S>
  HWY_INLINE Vec<T> load(Elements<S> e) const {
    if constexpr (kPart) return loaded_part<T>(e.at(segment, i) + offset(), count);
    return loaded<T>(e.at(segment, i) + offset());
  }
  template <class S>
  HWY_INLINE Vec<T> column(Elements<S> e) const {
    return hn::Set(Tag<T>(), *e.at(segment, i));
  }
  HWY_INLINE void store(Output<T> out, Vec<T> v) const { put(out.at, v); }
  HWY_INLINE void put(Elements<T> e, Vec<T> v) const {
    T* const p = e.at(segment, i) + offset();
    if constexpr (kPart) {
      store_part(v, Tag<T>(), p, count);
    } else {
      hn::StoreU(v, Tag<T>(), p);
    }
  }
  HWY_INLINE void spill(Spill<T> e, Vec<T> v) const { put(e.at, v); }
  HWY_INLINE Vec<T> spilled(Spill<T> e) const { return load(e.at); }
  template <class S>
  HWY_INLINE void ahead(Elements<S>) const {}
  HWY_INLINE Vec<T> index() const { return hn::Set(Tag<T>(), static_cast<T>(first + i)); }
  HWY_INLINE Vec<T> or_else(Vec<T> v, Vec<T>) const { return v; }
};

/// A value for each group of rows that a traversal takes at a time; those of groups() are to be
/// set.
template <class Traversal, class Value, bool = Traversal::kGrouped>
struct PerGroup {
  union {
    Value all[Traversal::kGroups];
  };
  HWY_INLINE PerGroup() {}
  HWY_INLINE Value& operator[](int group) { return all[group]; }
  HWY_INLINE const Value& operator[](int group) const { return all[group]; }
};
/// One, which stays in registers.
template <class Traversal, class Value>
struct PerGroup<Traversal, Value, false> {
  Value one;
  HWY_INLINE PerGroup() {}
  HWY_INLINE Value& operator[](int) { return one; }
  HWY_INLINE const Value& operator[](int) const { return one; }
};
template <class Traversal>
using RowValues = PerGroup<Traversal, Vec<typename Traversal::T>>;

/// What the body of a pass captures of such values: one in a register, or a pointer to all.
template <class Traversal>
HWY_INLINE auto captured(const RowValues<Traversal>& values) {
  if constexpr (Traversal::kGrouped) {
    return static_cast<const Vec<typename Traversal::T>*>(values.all);
  } else {
    return values;
  }
}

template <class Traversal, class R>
HWY_INLINE void start(const Traversal& traversal, PerGroup<Traversal, R>& reductions) {
  const int groups =
      std::min(traversal.groups(), Traversal::kGroups);  // which the compiler does not know
  for (int g = 0; g < groups; ++g) reductions[g] = R();
}
template <class Traversal, class R>
HWY_INLINE void save(const Traversal& traversal, const PerGroup<Traversal, R>& reductions,
                     char*& saved) {
  for (int g = 0; g < traversal.groups(); ++g, saved += sizeof(R))
    std::memcpy(saved, &reductions[g], sizeof(R));
}
template <class Traversal, class R>
HWY_INLINE void merge_saved(const Traversal& traversal, PerGroup<Traversal, R>& into,
                            const char*& saved) {
  for (int g = 0; g < traversal.groups(); ++g, saved += sizeof(R)) {
    R other;
    std::memcpy(&other, saved, sizeof(R));
    into[g].merge(other);
  }
}

/// Long rows in chunks that do not depend on the threads, so that nor do the results: what
/// compute(begin, end, saved) leaves in `bytes` goes to merge(saved) in the order of the chunks.
template <class Compute, class Merge>
HWY_INLINE void in_chunks(int64_t length, int64_t chunk, size_t bytes, const Compute& compute,
                          const Merge& merge) {
  const int64_t chunks = length / chunk;
  const size_t all = std::max<size_t>(bytes * static_cast<size_t>(chunks), 1);
  char* const saved = static_cast<char*>(tenon::memory::allocate(all));
  std::atomic<bool> divided{false};
  parallel_for(0, chunks, 1, [&](int64_t begin, int64_t end) HWY_ATTR {
    for (int64_t k = begin; k < end; ++k) {
      // The last one is longer by the rest.
      compute(k * chunk, k + 1 == chunks ? length : (k + 1) * chunk, saved + k * bytes);
    }
    if (take_zero_division()) divided = true;  // of this thread
  });
  if (divided) note_zero_division();
  for (int64_t k = 0; k < chunks; ++k) merge(saved + k * bytes);
  tenon::memory::deallocate(saved, all);
}

/// One chunk, whose reductions go to `saved`, one after the other.
template <class Traversal, class Body, class... R>
HWY_NOINLINE void walk_chunk(const Traversal& traversal, int64_t begin, int64_t end,
                             const Body& body, [[maybe_unused]] char* saved,
                             PerGroup<Traversal, R>... reductions) {
  (start(traversal, reductions), ...);
  traversal.walk(begin, end, body, reductions...);
  (save(traversal, reductions, saved), ...);
  if (traversal.past_caches()) hwy::FlushStream();  // of this thread
}

/// The rows that the traversal is at, chunk by chunk.
template <class Traversal, class Body, class... R>
HWY_NOINLINE void walk_in_chunks(const Traversal& traversal, int64_t length, int64_t chunk,
                                 const Body& body, PerGroup<Traversal, R>&... reductions) {
  in_chunks(
      length, chunk, (sizeof(R) + ... + 0) * static_cast<size_t>(traversal.groups()),
      [&](int64_t begin, int64_t end, char* saved) HWY_ATTR {
        walk_chunk<Traversal, Body, R...>(traversal, begin, end, body, saved,
                                          PerGroup<Traversal, R>()...);
      },
      [&]([[maybe_unused]] const char* saved)
          HWY_ATTR { (merge_saved(traversal, reductions, saved), ...); });
}

/// Bytes of a row that is fetched while the one before it is computed.
inline constexpr int64_t kFetchedAhead = 16384;

/// What both traversals have in common.
template <class T_, class Stored_>
class TraversalBase {
 public:
  using T = T_;
  using Stored = Stored_;

  HWY_INLINE explicit TraversalBase(RowBlock& block) : b_(block) {}
  HWY_INLINE bool more() const { return row_ < b_.rows; }
  HWY_INLINE bool past_caches() const { return b_.past_caches; }
  HWY_INLINE Elements<const Stored> input(int k) const { return of<const Stored>(b_.inputs[k]); }
  /// The same of the row after this one, to be fetched from memory meanwhile; of this row if two
  /// have no room in the first cache.
  HWY_INLINE Elements<const Stored> next_input(int k) const {
    Elements<const Stored> e = input(k);
    if (e && b_.length <= kFetchedAhead / static_cast<int64_t>(sizeof(Stored)))
      e.data += b_.inputs[k].row;
    return e;
  }
  HWY_INLINE Elements<const T> column(int k) const { return of<const T>(b_.inputs[k]); }
  template <class Out = T>
  HWY_INLINE Output<Out> output(int k) const {
    return {of<Out>(b_.outputs[k]), b_.past_caches};
  }
  HWY_INLINE Spill<T> spill(int k) const { return {of<T>(b_.spills[k]), b_.padded_spills}; }

 protected:
  template <class S>
  HWY_INLINE Elements<S> of(const RowBlock::Elements& e) const {
    S* const data = static_cast<S*>(e.data);
    return {data ? data + row_ * e.row : nullptr, e.row, e.segment, e.step};
  }

  RowBlock& b_;
  int64_t row_ = 0;
};

/// kChunked: rows of several segments, and long ones. Their code is apart: what a short row is
/// computed with has no address then, and stays in registers. Some rows are taken at a time where
/// their segments lie one after the other in memory, which is then read in its order.
template <class T_, class Stored_, bool kChunked>
class RowMajor : public TraversalBase<T_, Stored_> {
 public:
  using T = T_;
  static constexpr bool kColumnMajor = false;
  static constexpr bool kGrouped = kChunked;
  static constexpr bool kFinishes = !kChunked;
  static constexpr int kSlots = 4;
  static constexpr int kGroups = static_cast<int>(kRowsTogether);

  HWY_INLINE explicit RowMajor(RowBlock& block) : TraversalBase<T_, Stored_>(block) {}
  HWY_INLINE void next() { row_ += groups(); }
  HWY_INLINE int groups() const {
    if constexpr (!kGrouped) return 1;
    return static_cast<int>(std::min({b_.together, b_.rows - row_, kRowsTogether}));
  }
  HWY_INLINE void row_values(int k, RowValues<RowMajor>& values) const {
    const Elements<const T> e = this->template of<const T>(b_.inputs[k]);
    for (int g = 0; g < groups(); ++g) values[g] = hn::Set(Tag<T>(), e.data[g * e.row]);
  }
  HWY_INLINE void store_row(Output<T> out, int group, Vec<T> v) const {
    out.at.data[group * out.at.row] = hn::GetLane(v);
  }
  HWY_INLINE void store_whole(Output<int64_t> out, int group, int64_t n) const {
    out.at.data[group * out.at.row] = n;
  }
  HWY_INLINE bool is_last() const { return row_ + 1 >= b_.rows; }
  /// Output k of `count` rows, of which this one is the last.
  HWY_INLINE void store_rows(int k, size_t count, Vec<T> v) const {
    const RowBlock::Elements& e = b_.outputs[k];
    T* const first = static_cast<T*>(e.data) + (row_ + 1 - static_cast<int64_t>(count)) * e.row;
    if (e.row == 1 && count == hn::Lanes(Tag<T>())) return hn::StoreU(v, Tag<T>(), first);
    HWY_ALIGN T lanes[kMaxLanes<T>];
    hn::Store(v, Tag<T>(), lanes);
    for (size_t r = 0; r < count; ++r) first[static_cast<int64_t>(r) * e.row] = lanes[r];
  }
  static HWY_INLINE Vec<T> as_value(int64_t n) { return hn::Set(Tag<T>(), static_cast<T>(n)); }
  /// The element at the position that an input has for the row; element 0 where it is outside.
  HWY_INLINE Single<T> pick(int k, bool needed) const {
    return element(b_.position(k, row_, needed));
  }
  HWY_INLINE Single<T> element(int64_t position) const {
    if (HWY_LIKELY(b_.segments == 1)) return {position, 0, 0};
    const int64_t segment = position / b_.segment_length, first = segment * b_.segment_length;
    return {position - first, segment, first};
  }

  /// Calls body(at, reductions...) along each row; the reductions are folded every so many vectors.
  template <class Body, class... R>
  HWY_INLINE void pass(const Body& body, PerGroup<RowMajor, R>&... reductions) const {
    if constexpr (!kChunked) {
      at_once<Body, R...>(b_.length, body, reductions[0]..., R()...);
    } else {
      (start(*this, reductions), ...);
      if (b_.length < 2 * kRowChunk) return walk(0, b_.length, body, reductions...);
      walk_in_chunks<RowMajor, Body, R...>(*this, b_.length, kRowChunk, body, reductions...);
    }
  }

  /// Elements [begin, end) of the rows, whichever segments they are in.
  template <class Body, class... R>
  HWY_NOINLINE void walk(int64_t begin, int64_t end, Body body,
                         PerGroup<RowMajor, R>&... reductions) const {
    int64_t s = begin / b_.segment_length, i = begin - s * b_.segment_length;
    while (begin < end) {
      const int64_t stop = std::min(b_.segment_length, i + end - begin);
      for (int g = 0; g < groups(); ++g) {
        [&](R... own) HWY_ATTR __attribute__((always_inline)) {
          stretches(i, stop, s, s * b_.segment_length, OneRow{g}, body, own...);
          (reductions[g].merge(own), ...);
        }
        (R()...);
      }
      begin += stop - i;
      i = 0;
      ++s;
    }
  }

 private:
  using Base = TraversalBase<T_, Stored_>;
  using Base::b_;
  using Base::row_;
  static constexpr int64_t kStretch = 16;

  template <class Body, class... R>
  static HWY_INLINE void at_once(int64_t n, const Body& body, R&... into, R... own) {
    whole(n, body, own...);
    ((into = own), ...);
  }
  template <class Row, class Body, class... R>
  static HWY_INLINE void vectors(int64_t& i, int64_t n, int64_t s, int64_t first, Row row,
                                 const Body& body, R&... reductions) {
    const auto lanes = static_cast<int64_t>(hn::Lanes(Tag<T>()));
#pragma GCC unroll 1  // a stretch would be unrolled as a whole
    for (; i + kSlots * lanes <= n; i += kSlots * lanes) {
      body(Full<T, 0, Row>{i, s, first, row}, reductions...);
      body(Full<T, 1, Row>{i + lanes, s, first, row}, reductions...);
      body(Full<T, 2, Row>{i + 2 * lanes, s, first, row}, reductions...);
      body(Full<T, 3, Row>{i + 3 * lanes, s, first, row}, reductions...);
    }
  }
  template <class Row, class Body, class... R>
  static HWY_INLINE void rest(int64_t i, int64_t n, int64_t s, int64_t first, Row row,
                              const Body& body, R&... reductions) {
    const auto lanes = static_cast<int64_t>(hn::Lanes(Tag<T>()));
    for (; i + lanes <= n; i += lanes)
      body(Full<T, 0, Row, false>{i, s, first, row}, reductions...);
    if (i < n) body(Tail<T, Row>{i, s, first, static_cast<size_t>(n - i), row}, reductions...);
  }

  /// A row of one segment that is not long.
  template <class Body, class... R>
  static HWY_INLINE void whole(int64_t n, const Body& body, R&... reductions) {
    const auto lanes = static_cast<int64_t>(hn::Lanes(Tag<T>()));
    constexpr OnlyRow kRow;
    int64_t i = 0;
    if (n <= lanes) {
      if (n > 0) body(Tail<T, OnlyRow>{0, 0, 0, static_cast<size_t>(n), kRow}, reductions...);
      return (reductions.template finish<1>(), ...);
    }
    if constexpr (sizeof...(R) > 0) {
      if (n < (kStretch + 1) * kSlots * lanes) {
        vectors(i, n, 0, 0, kRow, body, reductions...);
        rest(i, n, 0, 0, kRow, body, reductions...);
        return (reductions.template finish<kSlots>(), ...);
      }
      stretches(i, n, 0, 0, kRow, body, reductions...);
      (reductions.template finish<0>(), ...);
    } else {
      for (; i + 2 * lanes <= n; i += 2 * lanes) {
        body(Full<T, 0, OnlyRow>{i, 0, 0, kRow});
        body(Full<T, 1, OnlyRow>{i + lanes, 0, 0, kRow});
      }
      rest(i, n, 0, 0, kRow, body);
    }
  }

  template <class Row, class Body, class... R>
  static HWY_INLINE void stretches(int64_t i, int64_t n, int64_t s, int64_t first, Row row,
                                   const Body& body, R&... reductions) {
    const auto lanes = static_cast<int64_t>(hn::Lanes(Tag<T>()));
    while (i + kSlots * lanes <= n) {
      vectors(i, std::min(n, i + kStretch * kSlots * lanes), s, first, row, body, reductions...);
      (reductions.fold(), ...);
    }
    rest(i, n, s, first, row, body, reductions...);
    (reductions.fold(), ...);
  }
};

/// Values of several rows, one after the other, a lane each: what results of one value per row are
/// computed from. A column-major traversal has nothing to do.
template <class Traversal, int kValues, bool = Traversal::kGrouped>
class Batch {
 public:
  using T = typename Traversal::T;

  // An implicit constructor would be of another target than the functions here.
  HWY_INLINE Batch() {}
  /// Whether to compute now: the lanes are full, or there is no other row.
  template <class... V>
  HWY_INLINE bool take(const Traversal& traversal, V... values) {
    int k = 0;
    ((lanes_[k++][count_] = hn::GetLane(values)), ...);
    ++count_;
    if (count_ == hn::Lanes(Tag<T>())) return true;
    if (!traversal.is_last()) return false;
    // Lanes without a row have another's values, so that nothing is divided by what no row has.
    for (auto& lanes : lanes_) {
      for (size_t j = count_; j < hn::Lanes(Tag<T>()); ++j) lanes[j] = lanes[0];
    }
    return true;
  }
  HWY_INLINE Vec<T> value(int k) const { return hn::Load(Tag<T>(), lanes_[k]); }
  HWY_INLINE void store(const Traversal& traversal, int k, Vec<T> v) const {
    traversal.store_rows(k, count_, v);
  }
  HWY_INLINE void clear() { count_ = 0; }

 private:
  HWY_ALIGN T lanes_[kValues][kMaxLanes<T>];
  size_t count_ = 0;
};
template <class Traversal, int kValues>
class Batch<Traversal, kValues, true> {};

#if TENON_FEW_LOOPS  // all rows: a pass has its code six times then instead of nineteen
inline constexpr bool kAllChunked = true;
#else
inline constexpr bool kAllChunked = false;
#endif
template <class T, class Stored = T>
using Unchunked = RowMajor<T, Stored, kAllChunked>;
template <class T, class Stored = T>
using Chunked = RowMajor<T, Stored, true>;

/// The row-major loop for rows as the block's are.
template <RowLoop kUnchunked, RowLoop kChunked>
void row_major(RowBlock& block) {
  const bool whole = block.segments == 1 && block.length < 2 * kRowChunk;
  return whole ? kUnchunked(block) : kChunked(block);
}

/// Strips of up to kGroups vectors of rows.
template <class T_, class Stored_ = T_>
class ColumnMajor : public TraversalBase<T_, Stored_> {
 public:
  using T = T_;
  static constexpr bool kColumnMajor = true;
  static constexpr bool kGrouped = true;
  static constexpr bool kFinishes = false;
  static constexpr int kSlots = 1;
  static constexpr int kGroups = static_cast<int>(kRowStrip * sizeof(T) / HWY_MAX_BYTES);

  HWY_INLINE explicit ColumnMajor(RowBlock& block) : TraversalBase<T_, Stored_>(block) {
    measure();
  }
  HWY_INLINE void next() {
    row_ += kGroups * lanes();
    measure();
  }
  HWY_INLINE int groups() const { return full_ + (part_ > 0); }
  HWY_INLINE void row_values(int k, RowValues<ColumnMajor>& values) const {
    const T* const p = this->template of<const T>(b_.inputs[k]).data;
    for (int g = 0; g < full_; ++g) values[g] = hn::LoadU(Tag<T>(), p + g * lanes());
    if (part_ > 0) values[full_] = load_part(Tag<T>(), p + full_ * lanes(), part_, T{1});
  }
  HWY_INLINE void store_row(Output<T> out, int group, Vec<T> v) const {
    T* const p = out.at.data + group * lanes();
    if (group < full_) {
      hn::StoreU(v, Tag<T>(), p);
    } else {
      store_part(v, Tag<T>(), p, part_);
    }
  }
  HWY_INLINE void store_whole(Output<int64_t> out, int group, const Whole<ColumnMajor>& n) const {
    int64_t* const to = out.at.data + group * lanes();
    const int64_t count = group < full_ ? lanes() : static_cast<int64_t>(part_);
    if constexpr (sizeof(T) == 1) {
      std::copy_n(n.lanes, count, to);
    } else {
      HWY_ALIGN I numbers[kMaxLanes<I>];
      hn::Store(n, Tag<I>(), numbers);
      std::copy_n(numbers, count, to);
    }
  }
  static HWY_INLINE Vec<T> as_value(const Whole<ColumnMajor>& n) {
    if constexpr (sizeof(T) == 1) {
      return hn::Zero(Tag<T>());  // kernels of bytes have positions as results alone
    } else if constexpr (hwy::IsFloat<T>()) {
      return hn::ConvertTo(Tag<T>(), n);
    } else {
      return n;
    }
  }

  /// Calls body(at, reductions[group]...) for each group of rows along them.
  template <class Body, class... R>
  HWY_INLINE void pass(const Body& body, PerGroup<ColumnMajor, R>&... reductions) const {
    (start(*this, reductions), ...);
    if (b_.length < 2 * kRowStripChunk) return walk(0, b_.length, body, reductions...);
    walk_in_chunks<ColumnMajor, Body, R...>(*this, b_.length, kRowStripChunk, body, reductions...);
  }

  template <class Body, class... R>
  HWY_NOINLINE void walk(int64_t begin, int64_t end, Body body,
                         PerGroup<ColumnMajor, R>&... reductions) const {
    int64_t s = begin / b_.segment_length, i = begin - s * b_.segment_length;
    while (begin < end) {
      // Without sums to keep, rows of memory are read one after the other.
      constexpr int64_t kAtATime = sizeof...(R) > 0 ? kStretch : 1;
      const int64_t stop = std::min({b_.segment_length, i + end - begin, i + kAtATime});
      int g = 0;
      for (; g + 4 <= full_; g += 4) quad(i, stop, s, g, body, &reductions[g]...);
      for (; g < full_; ++g) stretch<false>(i, stop, s, g, body, reductions[g]...);
      if (part_ > 0) stretch<true>(i, stop, s, full_, body, reductions[full_]...);
      begin += stop - i;
      i = stop;
      if (i == b_.segment_length) {
        i = 0;
        ++s;
      }
    }
  }

 private:
  using Base = TraversalBase<T_, Stored_>;
  using Base::b_;
  using Base::row_;
  using I = hwy::MakeSigned<T>;
  static constexpr int64_t kStretch = 16;

  static HWY_INLINE int64_t lanes() { return static_cast<int64_t>(hn::Lanes(Tag<T>())); }
  HWY_INLINE void measure() {
    const int64_t count = std::min(b_.rows - row_, kGroups * lanes());
    if (count <= 0) return;
    full_ = static_cast<int>(count / lanes());
    part_ = static_cast<size_t>(count % lanes());
  }

  template <bool kPart, class Body, class... R>
  HWY_INLINE void stretch(int64_t i, int64_t end, int64_t s, int group, const Body& body,
                          R&... reductions) const {
    [&](R... copies) HWY_ATTR {
      for (; i < end; ++i)
        body(LanePerRow<T, kPart>{i, s, s * b_.segment_length, group, part_}, copies...);
      (copies.fold(), ...);
      ((reductions = copies), ...);
    }(reductions...);
  }

  /// Four groups side by side: whole stretches of cache lines.
  template <class Body, class... R>
  HWY_INLINE void quad(int64_t i, int64_t end, int64_t s, int g, const Body& body, R*... r) const {
    const int64_t first = s * b_.segment_length;
    [&](R... a) HWY_ATTR {
      [&](R... b) HWY_ATTR {
        [&](R... c) HWY_ATTR {
          [&](R... d) HWY_ATTR {
            for (; i < end; ++i) {
              body(LanePerRow<T, false>{i, s, first, g, 0}, a...);
              body(LanePerRow<T, false>{i, s, first, g + 1, 0}, b...);
              body(LanePerRow<T, false>{i, s, first, g + 2, 0}, c...);
              body(LanePerRow<T, false>{i, s, first, g + 3, 0}, d...);
            }
            (keep_folded(r[0], a), ...);
            (keep_folded(r[1], b), ...);
            (keep_folded(r[2], c), ...);
            (keep_folded(r[3], d), ...);
          }(r[3]...);
        }(r[2]...);
      }(r[1]...);
    }(r[0]...);
  }
  template <class R>
  static HWY_INLINE void keep_folded(R& into, R& from) {
    from.fold();
    into = from;
  }

  int full_ = 0;     ///< groups of as many rows as a vector has lanes
  size_t part_ = 0;  ///< rows of the last group, if it has fewer
};

}  // namespace rows
}  // namespace tenon::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
