#pragma once

#include <algorithm>

#include "aten/cuda/atomic.cuh"
#include "aten/cuda/cuda_allocator.h"
#include "aten/cuda/cuda_convert.cuh"
#include "aten/cuda/cuda_math.cuh"
#include "aten/cuda/launch.h"
#include "aten/cuda/warp.cuh"
#include "aten/iterator/rows.h"

// The kernel that generated row operators run as. blockDim.x threads, a power of two, take a row:
// up to 32 exchange what they reduce by shuffles, more than 32 are a block. A thread takes chunks
// of 16 bytes of the compute type: neighbouring elements, read and written at once, where all
// operands lie so; else elements that lie blockDim.x apart. What several passes read stays in
// registers where a row has at most kKept elements per thread, and is read again where it is
// longer. Few long rows are shared by several blocks: each pass is a launch, whose blocks leave
// what they reduce in memory, and the blocks of the next launch put it together, in one order.
namespace tenon::cuda {
namespace rows {

inline constexpr int kKept = 8;          ///< elements of a row that a thread keeps of an operand
inline constexpr int kMaxThreads = 512;  ///< for a row
inline constexpr int kSlotBytes = 16;    ///< of what a block leaves for the launches that follow

template <class V>
inline constexpr int kChunk = 16 / static_cast<int>(sizeof(V));
template <class V>
inline constexpr int kChunks = kKept / kChunk<V>;

template <class V>
struct Chunk {
  V values[kChunk<V>];
};

/// Numbers of operands.
template <int N>
struct Indices {
  static constexpr int kCount = N;
  int at[N > 0 ? N : 1];
  /// The place of operand k, or -1.
  constexpr int find(int k) const {
    for (int i = 0; i < N; ++i) {
      if (at[i] == k) return i;
    }
    return -1;
  }
};
template <int K>
struct Input {};
template <int K>
struct Output {};

// ---- reductions: one value for each thread, combined by Row::combine ----

/// A sum whose error does not grow with the row: chunks are added up, and what the total loses to
/// rounding is added in the end (Knuth's two-sum).
template <class V>
struct Sum {
  V part = 0, total = 0, lost = 0;
  __device__ __forceinline__ void add(V value) { part = plus(part, value); }
  __device__ __forceinline__ void fold() {
    const V sum = plus(total, part);
    if constexpr (std::is_floating_point_v<V>) {
      const V kept = sum - total;
      lost += (total - (sum - kept)) + (part - kept);
    }
    total = sum;
    part = 0;
  }
};

template <class V, class Operation>
struct Fold {
  V value = Operation::template identity<V>();
  __device__ __forceinline__ void add(V next) { value = Operation::apply(value, next); }
  __device__ __forceinline__ void fold() {}
};
struct Multiply {
  template <class V>
  static __device__ __forceinline__ V identity() {
    return V(1);
  }
  template <class V>
  static __device__ __forceinline__ V apply(V a, V b) {
    return times(a, b);
  }
};
/// A NaN stays.
struct Larger {
  template <class V>
  static __device__ __forceinline__ V identity() {
    return std::is_floating_point_v<V> ? -std::numeric_limits<V>::infinity()
                                       : std::numeric_limits<V>::lowest();
  }
  template <class V>
  static __device__ __forceinline__ V apply(V a, V b) {
    return native::cuda_m::maximum(a, b);
  }
};
struct Smaller {
  template <class V>
  static __device__ __forceinline__ V identity() {
    return std::is_floating_point_v<V> ? std::numeric_limits<V>::infinity()
                                       : std::numeric_limits<V>::max();
  }
  template <class V>
  static __device__ __forceinline__ V apply(V a, V b) {
    return native::cuda_m::minimum(a, b);
  }
};
/// The number if one is NaN.
struct LargerNumber {
  template <class V>
  static __device__ __forceinline__ V identity() {
    return std::is_floating_point_v<V> ? std::numeric_limits<V>::quiet_NaN()
                                       : std::numeric_limits<V>::lowest();
  }
  template <class V>
  static __device__ __forceinline__ V apply(V a, V b) {
    return native::cuda_m::fmax(a, b);
  }
};
struct SmallerNumber {
  template <class V>
  static __device__ __forceinline__ V identity() {
    return std::is_floating_point_v<V> ? std::numeric_limits<V>::quiet_NaN()
                                       : std::numeric_limits<V>::max();
  }
  template <class V>
  static __device__ __forceinline__ V apply(V a, V b) {
    return native::cuda_m::fmin(a, b);
  }
};

/// How many values are not 0.
template <class V>
struct Count {
  int64_t count = 0;
  __device__ __forceinline__ void add(V value, int64_t) { count += value != V(0); }
  __device__ __forceinline__ void fold() {}
};

/// A value and its position. Of ties the first is better, and a NaN better than a number.
template <class V>
struct Placed {
  V value;
  int64_t place;
};
/// Without what lies between members: memory that blocks share holds the same in every run.
template <class T>
__device__ __forceinline__ void put(T& to, const T& from) {
  to = from;
}
template <class V>
__device__ __forceinline__ void put(Placed<V>& to, const Placed<V>& from) {
  to.value = from.value;
  to.place = from.place;
}

template <class V, class Operation>
struct Place {
  Placed<V> best = none();
  __device__ __forceinline__ void add(V value, int64_t place) {
    best = better(best, {value, place});
  }
  __device__ __forceinline__ void fold() {}
  static __device__ __forceinline__ Placed<V> none() {
    return {Operation::template identity<V>(), std::numeric_limits<int64_t>::max()};
  }
  static __device__ __forceinline__ Placed<V> better(Placed<V> a, Placed<V> b) {
    if (beats(a.value, b.value)) return a;
    if (beats(b.value, a.value)) return b;
    return a.place < b.place ? a : b;
  }

