#pragma once

#include "aten/cpu/linalg/matrix_access.h"
#include "tenon/tensor.h"

namespace tenon::native::lapack {

/// What linalg_lu_factor gives, column-major and broadcast to a batch.
template <class T>
struct LuFactors {
  TensorBase LU, pivots;  ///< in the layout that is needed
  Matrices<T> matrices;
  Matrices<Int> exchanges;

  LuFactors(const Tensor& LU_, const Tensor& pivots_, IntArrayRef batch)
      : LU(LU_.transpose(-2, -1).contiguous()), pivots(pivots_.contiguous()), matrices(LU, batch),
        exchanges(pivots, batch, 1) {}
};

/// The systems A X = B, or X A = B, of a batch, with the factors of A. `trans` is N, T or C: the
/// factors are of A, its transpose or its adjoint. X is column-major, and of X A = B row-major.
template <class T>
class Systems {
 public:
  Systems(const char* op, const LuFactors<T>& factors, const Tensor& B, const Tensor& X, bool left,
          char trans)
      : routines_(routines<T>(op)), factors_(factors), right_(B, batch_of(X)),
        to_(X.mutable_data_ptr<T>()), count_(matrix_count(X)), n_(to_int(op, factors.LU.size(-1))),
        columns_(to_int(op, X.size(left ? -1 : -2))), left_(left),
        // X A = B is A^T X^T = B^T. Of an adjoint, what is left is to conjugate both sides.
        trans_(left           ? trans
               : trans == 'N' ? 'T'
                              : 'N'),
        conjugates_(!left && trans == 'C' && kIsComplex<T>) {}

  int64_t count() const { return count_; }
  double flops() const { return 2. * n_ * n_ * columns_; }

  void solve(int64_t b) const {
    const int64_t size = int64_t{n_} * columns_;
    T* const x = to_ + b * size;
    copy_columns(right_[b], left_ ? right_.row() : right_.column(),
                 left_ ? right_.column() : right_.row(), n_, columns_, x);
    if (conjugates_) conjugate(x, size);
    const T* const factors = factors_.matrices[b];
    const Int* const exchanges = factors_.exchanges[b];
    if (n_ <= small::kRows && columns_ <= small::kRows) {
      small::getrs(trans_, n_, columns_, factors, exchanges, x);
    } else {
      routines_.getrs(trans_, n_, columns_, factors, n_, exchanges, x, n_);
    }
    if (conjugates_) conjugate(x, size);
  }

 private:
  static void conjugate(T* x, int64_t size) {
    if constexpr (kIsComplex<T>) {
      for (int64_t i = 0; i < size; ++i) x[i] = std::conj(x[i]);
    }
  }

  const Routines<T>& routines_;
  const LuFactors<T>& factors_;
  Matrices<T> right_;
  T* to_;
  int64_t count_;
  Int n_, columns_;
  bool left_;
  char trans_;
  bool conjugates_;
};

}  // namespace tenon::native::lapack
