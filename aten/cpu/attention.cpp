#include "aten/cpu/attention.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/cpu/attention.cpp"
#include "aten/core/simd_targets.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "aten/core/allocator.h"
#include "aten/core/parallel.h"
#include "aten/cpu/gemm_tile-inl.h"
#include "aten/cpu/transpose-inl.h"
#include "aten/cpu/vec/math_exp-inl.h"

// Scores are computed transposed, [key, row]: a lane is a row of the query, so that the maximum,
// the sum and the rescaling of softmax need no steps across lanes, and keys and values are read as
// they lie in memory, one broadcast element at a time.
//
//                 row →                                row →
//        key   K Q^T  = S^T, P^T          element   V^T P^T = O^T
//         ↓                                  ↓

HWY_BEFORE_NAMESPACE();
namespace tenon::native::HWY_NAMESPACE {

// Keys that are taken at a time: their scores, and what is read of key and value, stay in L1.
inline constexpr int64_t kForwardKeys = kTileRows * 8;
inline constexpr int64_t kBackwardKeys = kTileRows * 4;
// Panels of two vectors of rows for which a block of keys is read once from a cache behind L1.
inline constexpr int64_t kForwardPanels = 4;
inline constexpr int64_t kBackwardPanels = 2;

/// The memory of one thread, in which it places its tiles.
template <class T>
class Scratch {
 public:
  explicit Scratch(int64_t count)
      : bytes_(static_cast<size_t>(count) * sizeof(T)),
        data_(static_cast<T*>(memory::allocate(bytes_))) {}
  ~Scratch() { memory::deallocate(data_, bytes_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  T* take(int64_t count) {
    T* taken = data_ + used_;
    used_ += count;
    return taken;
  }

 private:
  size_t bytes_;
  T* data_;
  int64_t used_ = 0;
};

/// A left factor: element (i, p) is data[i * step + p] if kAlong, otherwise data[i + p * step].
template <bool kAlong, class T>
struct Left {
  const T* data;
  int64_t step;

  const T* row(int64_t i) const { return data + (kAlong ? i * step : i); }
};

/// kRows x kVectors vectors of left times right, the rows of which lie right_row apart.
template <int kRows, int kVectors, bool kAlong, class T>
HWY_NOINLINE void product(int64_t k, const T* HWY_RESTRICT left, int64_t step,
                          const T* HWY_RESTRICT right, int64_t right_row, T* HWY_RESTRICT out,
                          int64_t out_row, bool add) {
  const Tag<T> d;
  constexpr int kN = kLanes<T>;
  Vector<T> acc[kRows][kVectors];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v)
      acc[i][v] = add ? hn::LoadU(d, out + i * out_row + v * kN) : hn::Zero(d);
  }
  const int64_t step3 = 3 * step;  // with it, five rows have addresses from one base
  for (int64_t p = 0; p < k; ++p) {
    Vector<T> b[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) b[v] = hn::LoadU(d, right + v * kN);
    const T* base = left;
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      const T* at = left + i;
      if constexpr (kAlong) {
        if (i > 0 && i % 5 == 0) base += 4 * step + step;
        const int r = i % 5;
        at = base + (r == 0 ? 0 : r == 3 ? step3 : r * step);
      }
      const Vector<T> a = hn::Set(d, *at);
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) acc[i][v] = hn::MulAdd(a, b[v], acc[i][v]);
    }
    left += kAlong ? 1 : step;
    right += right_row;
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) hn::StoreU(acc[i][v], d, out + i * out_row + v * kN);
  }
}

/// As many tiles of kRows as there is room for, from row i on.
template <int kRows, int kVectors, bool kAlong, class T>
HWY_INLINE void tiles_of(int64_t& i, int64_t m, int64_t k, Left<kAlong, T> left, const T* right,
                         int64_t right_row, T* out, int64_t out_row, bool add) {
  for (; i + kRows <= m; i += kRows) {
    product<kRows, kVectors, kAlong, T>(k, left.row(i), left.step, right, right_row,
                                        out + i * out_row, out_row, add);
  }
}