 private:
  /// Strictly: the extreme of both is a's alone.
  static __device__ __forceinline__ bool beats(V a, V b) {
    return b == b && a != b && !(Operation::apply(b, a) == b);
  }
};

template <class V>
using Prod = Fold<V, Multiply>;
template <class V>
using Max = Fold<V, Larger>;
template <class V>
using Min = Fold<V, Smaller>;
template <class V>
using Fmax = Fold<V, LargerNumber>;
template <class V>
using Fmin = Fold<V, SmallerNumber>;
template <class V>
using Argmax = Place<V, Larger>;
template <class V>
using Argmin = Place<V, Smaller>;

// ---- operands ----

enum class Stored : uint8_t { Own, Half, BFloat16, Position };

template <class V>
struct Operand {
  char* data;      ///< null: absent, or not wanted
  int64_t stride;  ///< along the row, in elements; 0: one value
  int64_t outer[native::RowCall::kMaxOuter];
  V absent;
  Stored stored;
};

template <class V, int kInputs, int kOutputs, int kScalars>
struct Arguments {
  int64_t rows, length;
  int64_t sizes[native::RowCall::kMaxOuter];
  int ndim;
  bool vectors;             ///< chunks are neighbouring elements
  int64_t section;          ///< elements of a row that a block takes; blocks of a row: gridDim.y
  int phase = -1;           ///< the pass that this launch is for; below 0: all
  char* reduced = nullptr;  ///< [reduction][row][block], kSlotBytes each: of the launches before
  Operand<V> inputs[kInputs > 0 ? kInputs : 1];
  Operand<V> outputs[kOutputs];
  V scalars[kScalars > 0 ? kScalars : 1];
};

template <class V>
__device__ __forceinline__ V load_stored(const char* data, Stored stored, int64_t index) {
  if constexpr (std::is_same_v<V, float>) {
    if (stored == Stored::Half) return convert<V>(reinterpret_cast<const Half*>(data)[index]);
    if (stored == Stored::BFloat16)
      return convert<V>(reinterpret_cast<const BFloat16*>(data)[index]);
  }
  return reinterpret_cast<const V*>(data)[index];
}

template <class V>
__device__ __forceinline__ void store_stored(char* data, Stored stored, int64_t index, V value) {
  if constexpr (std::is_same_v<V, float>) {
    if (stored == Stored::Half) {
      reinterpret_cast<Half*>(data)[index] = convert<Half>(value);
      return;
    }
    if (stored == Stored::BFloat16) {
      reinterpret_cast<BFloat16*>(data)[index] = convert<BFloat16>(value);
      return;
    }
  }
  reinterpret_cast<V*>(data)[index] = value;
}

/// kChunk<V> neighbouring elements of type T.
template <class T, class V>
struct alignas(sizeof(T) * kChunk<V>) Pack {
  T values[kChunk<V>];

