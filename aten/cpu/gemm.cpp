#include "aten/cpu/gemm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/cpu/gemm.cpp"
#include "aten/core/simd_targets.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "aten/core/allocator.h"
#include "aten/core/parallel.h"
#include "aten/cpu/gemm_tile-inl.h"
#include "aten/cpu/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::native::HWY_NAMESPACE {

// A column panel of b (kDepth x one tile) stays in L1, a block of a (kBlockRows x kDepth) in L2, a
// block of b in L3.
inline constexpr int64_t kDepth = 256;
inline constexpr int64_t kBlockRows = kTileRows * 24;
inline constexpr int64_t kBlockColumns = 2048;
inline constexpr int64_t kTiny = 16;

template <class T>
class Buffer {
 public:
  explicit Buffer(int64_t count) : bytes_(count * sizeof(T)), data_(memory::allocate(bytes_)) {}
  ~Buffer() { memory::deallocate(data_, bytes_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  T* get() const { return static_cast<T*>(data_); }

 private:
  size_t bytes_;
  void* data_;
};

/// to[p * width + i] = from[i * step + p * depth_step] for i < count, zero up to `width`.
template <class T>
void pack(T* HWY_RESTRICT to, int width, const T* HWY_RESTRICT from, int64_t step,
          int64_t depth_step, int count, int64_t depth) {
  // Eight streams at a time: more, at a stride of a power of two, would not fit in a set of the
  // cache.
  constexpr int kGroup = 8;
  int i = 0;
  if (step == 1 && count == kTileColumns<T> && width == count) {  // the common case, without calls
    const Tag<T> d;
    for (int64_t p = 0; p < depth; ++p, to += width, from += depth_step) {
#pragma GCC unroll 2
      for (int v = 0; v < kTileVectors; ++v)
        hn::StoreU(hn::LoadU(d, from + v * kLanes<T>), d, to + v * kLanes<T>);
    }
    return;
  }
  if (step == 1) {
    for (int64_t p = 0; p < depth; ++p) {
      std::memcpy(to + p * width, from + p * depth_step, count * sizeof(T));
    }
    i = count;
  }
#if HWY_TARGET != HWY_SCALAR
  if (depth_step == 1) {
    constexpr int kN = 16 / sizeof(T);
    for (; i + kN <= count; i += kN) transpose(to + i, width, from + i * step, step, depth);
  }
#endif
  for (; i + kGroup <= count; i += kGroup) {
    const T* f = from + i * step;
    T* t = to + i;
    for (int64_t p = 0; p < depth; ++p, f += depth_step, t += width) {
#pragma GCC unroll 8
      for (int g = 0; g < kGroup; ++g) t[g] = f[g * step];
    }
  }
  if (i < count) {
    const T* f = from + i * step;
    T* t = to + i;
    for (int64_t p = 0; p < depth; ++p, f += depth_step, t += width) {
      for (int g = 0; g < count - i; ++g) t[g] = f[g * step];
    }
  }
  if (count < width) {
    for (int64_t p = 0; p < depth; ++p) {
      std::memset(to + p * width + count, 0, (width - count) * sizeof(T));
    }
  }
}

/// Every dimension at most kTiny: no packing of a, no blocks.
template <class T>
void gemm_tiny(const GemmProblem<T>& g) {
  const Tag<T> d;
  constexpr int kN = kLanes<T>;
  constexpr int kWidth = kTiny < kN ? kN : kTiny;
  HWY_ALIGN T b[kTiny * kWidth];
  const int n = static_cast<int>(g.n), k = static_cast<int>(g.k);
  const int width = (n + kN - 1) / kN * kN;
  if (g.b_col == 1) {
    for (int p = 0; p < k; ++p) {
      const T* from = g.b + p * g.b_row;
      int j = 0;
      for (; j + kN <= n; j += kN) hn::Store(hn::LoadU(d, from + j), d, b + p * width + j);
      if (j < n) hn::Store(load_first(from + j, n - j), d, b + p * width + j);
    }
  } else {
    for (int p = 0; p < k; ++p) {
      T* to = b + p * width;
      const T* from = g.b + p * g.b_row;
      for (int j = 0; j < n; ++j) to[j] = from[j * g.b_col];
      for (int j = n; j < width; ++j) to[j] = 0;
    }
  }
  const Vector<T> alpha = hn::Set(d, g.alpha), beta = hn::Set(d, g.beta);
  for (int64_t i = 0; i < g.m; ++i) {
    const T* a = g.a + i * g.a_row;
    T* out = g.out + i * g.out_row;
    for (int j = 0; j < n; j += kN) {
      Vector<T> even = hn::Zero(d), odd = hn::Zero(d);
      int p = 0;
      for (; p + 1 < k; p += 2) {
        even = hn::MulAdd(hn::Set(d, a[p * g.a_col]), hn::Load(d, b + p * width + j), even);
        odd =
            hn::MulAdd(hn::Set(d, a[(p + 1) * g.a_col]), hn::Load(d, b + (p + 1) * width + j), odd);
      }
      if (p < k)
        even = hn::MulAdd(hn::Set(d, a[p * g.a_col]), hn::Load(d, b + p * width + j), even);
      Vector<T> r = hn::Mul(hn::Add(even, odd), alpha);
      const int count = n - j;
      if (g.row_bias) r = hn::Add(r, hn::Set(d, g.row_bias[i]));
      if (count >= kN) {
        if (g.beta != 0) r = hn::MulAdd(beta, hn::LoadU(d, out + j), r);
        if (g.bias) r = hn::Add(r, hn::LoadU(d, g.bias + j));
        hn::StoreU(r, d, out + j);
      } else {
        if (g.beta != 0) r = hn::MulAdd(beta, load_first(out + j, count), r);
        if (g.bias) r = hn::Add(r, load_first(g.bias + j, count));
        store_first(r, out + j, count);
      }
    }
  }
}

template <class T>
HWY_INLINE void put(const GemmProblem<T>& g, int64_t i, int64_t j, T sum) {
  T& out = g.out[i * g.out_row + j];
  T r = g.alpha * sum;
  if (g.beta != 0) r += g.beta * out;
  if (g.bias) r += g.bias[j];
  if (g.row_bias) r += g.row_bias[i];
  out = r;
}

template <int kRows, int kColumns, class T>
HWY_INLINE void dot_block(const GemmProblem<T>& g, int64_t i, int64_t j) {
  T sums[kRows][kColumns];
  dot_tile<kRows, kColumns, T>(g.k, g.a + i * g.a_row, g.a_row, g.b + j * g.b_col, g.b_col, sums);
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kColumns; ++c) put(g, i + r, j + c, sums[r][c]);
  }
}