template <int kVectors, bool kAlong, class T>
void panel(int64_t m, int64_t k, Left<kAlong, T> left, const T* right, int64_t right_row, T* out,
           int64_t out_row, bool add) {
  int64_t i = 0;
  tiles_of<kTileRows, kVectors>(i, m, k, left, right, right_row, out, out_row, add);
  if constexpr (kTileRows > 8)
    tiles_of<8, kVectors>(i, m, k, left, right, right_row, out, out_row, add);
  tiles_of<4, kVectors>(i, m, k, left, right, right_row, out, out_row, add);
  tiles_of<2, kVectors>(i, m, k, left, right, right_row, out, out_row, add);
  tiles_of<1, kVectors>(i, m, k, left, right, right_row, out, out_row, add);
}

/// out [m, n] = left [m, k] times right [k, n], plus out if `add`; n is whole vectors.
template <bool kAlong, class T>
void multiply(int64_t m, int64_t n, int64_t k, Left<kAlong, T> left, const T* right,
              int64_t right_row, T* out, int64_t out_row, bool add) {
  constexpr int64_t kN = kLanes<T>;
  int64_t j = 0;
  for (; j + 2 * kN <= n; j += 2 * kN)
    panel<2>(m, k, left, right + j, right_row, out + j, out_row, add);
  if (j < n) panel<1>(m, k, left, right + j, right_row, out + j, out_row, add);
}

template <class T>
int64_t whole_vectors(int64_t n) {
  return (n + kLanes<T> - 1) / kLanes<T> * kLanes<T>;
}

template <class T>
void scale_all(int64_t count, T* values, T scale) {
  const Tag<T> d;
  const Vector<T> factor = hn::Set(d, scale);
  for (int64_t i = 0; i < count; i += kLanes<T>)
    hn::StoreU(hn::Mul(hn::LoadU(d, values + i), factor), d, values + i);
}

/// to [depth, width] = from [rows, depth] transposed and scaled; zero in columns without a row.
template <class T>
void load_transposed(T* to, int64_t width, const T* from, int64_t step, int64_t rows, int64_t depth,
                     T scale) {
  if (rows < width) std::fill(to, to + depth * width, T(0));
  transpose_rows(to, width, from, step, rows, depth);
  if (scale != 1) scale_all(depth * width, to, scale);
}

/// Rows with zeros up to `width`, and rows of zeros up to `all`.
template <class T>
void load_rows(T* to, int64_t width, int64_t all, const T* from, int64_t step, int64_t rows,
               int64_t depth) {
  for (int64_t r = 0; r < all; ++r, to += width) {
    const int64_t count = r < rows ? depth : 0;
    if (count > 0) std::copy_n(from + r * step, count, to);
    std::fill(to + count, to + width, T(0));
  }
}

/// Where the scores are scaled. After the product, so that it is rounded once: by the mask's
/// addition, otherwise with the distance from the maximum, which only a positive scale leaves the
/// maximum.
template <class T>
struct Scales {
  T query = 1, scores = 1, distance = 1;

  explicit Scales(const Attention<T>& a) {
    (a.mask.added ? scores : a.scale > 0 ? distance : query) = a.scale;
  }
};

/// Scores [keys, width] that a mask or the order of time changes.
template <class T>
class Masked {
 public:
  static constexpr T kNone = -std::numeric_limits<T>::infinity();

  Masked(const Attention<T>& a, T scale, T* scratch) : a_(a), scale_(scale), scratch_(scratch) {}
  static int64_t scratch_of(const Attention<T>& a, int64_t keys, int64_t width) {
    return a.mask.added ? keys * width : a.mask.seen ? 2 * keys * width : 0;
  }

  /// Scores of `keys` keys from key on, for the rows from row on.
  void apply(int64_t b, int64_t h, int64_t row, int64_t rows, int64_t key, int64_t keys, T* scores,
             int64_t width) const {
    if (a_.mask.added || a_.mask.seen) add_mask(b, h, row, rows, key, keys, scores, width);
    if (a_.causal && key + keys - 1 > row) hide_later(row, key, keys, scores, width);
  }