  template <class Index>
  static __device__ __forceinline__ Chunk<V> load(const char* data, Index first) {
    const Pack pack = reinterpret_cast<const Pack*>(data)[first / kChunk<V>];
    Chunk<V> chunk;
#pragma unroll
    for (int j = 0; j < kChunk<V>; ++j) chunk.values[j] = convert<V>(pack.values[j]);
    return chunk;
  }
  template <class Index>
  static __device__ __forceinline__ void store(char* data, Index first, const Chunk<V>& chunk) {
    Pack pack;
#pragma unroll
    for (int j = 0; j < kChunk<V>; ++j) pack.values[j] = convert<T>(chunk.values[j]);
    reinterpret_cast<Pack*>(data)[first / kChunk<V>] = pack;
  }
};

// ---- the row that a group of threads works on ----

/// F: `kInputs`, `kOutputs`, `kScalars`, `kKept` (inputs whose elements stay in registers), `kSums`
/// (outputs that are added up over the rows), `kLaunches`, `kReductions`, and `run<V>(Row&)`, which
/// computes one row.
template <class F, class V, bool kInRegisters>
class Row {
 public:
  using Args = Arguments<V, F::kInputs, F::kOutputs, F::kScalars>;
  /// What stays in registers is short.
  using Index = std::conditional_t<kInRegisters, int, int64_t>;

  /// Some elements of the row, in all passes the same for a thread.
  struct At {
    Row& row;
    int chunk;
    Index first;

    __device__ __forceinline__ Index place(int j) const { return first + j * row.step_; }
    __device__ __forceinline__ bool inside(int j) const { return place(j) < row.length_; }
    __device__ __forceinline__ V index(int j) const { return static_cast<V>(place(j)); }

    template <int K>
    __device__ __forceinline__ Chunk<V> load(Input<K>) const {
      constexpr int kSlot = F::kKept.find(K);
      if constexpr (kInRegisters && kSlot >= 0) {
        return row.kept_[kSlot][chunk];
      } else {
        return row.template load_chunk<K>(first);
      }
    }
    template <int K>
    __device__ __forceinline__ void store(Output<K>, const Chunk<V>& values) const {
      const Operand<V>& o = row.a_.outputs[K];
      if (!o.data) return;
      char* const data = row.outputs_[K];
      if (row.a_.vectors) {
        if constexpr (std::is_same_v<V, float>) {
          if (o.stored == Stored::Half) return Pack<Half, V>::store(data, first, values);
          if (o.stored == Stored::BFloat16) return Pack<BFloat16, V>::store(data, first, values);
        }
        return Pack<V, V>::store(data, first, values);
      }
#pragma unroll
      for (int j = 0; j < kChunk<V>; ++j) {
        if (inside(j)) store_stored(data, o.stored, place(j) * o.stride, values.values[j]);
      }
    }
    /// To the sums of these columns, which this thread alone adds to.
    template <int K>
    __device__ __forceinline__ void add(Output<K>, const Chunk<V>& values) const {
      constexpr int kSlot = F::kSums.find(K);
      auto* const sums = reinterpret_cast<double*>(row.a_.outputs[K].data);
      if (!sums) return;
#pragma unroll
      for (int j = 0; j < kChunk<V>; ++j) {
        if (!inside(j)) continue;
        const double value = static_cast<double>(values.values[j]);
        if constexpr (kInRegisters) {
          row.sums_[kSlot][chunk][j] += value;
        } else {
          sums[row.group_ * row.a_.length + place(j)] += value;
        }
      }
    }
  };

