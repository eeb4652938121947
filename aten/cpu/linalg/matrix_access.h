#pragma once

#include <algorithm>
#include <cstring>

#include "aten/cpu/linalg/batches.h"
#include "aten/cpu/linalg/small.h"

namespace tenon::native::lapack {

/// Where the matrices [..., m, n] of a tensor are, if its batch is broadcast to `batch`.
template <class T>
class Matrices {
 public:
  Matrices(const TensorBase& t, IntArrayRef batch, int64_t dims = 2)
      : data_(t.const_data_ptr<T>()), batch_(batch), strides_(batch.size(), 0) {
    const auto own = static_cast<size_t>(t.dim() - dims);
    for (size_t i = 1; i <= own; ++i) {
      const auto d = static_cast<int64_t>(own - i);
      if (t.size(d) != 1) strides_[batch.size() - i] = t.stride(d);
    }
    if (dims >= 2) row_ = t.stride(-2);
    column_ = t.stride(-1);
    // Most batches are one sequence.
    for (size_t d = batch.size(); d-- > 0;) {
      if (batch[d] == 1) continue;
      if (step_ < 0) {
        step_ = strides_[d];
        length_ = batch[d];
      } else if (is_even_ && strides_[d] == step_ * length_) {
        length_ *= batch[d];
      } else {
        is_even_ = false;
      }
    }
  }

  const T* operator[](int64_t i) const {
    if (is_even_) return data_ + (step_ < 0 ? 0 : i * step_);
    int64_t offset = 0;
    for (size_t d = batch_.size(); d-- > 0; i /= batch_[d]) offset += i % batch_[d] * strides_[d];
    return data_ + offset;
  }
  int64_t row() const { return row_; }
  int64_t column() const { return column_; }

 private:
  const T* data_;
  DimVector batch_, strides_;
  int64_t row_ = 0, column_ = 0, step_ = -1, length_ = 1;
  bool is_even_ = true;
};

/// to[j * m + i] = from[i * row + j * column].
template <class T>
void copy_columns(const T* from, int64_t row, int64_t column, int64_t m, int64_t n, T* to) {
  if (row == 1 || m == 1) {
    if (column == m) {
      std::copy_n(from, m * n, to);
    } else {
      for (int64_t j = 0; j < n; ++j) std::copy_n(from + j * column, m, to + j * m);
    }
    return;
  }
  // Columns of a block, whose lines are in the cache for its next column.
  constexpr int64_t kBlock = 8;
  for (int64_t b = 0; b < n; b += kBlock) {
    const int64_t end = std::min(b + kBlock, n);
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = b; j < end; ++j) to[j * m + i] = from[i * row + j * column];
    }
  }
}

/// The matrices of a tensor that holds them one after the other, each column by column.
template <class T>
T* column_major(const TensorBase& t) {
  return t.mutable_data_ptr<T>();
}

inline IntArrayRef batch_of(const TensorBase& t, int64_t dims = 2) {
  return t.sizes().slice(0, static_cast<size_t>(t.dim() - dims));
}

/// For determinants, matrices that are contiguous and real are factored as their transposes, which
/// are column-major.
inline bool factors_transpose(const TensorBase& A) { return A.is_contiguous() && !A.is_complex(); }

/// P L U = A, or A transposed. Gives `info`.
template <class T>
Int factor_lu(const Routines<T>& routines, const T* from, int64_t row, int64_t column, Int n, T* LU,
              Int* pivots) {
  if (n == 0) return 0;
  copy_columns(from, row, column, n, n, LU);
  if (n <= small::kRows) return small::getrf(n, LU, pivots);
  return routines.getrf(n, n, LU, n, pivots);
}

}  // namespace tenon::native::lapack