 private:
  void hide_later(int64_t row, int64_t key, int64_t keys, T* scores, int64_t width) const {
    const Tag<T> d;
    const Vector<T> none = hn::Set(d, kNone);
    for (int64_t c = std::max<int64_t>(0, row - key); c < keys; ++c) {
      // The row in lane `i` sees this key if row + i >= key + c.
      const Vector<T> first = hn::Set(d, static_cast<T>(key + c - row));
      for (int64_t j = 0; j < width; j += kLanes<T>) {
        T* at = scores + c * width + j;
        const auto seen = hn::Ge(hn::Iota(d, static_cast<T>(j)), first);
        hn::StoreU(hn::IfThenElse(seen, hn::LoadU(d, at), none), d, at);
      }
    }
  }

  T value(int64_t at) const {
    return a_.mask.added ? a_.mask.added[at] : a_.mask.seen[at] ? T(0) : kNone;
  }

  void add_mask(int64_t b, int64_t h, int64_t row, int64_t rows, int64_t key, int64_t keys,
                T* scores, int64_t width) const {
    const Tag<T> d;
    const AttentionMask<T>& m = a_.mask;
    const Vector<T> scale = hn::Set(d, scale_);
    const int64_t start = b * m.batch + h * m.head + row * m.row + key * m.key;
    if (m.row == 0) {
      for (int64_t c = 0; c < keys; ++c) {
        const Vector<T> added = hn::Set(d, value(start + c * m.key));
        for (int64_t j = 0; j < width; j += kLanes<T>) {
          T* at = scores + c * width + j;
          hn::StoreU(hn::MulAdd(hn::LoadU(d, at), scale, added), d, at);
        }
      }
      return;
    }
    const T* from = m.added ? m.added + start : nullptr;
    int64_t step = m.row;
    T* turned = scratch_;
    if (m.seen) {  // as numbers first: 1 is seen
      T* numbers = scratch_ + keys * width;
      for (int64_t r = 0; r < rows; ++r) {
        const auto* seen = reinterpret_cast<const uint8_t*>(m.seen + start + r * m.row);
        T* to = numbers + r * keys;
        if (m.key == 1) {
          for (int64_t c = 0; c < keys; ++c) to[c] = static_cast<T>(seen[c]);
        } else {
          for (int64_t c = 0; c < keys; ++c) to[c] = static_cast<T>(seen[c * m.key]);
        }
      }
      from = numbers;
      step = keys;
    }
    if (m.seen || m.key == 1) {
      transpose_rows(turned, width, from, step, rows, keys);
    } else {
      for (int64_t c = 0; c < keys; ++c) {
        for (int64_t r = 0; r < rows; ++r) turned[c * width + r] = from[r * m.row + c * m.key];
      }
    }
    const Vector<T> zero = hn::Zero(d), none = hn::Set(d, kNone);
    for (int64_t c = 0; c < keys; ++c) {
      if (rows < width) std::fill(turned + c * width + rows, turned + (c + 1) * width, T(0));
      for (int64_t j = c * width; j < (c + 1) * width; j += kLanes<T>) {
        const Vector<T> score = hn::LoadU(d, scores + j), mask = hn::LoadU(d, turned + j);
        const Vector<T> sum = m.seen ? hn::IfThenElse(hn::Eq(mask, zero), none, score)
                                     : hn::MulAdd(score, scale, mask);
        hn::StoreU(sum, d, scores + j);
      }
    }
  }

  const Attention<T>& a_;
  T scale_;  ///< of scores that a mask is added to
  T* scratch_;
};