  /// One element, the same for all threads of the row.
  struct AtPosition {
    const Row& row;
    int64_t position;
    template <int K>
    __device__ __forceinline__ V load(Input<K>) const {
      const Operand<V>& o = row.a_.inputs[K];
      return o.data ? load_stored<V>(row.inputs_[K], o.stored, position * o.stride) : o.absent;
    }
    __device__ __forceinline__ V index() const { return static_cast<V>(position); }
  };

  __device__ __forceinline__ explicit Row(const Args& a) : a_(a) {
    length_ = static_cast<Index>(a.length);
    step_ = a.vectors ? 1 : static_cast<Index>(blockDim.x);
    start_ = static_cast<Index>(threadIdx.x) * (a.vectors ? kChunk<V> : 1);
    end_ = length_;
    if constexpr (!kInRegisters) {
      start_ += blockIdx.y * a.section;
      end_ = min(end_, static_cast<Index>((blockIdx.y + 1) * a.section));
    }
    group_ = int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
    if constexpr (kInRegisters) {
#pragma unroll
      for (auto& sum : sums_) {
#pragma unroll
        for (auto& chunk : sum) {
#pragma unroll
          for (double& value : chunk) value = 0;
        }
      }
    } else if (a.phase <= 0) {
      each_sum([](double& sum, int, int, int) { sum = 0; });
    }
  }

  __device__ __forceinline__ void begin(int64_t row) {
    row_ = row;
    pass_ = reduction_ = 0;
    int64_t in[F::kInputs > 0 ? F::kInputs : 1] = {}, out[F::kOutputs] = {};
    const auto move = [&](int64_t by, int d) {
#pragma unroll
      for (int k = 0; k < F::kInputs; ++k) in[k] += by * a_.inputs[k].outer[d];
#pragma unroll
      for (int k = 0; k < F::kOutputs; ++k) out[k] += by * a_.outputs[k].outer[d];
    };
    int64_t rest = row;
    for (int d = a_.ndim - 1; d > 0; --d) {
      const int64_t next = rest / a_.sizes[d];
      move(rest - next * a_.sizes[d], d);
      rest = next;
    }
    move(rest, 0);
#pragma unroll
    for (int k = 0; k < F::kInputs; ++k)
      inputs_[k] = a_.inputs[k].data + in[k] * item(a_.inputs[k].stored);
#pragma unroll
    for (int k = 0; k < F::kOutputs; ++k)
      outputs_[k] = a_.outputs[k].data + out[k] * item(a_.outputs[k].stored);
    if constexpr (kInRegisters) keep<0>();
  }

  /// Gives each group's sums to the memory that the launcher adds up.
  __device__ __forceinline__ void finish() {
    if constexpr (kInRegisters) {
      each_sum([&](double& sum, int slot, int chunk, int j) { sum = sums_[slot][chunk][j]; });
    }
  }

  __device__ __forceinline__ int64_t length() const { return a_.length; }
  __device__ __forceinline__ V scalar(int k) const { return a_.scalars[k]; }

  /// The row's value of an operand of rows.
  __device__ __forceinline__ V value(int k) const {
    const Operand<V>& o = a_.inputs[k];
    if (!o.data) return o.absent;
    if (o.stored != Stored::Position || std::is_same_v<V, int64_t>)
      return load_stored<V>(o.data, o.stored, row_);
    const int64_t position = reinterpret_cast<const int64_t*>(o.data)[row_];
    const V result = static_cast<V>(position);
    constexpr int64_t kSafe = int64_t{1} << 62;
    const bool position_is_a_value_of_the_compute_type =
        position < kSafe && position > -kSafe && static_cast<int64_t>(result) == position;
    TENON_KERNEL_CHECK(position_is_a_value_of_the_compute_type);
    return result;
  }

  __device__ __forceinline__ AtPosition at_position(int k, bool needed) const {
    const int64_t position = reinterpret_cast<const int64_t*>(a_.inputs[k].data)[row_];
    const bool position_in_range = position >= 0 && position < a_.length;
    // Before the last launch `needed` may be of what is not known yet.
    TENON_KERNEL_CHECK(position_in_range || !needed || !is_last());
    return {*this, position_in_range ? position : 0};
  }

