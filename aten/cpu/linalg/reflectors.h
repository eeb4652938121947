#pragma once

#include <vector>

#include "aten/cpu/linalg/lapack.h"

namespace tenon::native::lapack {

/// About how many operations a QR factorization of an m x n matrix takes.
inline double qr_flops(int64_t m, int64_t n) {
  const double k = static_cast<double>(std::min(m, n)), l = static_cast<double>(std::max(m, n));
  return 2 * k * k * (l - k / 3);
}

/// QR factorizations and their reflections, with one workspace for the matrices of a batch.
/// Matrices are column-major, `stride` apart from column to column.
template <class T>
class Reflectors {
 public:
  explicit Reflectors(const char* op) : op_(op), routines_(routines<T>(op)) {}

  void factor(int64_t m, int64_t n, T* a, int64_t stride, T* tau) {
    call([&](T* work, Int length) {
      return routines_.geqrf(size(m), size(n), a, size(stride), tau, work, length);
    });
  }

  /// Overwrites k reflections in `a` with the first n columns of their product, [m, n].
  void multiply(int64_t m, int64_t n, int64_t k, T* a, int64_t stride, const T* tau) {
    call([&](T* work, Int length) {
      return routines_.ungqr(size(m), size(n), size(k), a, size(stride), tau, work, length);
    });
  }

  /// c, [m, n], becomes Q c or c Q, or with Q^H.
  void apply(bool left, bool adjoint, int64_t m, int64_t n, int64_t k, const T* a, const T* tau,
             T* c) {
    const char transpose = adjoint ? (kIsComplex<T> ? 'C' : 'T') : 'N';
    call([&](T* work, Int length) {
      return routines_.unmqr(left ? 'L' : 'R', transpose, size(m), size(n), size(k), a,
                             size(left ? m : n), tau, c, size(m), work, length);
    });
  }

 private:
  Int size(int64_t n) const { return to_int(op_, n); }

  /// Runs a routine, first for the size of its workspace. All matrices of a batch have one size.
  template <class F>
  void call(F&& f) {
    T asked{};
    if (Int info = f(&asked, Int{-1}); info == 0) {
      const auto needed = static_cast<size_t>(work_size(asked));
      if (work_.size() < needed) work_.resize(needed);
    }
    const Int info = f(work_.data(), static_cast<Int>(work_.size()));
    TENON_CHECK(info == 0, "[", op_, "] Argument ", -info, " of LAPACK's routine is illegal");
  }

  const char* op_;
  const Routines<T>& routines_;
  std::vector<T> work_;
};

}  // namespace tenon::native::lapack