/// Turns scores [keys, width] into exp(scale (score - maximum)), moves each lane's maximum and sum
/// on, and says whether what was summed before is to be multiplied by `factor`.
template <class T>
bool exponentials(int64_t keys, int64_t width, T scale, T* scores, T* largest, T* total,
                  T* factor) {
  const Tag<T> d;
  const Vector<T> slope = hn::Set(d, scale);
  constexpr int64_t kN = kLanes<T>;
  const Vector<T> none = hn::Set(d, Masked<T>::kNone);
  bool moved = false;
  for (int64_t j = 0; j < width; j += kN) {
    T* s = scores + j;
    const Vector<T> before = hn::LoadU(d, largest + j);
    Vector<T> top = before, top1 = none, top2 = none, top3 = none;
    int64_t c = 0;
    for (; c + 4 <= keys; c += 4) {
      top = hn::Max(top, hn::LoadU(d, s + c * width));
      top1 = hn::Max(top1, hn::LoadU(d, s + (c + 1) * width));
      top2 = hn::Max(top2, hn::LoadU(d, s + (c + 2) * width));
      top3 = hn::Max(top3, hn::LoadU(d, s + (c + 3) * width));
    }
    for (; c < keys; ++c) top = hn::Max(top, hn::LoadU(d, s + c * width));
    top = hn::Max(hn::Max(top, top1), hn::Max(top2, top3));
    // A row that has seen nothing has no maximum that could be subtracted.
    const Vector<T> zero = hn::Zero(d), shift = hn::IfThenElse(hn::Eq(top, none), zero, top);
    const auto weight = [&](Vector<T> score) {
      return m::exp_nonpositive(hn::Mul(slope, hn::Sub(score, shift)));
    };
    Vector<T> sum = zero, sum1 = zero;
    for (c = 0; c + 2 <= keys; c += 2) {
      T *at = s + c * width, *next = at + width;
      const Vector<T> e = weight(hn::LoadU(d, at));
      const Vector<T> e1 = weight(hn::LoadU(d, next));
      hn::StoreU(e, d, at);
      hn::StoreU(e1, d, next);
      sum = hn::Add(sum, e);
      sum1 = hn::Add(sum1, e1);
    }
    if (c < keys) {
      const Vector<T> e = weight(hn::LoadU(d, s + c * width));
      hn::StoreU(e, d, s + c * width);
      sum = hn::Add(sum, e);
    }
    const Vector<T> rescale = weight(before);
    hn::StoreU(hn::MulAdd(hn::LoadU(d, total + j), rescale, hn::Add(sum, sum1)), d, total + j);
    hn::StoreU(top, d, largest + j);
    hn::StoreU(rescale, d, factor + j);
    moved |= !hn::AllTrue(d, hn::Eq(rescale, hn::Set(d, T(1))));
  }
  return moved;
}

template <class T>
void scale_columns(int64_t depth, int64_t width, T* values, const T* factor) {
  const Tag<T> d;
  for (int64_t j = 0; j < width; j += kLanes<T>) {
    const Vector<T> f = hn::LoadU(d, factor + j);
    for (int64_t e = 0; e < depth; ++e) {
      T* at = values + e * width + j;
      hn::StoreU(hn::Mul(hn::LoadU(d, at), f), d, at);
    }
  }
}

/// sums [width] of left [depth, width] times right, in the order of `product`: of a row with the
/// weight of one key alone, dP less its mean is 0, and not what rounding leaves.
template <class T>
void sum_products(int64_t depth, int64_t width, const T* left, const T* right, T* sums) {
  const Tag<T> d;
  for (int64_t j = 0; j < width; j += kLanes<T>) {
    Vector<T> sum = hn::Zero(d);
    for (int64_t i = j; i < depth * width; i += width)
      sum = hn::MulAdd(hn::LoadU(d, left + i), hn::LoadU(d, right + i), sum);
    hn::StoreU(sum, d, sums + j);
  }
}

/// Some rows of a head against all keys.
template <class T>
class Forward {
  static constexpr int64_t kPanel = 2 * kLanes<T>;

 public:
  static constexpr int64_t kRows = kPanel * kForwardPanels;

  explicit Forward(const Attention<T>& a)
      : a_(a), scales_(a), scratch_((2 * a.width + 2) * kRows + (kForwardKeys + 1) * kPanel +
                                    Masked<T>::scratch_of(a, kForwardKeys, kPanel)),
        query_(scratch_.take(a.width * kRows)), out_(scratch_.take(a.width * kRows)),
        largest_(scratch_.take(kRows)), total_(scratch_.take(kRows)),
        scores_(scratch_.take(kForwardKeys * kPanel)), factor_(scratch_.take(kPanel)),
        masked_(a, scales_.scores, scratch_.take(0)) {}