  __device__ __forceinline__ void store(int k, V value) const {
    const Operand<V>& o = a_.outputs[k];
    const bool writes = threadIdx.x == 0 && blockIdx.y == 0 && is_last();
    if (o.data && writes) store_stored(o.data, o.stored, row_, value);
  }

  /// Of an output that is int64 whatever V is.
  __device__ __forceinline__ void store_whole(int k, int64_t value) const {
    char* const data = a_.outputs[k].data;
    const bool writes = threadIdx.x == 0 && blockIdx.y == 0 && is_last();
    if (data && writes) reinterpret_cast<int64_t*>(data)[row_] = value;
  }

  /// The element at what `combine` has given, which an earlier launch may not know yet.
  __device__ __forceinline__ AtPosition at_place(int64_t place) const {
    return {*this, place < a_.length ? place : 0};
  }

  template <class Body>
  __device__ __forceinline__ void pass(Body body) {
    if constexpr (!kInRegisters) {
      const int pass = pass_++;
      if (a_.phase >= 0 && pass != a_.phase) return;
    }
    each_chunk([&](int chunk, Index first) { body(At{*this, chunk, first}); });
  }

  __device__ __forceinline__ V combine(const Sum<V>& sum) {
    if constexpr (std::is_floating_point_v<V>) {
      // Infinities and NaN stand for themselves: what they lose is NaN.
      const double all = native::cuda_m::isfinite(sum.total)
                             ? static_cast<double>(sum.total) + static_cast<double>(sum.lost)
                             : static_cast<double>(sum.total);
      return static_cast<V>(combine_blocks(all, 0.0, [](double a, double b) { return a + b; }));
    } else {
      return combine_blocks(sum.total, V(0), [](V a, V b) { return plus(a, b); });
    }
  }
  template <class Operation>
  __device__ __forceinline__ V combine(const Fold<V, Operation>& fold) {
    return combine_blocks(fold.value, Operation::template identity<V>(),
                          [](V a, V b) { return Operation::apply(a, b); });
  }
  __device__ __forceinline__ int64_t combine(const Count<V>& count) {
    return combine_blocks(count.count, int64_t{0}, [](int64_t a, int64_t b) { return a + b; });
  }
  template <class Operation>
  __device__ __forceinline__ int64_t combine(const Place<V, Operation>& place) {
    using P = Place<V, Operation>;
    return combine_blocks(place.best, P::none(),
                          [](Placed<V> a, Placed<V> b) { return P::better(a, b); })
        .place;
  }

 private:
  __device__ __forceinline__ bool is_last() const {
    return kInRegisters || a_.phase < 0 || a_.phase + 1 == F::kLaunches;
  }

  /// f of the values of all threads of the row. Of a row that several blocks share, what an earlier
  /// launch has left; this launch's own, and what is still to come, is for the launches that
  /// follow.
  template <class T, class Operation>
  __device__ __forceinline__ T combine_blocks(T value, T identity, Operation f) {
    if constexpr (kInRegisters) {
      return combine_row(value, f);
    } else {
      const int64_t slot = (reduction_++ * a_.rows + row_) * gridDim.y;
      if (a_.phase < 0) return combine_row(value, f);
      const int phase = pass_ - 1;
      if (phase > a_.phase) return identity;
      T* const of_blocks = reinterpret_cast<T*>(a_.reduced) + slot * kSlotValues<T>;
      if (phase == a_.phase) {
        value = combine_row(value, f);
        if (threadIdx.x == 0) put(of_blocks[blockIdx.y * kSlotValues<T>], value);
        return identity;
      }
      value = identity;
      for (unsigned i = threadIdx.x; i < gridDim.y; i += blockDim.x)
        value = f(value, of_blocks[i * kSlotValues<T>]);
      return combine_row(value, f);
    }
  }
  template <class T>
  static constexpr int kSlotValues = kSlotBytes / static_cast<int>(sizeof(T));

