#if defined(TENON_ATEN_CPU_GEMM_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_ATEN_CPU_GEMM_TILE_INL_H_
#undef TENON_ATEN_CPU_GEMM_TILE_INL_H_
#else
#define TENON_ATEN_CPU_GEMM_TILE_INL_H_
#endif

// The innermost loops of the matrix product. Included once per Highway target.

#include <hwy/highway.h>

#include <algorithm>

#include "aten/cpu/gemm_problem.h"
#include "aten/cpu/vec/part-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::native::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Tag = hn::ScalableTag<T>;
template <class T>
using Vector = hn::Vec<Tag<T>>;

template <class T>
inline constexpr int kLanes = static_cast<int>(HWY_MAX_BYTES / sizeof(T));
// Rows of a tile, such that with two vectors per row all but a few registers accumulate.
inline constexpr int kTileRows = HWY_MAX_BYTES >= 64 ? 14 : 6;
inline constexpr int kTileVectors = 2;
template <class T>
inline constexpr int kTileColumns = kTileVectors* kLanes<T>;

/// The first `count` lanes from p; the others are zero.
template <class T>
HWY_INLINE Vector<T> load_first(const T* p, int64_t count) {
  return load_part(Tag<T>(), p, static_cast<size_t>(count), T(0));
}

template <class T>
HWY_INLINE void store_first(Vector<T> v, T* p, int64_t count) {
  store_part(v, Tag<T>(), p, static_cast<size_t>(count));
}

/// One result tile's place and epilogue: out = alpha * product + beta * out + bias.
template <class T>
struct TileOut {
  T* out;
  int64_t out_row;
  int rows;
  int columns;
  T alpha;
  T beta;
  const T* bias;      ///< per column, or null
  const T* row_bias;  ///< per row, or null
};

template <class T>
HWY_INLINE Vector<T> finish(Vector<T> sum, Vector<T> alpha, T beta, const T* out) {
  const Tag<T> d;
  sum = hn::Mul(sum, alpha);
  return beta == 0 ? sum : hn::MulAdd(hn::Set(d, beta), hn::LoadU(d, out), sum);
}

/// kRows x kVectors vectors of the product of a panel of `a` ([k][kRows]) and rows of `b`.
template <int kRows, int kVectors, class T>
HWY_NOINLINE void tile(int64_t k, const T* HWY_RESTRICT a, const T* HWY_RESTRICT b, int64_t b_row,
                       const TileOut<T>& to) {
  const Tag<T> d;
  constexpr int kN = kLanes<T>;
  Vector<T> acc[kRows][kVectors];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) acc[i][v] = hn::Zero(d);
  }
  for (int64_t p = 0; p < k; ++p) {
    Vector<T> bv[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) bv[v] = hn::LoadU(d, b + v * kN);
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      const Vector<T> av = hn::Set(d, a[i]);
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) acc[i][v] = hn::MulAdd(av, bv[v], acc[i][v]);
    }
    a += kRows;
    b += b_row;
  }
  const Vector<T> alpha = hn::Set(d, to.alpha);
  if (HWY_LIKELY(to.rows == kRows && to.columns == kVectors * kN)) {
    const Vector<T> zero = hn::Zero(d);
    Vector<T> bias[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) bias[v] = to.bias ? hn::LoadU(d, to.bias + v * kN) : zero;
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      T* out = to.out + i * to.out_row;
      const Vector<T> row_bias = to.row_bias ? hn::Set(d, to.row_bias[i]) : zero;
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        const Vector<T> r = finish<T>(acc[i][v], alpha, to.beta, out + v * kN);
        hn::StoreU(hn::Add(r, hn::Add(bias[v], row_bias)), d, out + v * kN);
      }
    }
    return;
  }
  HWY_ALIGN T buffer[kRows * kVectors * kN];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      hn::Store(hn::Mul(acc[i][v], alpha), d, buffer + (i * kVectors + v) * kN);
    }
  }
  for (int v = 0; v * kN < to.columns; ++v) {
    const int64_t count = std::min(kN, to.columns - v * kN);
    const Vector<T> bias = to.bias ? load_first(to.bias + v * kN, count) : hn::Zero(d);
    for (int i = 0; i < to.rows; ++i) {
      T* out = to.out + i * to.out_row + v * kN;
      Vector<T> r = hn::Add(hn::Load(d, buffer + (i * kVectors + v) * kN), bias);
      if (to.row_bias) r = hn::Add(r, hn::Set(d, to.row_bias[i]));
      if (to.beta != 0) r = hn::MulAdd(hn::Set(d, to.beta), load_first(out, count), r);
      store_first(r, out, count);
    }
  }
}

template <class T>
using TileFunction = void (*)(int64_t, const T*, const T*, int64_t, const TileOut<T>&);

/// The tile of `rows` (even, at most kTileRows) and `vectors`.
template <class T>
HWY_INLINE TileFunction<T> tile_function(int rows, int vectors) {
#define TENON_TILE(R) \
  { tile<R, 1, T>, tile<R, 2, T> }
#if HWY_MAX_BYTES >= 64
  static constexpr TileFunction<T> kTable[][2] = {TENON_TILE(2), TENON_TILE(4),  TENON_TILE(6),
                                                  TENON_TILE(8), TENON_TILE(10), TENON_TILE(12),
                                                  TENON_TILE(14)};
#else
  static constexpr TileFunction<T> kTable[][2] = {TENON_TILE(2), TENON_TILE(4), TENON_TILE(6)};
#endif
#undef TENON_TILE
  return kTable[rows / 2 - 1][vectors - 1];
}

/// kRows x kColumns dot products of rows of `a` and rows of `b_t`, all with unit stride along k.
template <int kRows, int kColumns, class T>
HWY_INLINE void dot_tile(int64_t k, const T* a, int64_t a_row, const T* b_t, int64_t b_row,
                         T (&sums)[kRows][kColumns]) {
  const Tag<T> d;
  constexpr int kN = kLanes<T>;
  Vector<T> acc[kRows][kColumns];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kColumns; ++j) acc[i][j] = hn::Zero(d);
  }
  int64_t p = 0;
  for (; p + kN <= k; p += kN) {
    Vector<T> av[kRows];
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) av[i] = hn::LoadU(d, a + i * a_row + p);
#pragma GCC unroll 8
    for (int j = 0; j < kColumns; ++j) {
      const Vector<T> bv = hn::LoadU(d, b_t + j * b_row + p);
#pragma GCC unroll 8
      for (int i = 0; i < kRows; ++i) acc[i][j] = hn::MulAdd(av[i], bv, acc[i][j]);
    }
  }
  if (p < k) {
    Vector<T> av[kRows];
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) av[i] = load_first(a + i * a_row + p, k - p);
#pragma GCC unroll 8
    for (int j = 0; j < kColumns; ++j) {
      const Vector<T> bv = load_first(b_t + j * b_row + p, k - p);
#pragma GCC unroll 8
      for (int i = 0; i < kRows; ++i) acc[i][j] = hn::MulAdd(av[i], bv, acc[i][j]);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kColumns; ++j) sums[i][j] = hn::GetLane(hn::SumOfLanes(d, acc[i][j]));
  }
}

}  // namespace tenon::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