  void run(int64_t b, int64_t h, int64_t first) {
    const int64_t rows = std::min(kRows, a_.rows - first), e = a_.width;
    const T* query = a_.query.at(b, h) + first * a_.query.row;
    for (int64_t r = 0; r < rows; r += kPanel) {
      const int64_t count = std::min(kPanel, rows - r);
      load_transposed(query_ + r * e, whole_vectors<T>(count), query + r * a_.query.row,
                      a_.query.row, count, e, scales_.query);
    }
    std::fill(largest_, largest_ + kRows, Masked<T>::kNone);
    std::fill(total_, total_ + kRows, T(0));
    const int64_t seen = a_.causal ? std::min(a_.keys, first + rows) : a_.keys;
    for (int64_t key = 0; key < seen; key += kForwardKeys) {
      for (int64_t r = 0; r < rows; r += kPanel)
        block(b, h, first, r, std::min(kPanel, rows - r), key);
    }
    for (int64_t r = 0; r < rows; r += kPanel) finish(b, h, first, r, std::min(kPanel, rows - r));
  }

 private:
  void block(int64_t b, int64_t h, int64_t first, int64_t r, int64_t count, int64_t key) {
    const int64_t e = a_.width, width = whole_vectors<T>(count), row = first + r;
    int64_t keys = std::min(kForwardKeys, a_.keys - key);
    if (a_.causal) keys = std::min(keys, row + count - key);
    if (keys <= 0) return;
    const int64_t kh = h / a_.shared;
    const Left<true, T> k{a_.key.at(b, kh) + key * a_.key.row, a_.key.row};
    const Left<false, T> v{a_.value.at(b, kh) + key * a_.value.row, a_.value.row};
    multiply(keys, width, e, k, query_ + r * e, width, scores_, width, false);
    masked_.apply(b, h, row, count, key, keys, scores_, width);
    T* out = out_ + r * e;
    if (exponentials(keys, width, scales_.distance, scores_, largest_ + r, total_ + r, factor_) &&
        key > 0)
      scale_columns(e, width, out, factor_);
    multiply(e, width, keys, v, scores_, width, out, width, key > 0);
  }

  void finish(int64_t b, int64_t h, int64_t first, int64_t r, int64_t count) {
    const int64_t e = a_.width, width = whole_vectors<T>(count);
    T* lse = a_.logsumexp.at(b, h) + (first + r) * a_.logsumexp.row;
    for (int64_t i = 0; i < width; ++i) {
      const T sum = total_[r + i];
      const T first = scales_.distance * largest_[r + i];
      if (i < count) lse[i * a_.logsumexp.row] = sum == 0 ? T(0) : first + std::log(sum);
      factor_[i] = sum == 0 ? T(0) : 1 / sum;
    }
    scale_columns(e, width, out_ + r * e, factor_);
    transpose_rows(a_.out.at(b, h) + (first + r) * a_.out.row, a_.out.row, out_ + r * e, width, e,
                   count);
  }

  const Attention<T>& a_;
  Scales<T> scales_;
  Scratch<T> scratch_;
  T *query_, *out_, *largest_, *total_, *scores_, *factor_;
  Masked<T> masked_;
};

/// The gradients of one head of key and value, and of the heads of query that it serves.
///
///     P = exp(S - logsumexp), dP = dO V^T, dS = P (dP - sum(dO O))
///     dV = P^T dO, dK = scale dS^T Q, dQ = scale dS K
template <class T>
class Backward {
  static constexpr int64_t kRows = 2 * kLanes<T> * kBackwardPanels;

 public:
  Backward(const Attention<T>& a, const AttentionGradients<T>& g)
      : a_(a), g_(g), scales_(a), wide_(whole_vectors<T>(a.width)), direct_(wide_ == a.width),
        scratch_(5 * wide_ * kRows + 2 * kRows + 2 * kBackwardKeys * kRows +
                 (direct_ ? 0 : 2 * a.keys * wide_) +
                 Masked<T>::scratch_of(a, kBackwardKeys, kRows)),
        turned_query_(scratch_.take(wide_ * kRows)), turned_grad_(scratch_.take(wide_ * kRows)),
        turned_query_grad_(scratch_.take(wide_ * kRows)), query_(scratch_.take(wide_ * kRows)),
        grad_(scratch_.take(wide_ * kRows)), logsumexp_(scratch_.take(kRows)),
        mean_(scratch_.take(kRows)), weights_(scratch_.take(kBackwardKeys * kRows)),
        grads_(scratch_.take(kBackwardKeys * kRows)),
        own_key_(direct_ ? nullptr : scratch_.take(a.keys * wide_)),
        own_value_(direct_ ? nullptr : scratch_.take(a.keys * wide_)),
        masked_(a, scales_.scores, scratch_.take(0)) {}