/// Few rows of a, b transposed: dot products read each element of b about m / 4 times, without
/// packing.
template <class T>
void gemm_dots(const GemmProblem<T>& g) {
  constexpr int kRows = HWY_MAX_BYTES >= 64 ? 4 : 2;
  int64_t j = 0;
  for (; j + 4 <= g.n; j += 4) {
    int64_t i = 0;
    for (; i + kRows <= g.m; i += kRows) dot_block<kRows, 4>(g, i, j);
    for (; i < g.m; ++i) dot_block<1, 4>(g, i, j);
  }
  for (; j < g.n; ++j) {
    int64_t i = 0;
    for (; i + 4 <= g.m; i += 4) dot_block<4, 1>(g, i, j);
    for (; i < g.m; ++i) dot_block<1, 1>(g, i, j);
  }
}

/// One row of a times b with contiguous rows: reads b once, in order.
template <class T>
void gemm_row(const GemmProblem<T>& g) {
  const Tag<T> d;
  constexpr int kN = kLanes<T>;
  constexpr int64_t kStrip = 2048;  // columns whose sums stay in L1
  HWY_ALIGN T sums[kStrip];
  for (int64_t start = 0; start < g.n; start += kStrip) {
    const int64_t width = std::min(kStrip, g.n - start);
    std::memset(sums, 0, width * sizeof(T));
    int64_t p = 0;
    for (; p + 4 <= g.k; p += 4) {
      const T* b0 = g.b + p * g.b_row + start;
      const T *b1 = b0 + g.b_row, *b2 = b1 + g.b_row, *b3 = b2 + g.b_row;
      const T x0 = g.a[p * g.a_col], x1 = g.a[(p + 1) * g.a_col];
      const T x2 = g.a[(p + 2) * g.a_col], x3 = g.a[(p + 3) * g.a_col];
      const Vector<T> v0 = hn::Set(d, x0), v1 = hn::Set(d, x1);
      const Vector<T> v2 = hn::Set(d, x2), v3 = hn::Set(d, x3);
      int64_t j = 0;
      for (; j + kN <= width; j += kN) {
        Vector<T> s = hn::MulAdd(v0, hn::LoadU(d, b0 + j), hn::Load(d, sums + j));
        s = hn::MulAdd(v1, hn::LoadU(d, b1 + j), s);
        s = hn::MulAdd(v2, hn::LoadU(d, b2 + j), s);
        hn::Store(hn::MulAdd(v3, hn::LoadU(d, b3 + j), s), d, sums + j);
      }
      for (; j < width; ++j) sums[j] += x0 * b0[j] + x1 * b1[j] + x2 * b2[j] + x3 * b3[j];
    }
    for (; p < g.k; ++p) {
      const T* b0 = g.b + p * g.b_row + start;
      const T x0 = g.a[p * g.a_col];
      for (int64_t j = 0; j < width; ++j) sums[j] += x0 * b0[j];
    }
    for (int64_t j = 0; j < width; ++j) put(g, 0, start + j, sums[j]);
  }
}

