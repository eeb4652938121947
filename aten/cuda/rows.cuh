#pragma once

#include <algorithm>

#include "aten/cuda/allocator.h"
#include "aten/cuda/convert.cuh"
#include "aten/cuda/launch.h"
#include "aten/cuda/warp.cuh"

// Operators that reduce rows of contiguous elements and then write elements that need the result:
// softmax, layer normalisation, their gradients. An operator is a struct, passed by value:
//   using Element, using Value              of the operands, and what it computes in
//   static constexpr int kOperands          tensors of elements that it reads, one or two
//   const Element* operands[kOperands]
//   using Acc                               what is known of some elements of a row; no padding
//   static Value absent()                   stands for elements outside of a row
//   Acc identity() const
//   void add(Acc&, const Piece&, const Value (&)[kOperands][kWidth<Element>]) const
//   Acc combine(const Acc&, const Acc&) const
//   Total total(const Acc&) const           of the whole row
//   void write(const Total&, const Piece&, const Value (&)[kOperands][kWidth<Element>]) const
//   void finish(const Total&, int64_t row) const     once for each row
// A thread takes pieces of 16 bytes. Where rows do not fill the GPU, blocks share them: each
// leaves its Acc in memory, and a second kernel combines a row's and writes. No atomics: the order,
// and so the result, is the same in every run.
namespace tenon::cuda {

/// Elements of a row that a thread keeps in registers, of each operand.
inline constexpr int kKept = 8;
/// Elements of a piece.
template <class T>
inline constexpr int kWidth = 16 / static_cast<int>(sizeof(T));

/// Neighbouring elements of a row, from index `first` on, of which those in [from, to) are there.
struct Piece {
  int64_t row, first;
  int64_t start;  ///< of the first element, in the tensor
  int from, to;

  __device__ __forceinline__ bool has(int j) const { return j >= from && j < to; }
  __device__ __forceinline__ int count() const { return to - from; }
};

namespace detail {

/// As many elements as one instruction moves.
template <class T>
struct alignas(16) Vector {
  T values[kWidth<T>];

  static __device__ __forceinline__ bool can_be_at(const T* p) {
    return reinterpret_cast<uintptr_t>(p) % sizeof(Vector) == 0;
  }
};

}  // namespace detail

/// values[j] = data[start + j] of the piece's elements, `absent` in place of the others; 16 bytes
/// at a time where they lie so.
template <int N, class V, class T>
__device__ __forceinline__ void load_piece(const T* data, int64_t start, const Piece& piece,
                                           V (&values)[N], V absent = V(0)) {
  static_assert(N % kWidth<T> == 0);
  using Vector = detail::Vector<T>;
  if (piece.count() == N && Vector::can_be_at(data + start)) {
    const auto* const vectors = reinterpret_cast<const Vector*>(data + start);
#pragma unroll
    for (int j = 0; j < N; j += kWidth<T>) {
      const Vector part = vectors[j / kWidth<T>];
#pragma unroll
      for (int k = 0; k < kWidth<T>; ++k) values[j + k] = convert<V>(part.values[k]);
    }
    return;
  }
#pragma unroll
  for (int j = 0; j < N; ++j) values[j] = piece.has(j) ? convert<V>(data[start + j]) : absent;
}

/// data[start + j] = values[j] for the piece's elements; 16 bytes at a time where they lie so.
template <int N, class V, class T>
__device__ __forceinline__ void store_piece(T* data, int64_t start, const Piece& piece,
                                            const V (&values)[N]) {
  static_assert(N % kWidth<T> == 0);
  using Vector = detail::Vector<T>;
  if (piece.count() == N && Vector::can_be_at(data + start)) {
    auto* const vectors = reinterpret_cast<Vector*>(data + start);
#pragma unroll
    for (int j = 0; j < N; j += kWidth<T>) {
      Vector part;
#pragma unroll
      for (int k = 0; k < kWidth<T>; ++k) part.values[k] = convert<T>(values[j + k]);
      vectors[j / kWidth<T>] = part;
    }
    return;
  }
#pragma unroll
  for (int j = 0; j < N; ++j) {
    if (piece.has(j)) data[start + j] = convert<T>(values[j]);
  }
}

/// The pieces of [begin, end) of a row of `n` elements that a thread takes, those that lie on
/// boundaries of 16 bytes in the first operand: in registers where they fit, else read again each
/// time.
template <class Op>
class RowPieces {
  using T = typename Op::Element;
  using V = typename Op::Value;
  static constexpr int kN = kWidth<T>, kPieces = kKept / kN;

 public:
  __device__ RowPieces(const Op& op, int64_t row, int64_t n, int64_t begin, int64_t end)
      : op_(op), row_(row), row_start_(row * n), begin_(begin), end_(end) {
    const auto address = reinterpret_cast<uintptr_t>(op.operands[0] + row_start_ + begin);
    shift_ = static_cast<int>(address % sizeof(detail::Vector<T>) / sizeof(T));
    count_ = begin < end ? (end - begin + shift_ + kN - 1) / kN : 0;
    kept_ = count_ <= int64_t{blockDim.x} * kPieces;
    if (!kept_) return;
#pragma unroll
    for (int k = 0; k < kPieces; ++k) {
      const int64_t i = threadIdx.x + int64_t{k} * blockDim.x;
      if (i < count_) load(piece(i), values_[k]);
    }
  }

  /// f(piece, values of the operands) for each.
  template <class F>
  __device__ __forceinline__ void each(F f) const {
    if (kept_) {
#pragma unroll
      for (int k = 0; k < kPieces; ++k) {
        const int64_t i = threadIdx.x + int64_t{k} * blockDim.x;
        if (i < count_) f(piece(i), values_[k]);
      }
      return;
    }
    for (int64_t i = threadIdx.x; i < count_; i += blockDim.x) {
      const Piece p = piece(i);
      V values[Op::kOperands][kN];
      load(p, values);
      f(p, values);
    }
  }