  void run(int64_t b, int64_t kh) {
    key_grad_ = direct_ ? g_.key.at(b, kh) : own_key_;
    value_grad_ = direct_ ? g_.value.at(b, kh) : own_value_;
    key_row_ = direct_ ? g_.key.row : wide_;
    value_row_ = direct_ ? g_.value.row : wide_;
    for (int64_t s = 0; s < a_.keys; ++s) {
      std::fill_n(key_grad_ + s * key_row_, wide_, T(0));
      std::fill_n(value_grad_ + s * value_row_, wide_, T(0));
    }
    for (int64_t h = kh * a_.shared; h < (kh + 1) * a_.shared; ++h) {
      for (int64_t first = 0; first < a_.rows; first += kRows) group(b, h, first);
    }
    for (int64_t s = 0; s < a_.keys; ++s) scale_all(wide_, key_grad_ + s * key_row_, a_.scale);
    if (direct_) return;
    for (int64_t s = 0; s < a_.keys; ++s) {
      std::copy_n(own_key_ + s * wide_, a_.width, g_.key.at(b, kh) + s * g_.key.row);
      std::copy_n(own_value_ + s * wide_, a_.width, g_.value.at(b, kh) + s * g_.value.row);
    }
  }

 private:
  void group(int64_t b, int64_t h, int64_t first) {
    const int64_t rows = std::min(kRows, a_.rows - first), e = a_.width;
    const int64_t width = whole_vectors<T>(rows);
    const T* query = a_.query.at(b, h) + first * a_.query.row;
    const T* grad = g_.out.at(b, h) + first * g_.out.row;
    load_transposed(turned_query_, width, query, a_.query.row, rows, e, scales_.query);
    load_transposed(turned_grad_, width, grad, g_.out.row, rows, e, T(1));
    load_rows(query_, wide_, width, query, a_.query.row, rows, e);
    load_rows(grad_, wide_, width, grad, g_.out.row, rows, e);
    // The results are needed before the gradients that take their place.
    load_transposed(turned_query_grad_, width, a_.out.at(b, h) + first * a_.out.row, a_.out.row,
                    rows, e, T(1));
    sum_products(e, width, turned_query_grad_, turned_grad_, mean_);
    const T* lse = a_.logsumexp.at(b, h) + first * a_.logsumexp.row;
    // Lanes without a row have weights of zero.
    for (int64_t r = 0; r < width; ++r)
      logsumexp_[r] = r < rows ? lse[r * a_.logsumexp.row] : std::numeric_limits<T>::infinity();
    const int64_t seen = a_.causal ? std::min(a_.keys, first + rows) : a_.keys;
    for (int64_t key = 0; key < seen; key += kBackwardKeys)
      block(b, h, first, rows, width, key, std::min(kBackwardKeys, seen - key));
    scale_all(e * width, turned_query_grad_, a_.scale);
    transpose_rows(g_.query.at(b, h) + first * g_.query.row, g_.query.row, turned_query_grad_,
                   width, e, rows);
  }