  static __device__ __forceinline__ int64_t item(Stored stored) {
    return stored == Stored::Half || stored == Stored::BFloat16 ? 2 : sizeof(V);
  }
  template <int K>
  __device__ __forceinline__ Chunk<V> load_chunk(Index first) const {
    const Operand<V>& o = a_.inputs[K];
    const char* const data = inputs_[K];
    Chunk<V> chunk;
    if (!o.data || o.stride == 0) {
      const V value = o.data ? load_stored<V>(data, o.stored, 0) : o.absent;
#pragma unroll
      for (V& v : chunk.values) v = value;
      return chunk;
    }
    if (a_.vectors) {
      if constexpr (std::is_same_v<V, float>) {
        if (o.stored == Stored::Half) return Pack<Half, V>::load(data, first);
        if (o.stored == Stored::BFloat16) return Pack<BFloat16, V>::load(data, first);
      }
      return Pack<V, V>::load(data, first);
    }
#pragma unroll
    for (int j = 0; j < kChunk<V>; ++j) {
      const Index i = first + j * step_;
      chunk.values[j] = i < length_ ? load_stored<V>(data, o.stored, i * o.stride) : V(0);
    }
    return chunk;
  }

  template <int kSlot>
  __device__ __forceinline__ void keep() {
    if constexpr (kSlot < decltype(F::kKept)::kCount) {
      each_chunk([&](int chunk, Index first) {
        kept_[kSlot][chunk] = load_chunk<F::kKept.at[kSlot]>(first);
      });
      keep<kSlot + 1>();
    }
  }

  /// f(the sum in memory, its slot, chunk, place in the chunk) for each of this thread.
  template <int kSlot = 0, class Function>
  __device__ __forceinline__ void each_sum(Function f) {
    if constexpr (kSlot < decltype(F::kSums)::kCount) {
      constexpr int kOutput = F::kSums.at[kSlot];
      if (auto* const sums = reinterpret_cast<double*>(a_.outputs[kOutput].data)) {
        each_chunk([&](int chunk, Index first) {
#pragma unroll
          for (int j = 0; j < kChunk<V>; ++j) {
            const Index i = first + j * step_;
            if (i < length_) f(sums[group_ * a_.length + i], kSlot, chunk, j);
          }
        });
      }
      each_sum<kSlot + 1>(f);
    }
  }

  /// f(number of the chunk, its first element) for each of this thread's chunks.
  template <class Function>
  __device__ __forceinline__ void each_chunk(Function f) const {
    const Index turn = static_cast<Index>(blockDim.x) * kChunk<V>;
    if constexpr (kInRegisters) {
#pragma unroll
      for (int c = 0; c < kChunks<V>; ++c) {
        const Index first = start_ + c * turn;
        if (first < length_) f(c, first);
      }
    } else {
      for (Index first = start_; first < end_; first += turn) f(0, first);
    }
  }