 private:
  __device__ __forceinline__ Piece piece(int64_t i) const {
    const int64_t first = begin_ - shift_ + i * kN;
    return {row_, first, row_start_ + first, i == 0 ? shift_ : 0,
            static_cast<int>(min(int64_t{kN}, end_ - first))};
  }
  __device__ __forceinline__ void load(const Piece& p, V (&values)[Op::kOperands][kN]) const {
#pragma unroll
    for (int k = 0; k < Op::kOperands; ++k)
      load_piece(op_.operands[k], p.start, p, values[k], Op::absent());
  }

  const Op& op_;
  int64_t row_, row_start_, begin_, end_, count_;
  int shift_;
  bool kept_;
  V values_[kPieces][Op::kOperands][kN];
};

/// How rows are shared out: `parts` blocks take `per_part` elements, or fewer, of a row each.
struct RowLaunch {
  dim3 block;
  int64_t parts, per_part;

  RowLaunch(int64_t rows, int64_t n, DeviceIndex device) {
    block.x = 1;
    while (block.x < kBlock && int64_t{block.x} * kKept < n) block.x *= 2;
    block.y = kBlock / block.x;
    constexpr int64_t kWorthABlock = int64_t{4} * kBlock * kKept;
    const int64_t wanted =
        int64_t{device_properties(device).multiprocessors} * 4 / std::max<int64_t>(rows, 1);
    parts = std::clamp<int64_t>(std::min(wanted, n / kWorthABlock), 1, 1024);
    // Parts begin where pieces do.
    per_part = ((n + parts - 1) / parts + kKept - 1) / kKept * kKept;
  }
};

template <class Op>
__device__ __forceinline__ auto combine_in_row(const Op& op, const typename Op::Acc& acc) {
  using Acc = typename Op::Acc;
  return combine_row(acc, [&op](const Acc& a, const Acc& b) { return op.combine(a, b); });
}

/// blockDim.x threads, a power of two, on each row, and blockDim.y rows in a block.
template <class Op>
__global__ void __launch_bounds__(kBlock)
    whole_rows_kernel(const __grid_constant__ Op op, int64_t rows, int64_t n) {
  // All threads of a block make the same number of turns, so that they may meet at barriers.
  for (int64_t base = int64_t{blockIdx.x} * blockDim.y; base < rows;
       base += int64_t{gridDim.x} * blockDim.y) {
    const int64_t row = base + threadIdx.y;
    const RowPieces<Op> pieces(op, row, n, 0, row < rows ? n : 0);
    auto acc = op.identity();
    pieces.each([&](const Piece& p, const auto& values) { op.add(acc, p, values); });
    const auto total = op.total(combine_in_row(op, acc));
    pieces.each([&](const Piece& p, const auto& values) { op.write(total, p, values); });
    if (threadIdx.x == 0 && row < rows) op.finish(total, row);
  }
}

/// partial[row * parts + part] of `items` = rows * parts; a block takes a part at a time.
template <class Op>
__global__ void __launch_bounds__(kBlock)
    row_parts_kernel(const __grid_constant__ Op op, typename Op::Acc* partial, int64_t items,
                     int64_t n, int64_t parts, int64_t per_part) {
  for (int64_t item = blockIdx.x; item < items; item += gridDim.x) {
    const int64_t row = item / parts, begin = (item - row * parts) * per_part;
    const RowPieces<Op> pieces(op, row, n, begin, min(begin + per_part, n));
    auto acc = op.identity();
    pieces.each([&](const Piece& p, const auto& values) { op.add(acc, p, values); });
    acc = combine_in_row(op, acc);
    if (threadIdx.x == 0) partial[item] = acc;
  }
}

template <class Op>
__global__ void __launch_bounds__(kBlock)
    finish_rows_kernel(const __grid_constant__ Op op, const typename Op::Acc* partial,
                       int64_t items, int64_t n, int64_t parts, int64_t per_part) {
  for (int64_t item = blockIdx.x; item < items; item += gridDim.x) {
    const int64_t row = item / parts, part = item - row * parts, begin = part * per_part;
    auto acc = op.identity();
    for (int64_t p = threadIdx.x; p < parts; p += kBlock)
      acc = op.combine(acc, partial[row * parts + p]);
    const auto total = op.total(combine_in_row(op, acc));
    const RowPieces<Op> pieces(op, row, n, begin, min(begin + per_part, n));
    pieces.each([&](const Piece& p, const auto& values) { op.write(total, p, values); });
    if (threadIdx.x == 0 && part == 0) op.finish(total, row);
  }
}

/// Runs the operator on `rows` rows of `n` elements.
template <class Op>
void run_rows(const Op& op, int64_t rows, int64_t n, const LaunchScope& scope) {
  const DeviceIndex device = scope.stream().device_index();
  const RowLaunch shape(rows, n, device);
  if (shape.parts == 1) {
    launch(whole_rows_kernel<Op>, blocks_for(rows, shape.block.y), shape.block, 0, scope, op, rows,
           n);
    return;
  }
  const int64_t items = rows * shape.parts;
  const Workspace partial(static_cast<size_t>(items) * sizeof(typename Op::Acc), device);
  const unsigned grid = blocks_for(items, 1);
  launch(row_parts_kernel<Op>, grid, kBlock, 0, scope, op, partial.as<typename Op::Acc>(), items, n,
         shape.parts, shape.per_part);
  launch(finish_rows_kernel<Op>, grid, kBlock, 0, scope, op, partial.as<const typename Op::Acc>(),
         items, n, shape.parts, shape.per_part);
}

}  // namespace tenon::cuda