  void block(int64_t b, int64_t h, int64_t first, int64_t rows, int64_t width, int64_t key,
             int64_t keys) {
    const int64_t e = a_.width, kh = h / a_.shared;
    const T* k = a_.key.at(b, kh) + key * a_.key.row;
    const T* v = a_.value.at(b, kh) + key * a_.value.row;
    multiply(keys, width, e, Left<true, T>{k, a_.key.row}, turned_query_, width, weights_, width,
             false);
    multiply(keys, width, e, Left<true, T>{v, a_.value.row}, turned_grad_, width, grads_, width,
             false);
    masked_.apply(b, h, first, rows, key, keys, weights_, width);
    softmax_gradient(keys, width);
    multiply(keys, wide_, width, Left<true, T>{weights_, width}, grad_, wide_,
             value_grad_ + key * value_row_, value_row_, true);
    multiply(keys, wide_, width, Left<true, T>{grads_, width}, query_, wide_,
             key_grad_ + key * key_row_, key_row_, true);
    multiply(e, width, keys, Left<false, T>{k, a_.key.row}, grads_, width, turned_query_grad_,
             width, key > 0);
  }

  void softmax_gradient(int64_t keys, int64_t width) {
    const Tag<T> d;
    const Vector<T> slope = hn::Set(d, scales_.distance);
    for (int64_t j = 0; j < width; j += kLanes<T>) {
      const Vector<T> lse = hn::LoadU(d, logsumexp_ + j), mean = hn::LoadU(d, mean_ + j);
      for (int64_t c = 0; c < keys; ++c) {
        T *w = weights_ + c * width + j, *g = grads_ + c * width + j;
        // Rounded as the maximum that is part of lse, so that a row of one weight has the weight 1.
        const Vector<T> score = hn::Mul(hn::LoadU(d, w), slope);
        const Vector<T> p = m::exp_nonpositive(hn::Sub(score, lse));
        hn::StoreU(p, d, w);
        hn::StoreU(hn::Mul(p, hn::Sub(hn::LoadU(d, g), mean)), d, g);
      }
    }
  }

  const Attention<T>& a_;
  const AttentionGradients<T>& g_;
  Scales<T> scales_;
  int64_t wide_;
  bool direct_;  ///< rows are whole vectors: sums are kept in the results
  Scratch<T> scratch_;
  T *turned_query_, *turned_grad_, *turned_query_grad_, *query_, *grad_, *logsumexp_, *mean_;
  T *weights_, *grads_, *own_key_, *own_value_;
  Masked<T> masked_;
  T *key_grad_ = nullptr, *value_grad_ = nullptr;
  int64_t key_row_ = 0, value_row_ = 0;
};

template <class T>
void forward(const Attention<T>& a) {
  const int64_t groups = (a.rows + Forward<T>::kRows - 1) / Forward<T>::kRows;
  parallel_for(0, a.batches * a.heads * groups, 1, [&](int64_t begin, int64_t end) {
    Forward<T> part(a);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t head = i / groups;
      part.run(head / a.heads, head % a.heads, i % groups * Forward<T>::kRows);
    }
  });
}

template <class T>
void backward(const Attention<T>& a, const AttentionGradients<T>& g) {
  const int64_t heads = a.key_heads();
  parallel_for(0, a.batches * heads, 1, [&](int64_t begin, int64_t end) {
    Backward<T> part(a, g);
    for (int64_t i = begin; i < end; ++i) part.run(i / heads, i % heads);
  });
}

void forward_float(const Attention<float>& a) { forward(a); }
void forward_double(const Attention<double>& a) { forward(a); }
void backward_float(const Attention<float>& a, const AttentionGradients<float>& g) {
  backward(a, g);
}
void backward_double(const Attention<double>& a, const AttentionGradients<double>& g) {
  backward(a, g);
}

}  // namespace tenon::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::native {

HWY_EXPORT(forward_float);
HWY_EXPORT(forward_double);
HWY_EXPORT(backward_float);
HWY_EXPORT(backward_double);

template <>
void attention_forward(const Attention<float>& a) {
  HWY_DYNAMIC_DISPATCH(forward_float)(a);
}
template <>
void attention_forward(const Attention<double>& a) {
  HWY_DYNAMIC_DISPATCH(forward_double)(a);
}
template <>
void attention_backward(const Attention<float>& a, const AttentionGradients<float>& g) {
  HWY_DYNAMIC_DISPATCH(backward_float)(a, g);
}
template <>
void attention_backward(const Attention<double>& a, const AttentionGradients<double>& g) {
  HWY_DYNAMIC_DISPATCH(backward_double)(a, g);
}

}  // namespace tenon::native
#endif