/// The even height of tiles that cover m rows with the least work: rows, and what a tile costs
/// besides, about two more.
int tile_height(int64_t m) {
  int best = 0;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (int height = kTileRows; height > 0; height -= 2) {
    const int64_t work = (m + height - 1) / height * (height + 2);
    if (work < least) best = height, least = work;
  }
  return best;
}

template <class T>
void gemm_blocked(const GemmProblem<T>& g) {
  constexpr int kColumns = kTileColumns<T>;
  const int height = tile_height(g.m);
  const int64_t block_rows = kBlockRows / height * height;
  // Rows of b that lie contiguous are read in place where few rows of a make packing dear.
  const bool direct = g.b_col == 1 && g.m <= 4 * kTileRows && g.b_row <= 4096;
  const int64_t depth = std::clamp<int64_t>(g.k, 1, kDepth);
  const int64_t columns = std::min((g.n + kColumns - 1) / kColumns * kColumns, kBlockColumns);
  Buffer<T> a_block((std::min(block_rows, g.m) + height) * depth);
  Buffer<T> b_block((direct ? kColumns : columns) * depth);
  for (int64_t jc = 0; jc < g.n; jc += kBlockColumns) {
    const int64_t width = std::min(kBlockColumns, g.n - jc);
    for (int64_t pc = 0; pc == 0 || pc < g.k; pc += kDepth) {  // once for k = 0, which writes zeros
      const int64_t k = std::min(kDepth, g.k - pc);
      const T* b = g.b + pc * g.b_row + jc * g.b_col;
      const int64_t full = direct ? width / kColumns * kColumns : 0;  // columns read in place
      for (int64_t j = full; j < width; j += kColumns) {
        const int count = static_cast<int>(std::min<int64_t>(kColumns, width - j));
        const int padded = count <= kLanes<T> ? kLanes<T> : kColumns;
        pack(b_block.get() + (j - full) * k, padded, b + j * g.b_col, g.b_col, g.b_row, count, k);
      }
      const bool first = pc == 0;
      for (int64_t ic = 0; ic < g.m; ic += block_rows) {
        const int64_t rows = std::min(block_rows, g.m - ic);
        for (int64_t i = 0; i < rows; i += height) {
          pack(a_block.get() + i * k, height, g.a + (ic + i) * g.a_row + pc * g.a_col, g.a_row,
               g.a_col, static_cast<int>(std::min<int64_t>(height, rows - i)), k);
        }
        for (int64_t j = 0; j < width; j += kColumns) {
          const int count = static_cast<int>(std::min<int64_t>(kColumns, width - j));
          const int vectors = count <= kLanes<T> ? 1 : 2;
          const TileFunction<T> f = tile_function<T>(height, vectors);
          const bool in_place = j < full;
          const T* panel = in_place ? b + j : b_block.get() + (j - full) * k;
          const int64_t panel_row = in_place ? g.b_row : vectors * kLanes<T>;
          for (int64_t i = 0; i < rows; i += height) {
            const TileOut<T> to{g.out + (ic + i) * g.out_row + jc + j,
                                g.out_row,
                                static_cast<int>(std::min<int64_t>(height, rows - i)),
                                count,
                                g.alpha,
                                first ? g.beta : T(1),
                                first && g.bias ? g.bias + jc + j : nullptr,
                                first && g.row_bias ? g.row_bias + ic + i : nullptr};
            f(k, a_block.get() + i * k, panel, panel_row, to);
          }
        }
      }
    }
  }
}

template <class T>
void gemm_serial(const GemmProblem<T>& g) {
  if (g.m <= kTiny && g.n <= kTiny && g.k <= kTiny) return gemm_tiny(g);
  if (g.b_row == 1 && g.a_col == 1 && g.m <= 3 * kTiny) return gemm_dots(g);
  if (g.m == 1 && g.b_col == 1) return gemm_row(g);
  gemm_blocked(g);
}

template <class T>
T dot_serial(int64_t n, const T* a, const T* b) {
  const Tag<T> d;
  constexpr int kN = kLanes<T>;
  Vector<T> acc[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  int64_t i = 0;
  for (; i + 4 * kN <= n; i += 4 * kN) {
#pragma GCC unroll 4
    for (int u = 0; u < 4; ++u) {
      acc[u] = hn::MulAdd(hn::LoadU(d, a + i + u * kN), hn::LoadU(d, b + i + u * kN), acc[u]);
    }
  }
  for (; i + kN <= n; i += kN)
    acc[0] = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), acc[0]);
  if (i < n) acc[1] = hn::MulAdd(load_first(a + i, n - i), load_first(b + i, n - i), acc[1]);
  const auto sum = hn::Add(hn::Add(acc[0], acc[1]), hn::Add(acc[2], acc[3]));
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