  static constexpr int kKeptCount = decltype(F::kKept)::kCount;
  static constexpr int kSumCount = decltype(F::kSums)::kCount;
  const Args& a_;
  int64_t row_ = 0, group_;
  Index length_, start_, step_, end_;
  int pass_ = 0, reduction_ = 0;
  char* inputs_[F::kInputs > 0 ? F::kInputs : 1];
  char* outputs_[F::kOutputs];
  Chunk<V> kept_[kInRegisters && kKeptCount > 0 ? kKeptCount : 1][kChunks<V>];
  double sums_[kInRegisters && kSumCount > 0 ? kSumCount : 1][kChunks<V>][kChunk<V>];
};

template <class F, class V, bool kInRegisters>
__global__ void __launch_bounds__(kMaxThreads)
    kernel(const __grid_constant__ Arguments<V, F::kInputs, F::kOutputs, F::kScalars> a) {
  Row<F, V, kInRegisters> row(a);
  const int64_t all = int64_t{gridDim.x} * blockDim.y;
  for (int64_t r = int64_t{blockIdx.x} * blockDim.y + threadIdx.y; r < a.rows; r += all) {
    row.begin(r);
    F::template run<V>(row);
  }
  row.finish();
}

/// How many threads take a row, and how many groups of threads there are; grid.y blocks share a row
/// and take `section` elements each.
struct Shape {
  dim3 grid, block;
  int64_t section;
  bool in_registers;
  int64_t groups() const { return int64_t{grid.x} * block.y; }
  Shape(const native::RowCall& call, bool sums);
};

/// sums[i] = partial[i] + partial[length + i] + ... of `groups`
TENON_API void add_groups(const double* partial, int64_t groups, int64_t length, double* sums,
                          CUstream_st* stream);

template <class V>
Operand<V> operand_of(const native::RowCall& call, const native::RowCall::Operand& from) {
  Operand<V> o{};
  o.data = static_cast<char*>(from.data);
  o.stride = from.stride;
  for (int d = 0; d < call.ndim; ++d) o.outer[d] = from.outer ? from.outer[d] : 0;
  o.absent = static_cast<V>(from.absent);
  o.stored = from.dtype == call.compute ? Stored::Own
             : from.dtype == kHalf      ? Stored::Half
             : from.dtype == kBFloat16  ? Stored::BFloat16
                                        : Stored::Position;
  return o;
}

/// Whether the operand's elements can be accessed a chunk at a time.
bool lies_in_chunks(const native::RowCall& call, const native::RowCall::Operand& operand,
                    int chunk);

}  // namespace rows

/// A RowDeviceKernel for one compute type.
template <class F, class V>
void run_row_kernel(const native::RowCall& call) {
  const LaunchScope scope(call.device);
  rows::Arguments<V, F::kInputs, F::kOutputs, F::kScalars> a{};
  a.rows = call.rows;
  a.length = call.length;
  a.ndim = call.ndim;
  a.vectors = call.length % rows::kChunk<V> == 0;
  for (int d = 0; d < call.ndim; ++d) a.sizes[d] = call.sizes[d];
  for (int k = 0; k < F::kInputs; ++k) {
    a.inputs[k] = rows::operand_of<V>(call, call.inputs[k]);
    a.vectors = a.vectors && rows::lies_in_chunks(call, call.inputs[k], rows::kChunk<V>);
  }
  for (int k = 0; k < F::kOutputs; ++k) {
    a.outputs[k] = rows::operand_of<V>(call, call.outputs[k]);
    a.vectors = a.vectors && rows::lies_in_chunks(call, call.outputs[k], rows::kChunk<V>);
  }
  for (int k = 0; k < F::kScalars; ++k) a.scalars[k] = call.scalars[k]->to<V>();

  constexpr int kSums = decltype(F::kSums)::kCount;
  int wanted = 0;
  for (int i = 0; i < kSums; ++i) wanted += call.outputs[F::kSums.at[i]].data != nullptr;
  const rows::Shape shape(call, wanted > 0);
  const int64_t groups = call.rows == 0 ? 0 : shape.groups();
  const Workspace partial(static_cast<size_t>(wanted * groups * call.length) * sizeof(double));
  int next = 0;
  for (int i = 0; i < kSums; ++i) {
    auto& output = a.outputs[F::kSums.at[i]];
    if (output.data)
      output.data = reinterpret_cast<char*>(partial.as<double>() + next++ * groups * call.length);
  }
  a.section = shape.section;
  if (call.rows > 0 && shape.grid.y == 1) {
    launch(shape.in_registers ? rows::kernel<F, V, true> : rows::kernel<F, V, false>, shape.grid,
           shape.block, 0, scope, a);
  } else if (call.rows > 0) {
    const Workspace reduced(static_cast<size_t>(F::kReductions * call.rows * shape.grid.y) *
                            rows::kSlotBytes);
    a.reduced = reduced.as<char>();
    for (a.phase = 0; a.phase < F::kLaunches; ++a.phase)
      launch(rows::kernel<F, V, false>, shape.grid, shape.block, 0, scope, a);
  }
  next = 0;
  for (int i = 0; i < kSums; ++i) {
    void* const sums = call.outputs[F::kSums.at[i]].data;
    if (!sums) continue;
    rows::add_groups(partial.as<const double>() + next++ * groups * call.length, groups,
                     call.length, static_cast<double*>(sums), scope);
  }
}

}  // namespace tenon::cuda