void gemm_float(const GemmProblem<float>& g) { gemm_serial(g); }
void gemm_double(const GemmProblem<double>& g) { gemm_serial(g); }
float dot_float(int64_t n, const float* a, const float* b) { return dot_serial(n, a, b); }
double dot_double(int64_t n, const double* a, const double* b) { return dot_serial(n, a, b); }

}  // namespace tenon::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::native {
namespace {

HWY_EXPORT(gemm_float);
HWY_EXPORT(gemm_double);
HWY_EXPORT(dot_float);
HWY_EXPORT(dot_double);

void run_serial(const GemmProblem<float>& g) { HWY_DYNAMIC_DISPATCH(gemm_float)(g); }
void run_serial(const GemmProblem<double>& g) { HWY_DYNAMIC_DISPATCH(gemm_double)(g); }
float run_dot(int64_t n, const float* a, const float* b) {
  return HWY_DYNAMIC_DISPATCH(dot_float)(n, a, b);
}
double run_dot(int64_t n, const double* a, const double* b) {
  return HWY_DYNAMIC_DISPATCH(dot_double)(n, a, b);
}

// Below this many multiplications a second thread costs more than it saves.
constexpr int64_t kParallelWork = int64_t{1} << 18;

/// A grid of row and column ranges, one cell per thread, as square as the result allows.
template <class T>
void run(const GemmProblem<T>& g) {
  const int64_t work = g.m * g.n * g.k;
  const int64_t threads = work < 2 * kParallelWork || in_parallel_region()
                              ? 1
                              : std::min<int64_t>(get_num_threads(), work / kParallelWork);
  if (threads == 1) return run_serial(g);
  int64_t best_rows = 1;
  double best_cost = 1e300;
  for (int64_t rows = 1; rows <= threads; ++rows) {
    if (threads % rows != 0) continue;
    const double cost = static_cast<double>(g.m) / rows + static_cast<double>(g.n) * rows / threads;
    if (cost < best_cost) {
      best_cost = cost;
      best_rows = rows;
    }
  }
  const int64_t best_columns = threads / best_rows;
  const auto cut = [](int64_t size, int64_t parts, int64_t part) {
    return part == parts ? size : size * part / parts / 16 * 16;
  };
  parallel_for(0, threads, 1, [&](int64_t begin, int64_t end) {
    for (int64_t cell = begin; cell < end; ++cell) {
      const int64_t r = cell % best_rows, c = cell / best_rows;
      const int64_t row = cut(g.m, best_rows, r), rows = cut(g.m, best_rows, r + 1) - row;
      const int64_t column = cut(g.n, best_columns, c),
                    columns = cut(g.n, best_columns, c + 1) - column;
      if (rows > 0 && columns > 0) run_serial(g.part(row, rows, column, columns));
    }
  });
}

}  // namespace

template <class T>
void gemm(int64_t m, int64_t n, int64_t k, T alpha, Matrix<const T> a, Matrix<const T> b, T beta,
          Matrix<T> out, const T* bias) {
  if (m == 0 || n == 0) return;
  GemmProblem<T> g{m,     n,     k,    alpha,    a.data,  a.row, a.col,  b.data,
                   b.row, b.col, beta, out.data, out.row, bias,  nullptr};
  // A result that is one row or column can be read either way: prefer the one whose rows are
  // contiguous.
  const bool by_rows = out.col == 1 || n == 1;
  const bool transpose = by_rows ? (n == 1 && (out.row == 1 || m == 1)) : true;
  if (transpose) {
    g = {n,     m,     k,    alpha,    b.data,  b.col,   b.row, a.data,
         a.col, a.row, beta, out.data, out.col, nullptr, bias};
  }
  run(g);
}

template <class T>
T dot_product(int64_t n, const T* a, int64_t a_step, const T* b, int64_t b_step) {
  if (a_step == 1 && b_step == 1) return run_dot(n, a, b);
  T sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += a[i * a_step] * b[i * b_step];
  return sum;
}

template void gemm<float>(int64_t, int64_t, int64_t, float, Matrix<const float>,
                          Matrix<const float>, float, Matrix<float>, const float*);
template void gemm<double>(int64_t, int64_t, int64_t, double, Matrix<const double>,
                           Matrix<const double>, double, Matrix<double>, const double*);
template float dot_product<float>(int64_t, const float*, int64_t, const float*, int64_t);
template double dot_product<double>(int64_t, const double*, int64_t, const double*, int64_t);

}  // namespace tenon::native
#endif
