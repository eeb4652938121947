#pragma once

#include <algorithm>
#include <cmath>

#include "aten/cpu/linalg/lapack.h"

/// What LAPACK's routines of the same names compute, for matrices that are so small that most of
/// their time would be the call. Matrices are column-major without gaps.
namespace tenon::native::lapack::small {

/// Up to this many rows.
inline constexpr Int kRows = 20;

// Without what std's does for infinities, as LAPACK's.
template <class T>
T product(T a, T b) {
  if constexpr (kIsComplex<T>) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  } else {
    return a * b;
  }
}
template <class T>
T conjugate(T a) {
  if constexpr (kIsComplex<T>) return {a.real(), -a.imag()};
  return a;
}
/// The size by which pivots are chosen.
template <class T>
RealOf<T> size_of(T a) {
  if constexpr (kIsComplex<T>) return std::abs(a.real()) + std::abs(a.imag());
  return std::abs(a);
}

/// y -= factor x.
template <class T>
void subtract(Int n, T factor, const T* x, T* y) {
  for (Int i = 0; i < n; ++i) y[i] -= product(factor, x[i]);
}

template <class T>
Int getrf(Int n, T* a, Int* pivots) {
  Int info = 0;
  for (Int k = 0; k < n; ++k) {
    T* const column = a + k * n;
    Int pivot = k;
    RealOf<T> largest = size_of(column[k]);
    for (Int i = k + 1; i < n; ++i) {
      const RealOf<T> size = size_of(column[i]);
      if (size > largest) largest = size, pivot = i;
    }
    pivots[k] = pivot + 1;
    if (column[pivot] == T(0)) {
      if (info == 0) info = k + 1;
      continue;
    }
    if (pivot != k) {
      for (Int j = 0; j < n; ++j) std::swap(a[j * n + k], a[j * n + pivot]);
    }
    if (largest >= std::numeric_limits<RealOf<T>>::min()) {
      const T inverse = T(1) / column[k];
      for (Int i = k + 1; i < n; ++i) column[i] = product(column[i], inverse);
    } else {
      for (Int i = k + 1; i < n; ++i) column[i] /= column[k];
    }
    for (Int j = k + 1; j < n; ++j) {
      subtract(n - k - 1, a[j * n + k], column + k + 1, a + j * n + k + 1);
    }
  }
  return info;
}

/// Solves for one column with the factors of getrf, and trans N, T or C. Elements of x before
/// `first` are zero if trans is N and the rows are exchanged already.
template <class T>
void substitute(char trans, Int n, const T* a, T* x, Int first = 0) {
  if (trans == 'N') {
    for (Int k = first; k < n; ++k) subtract(n - k - 1, x[k], a + k * n + k + 1, x + k + 1);
    for (Int k = n - 1; k >= 0; --k) {
      x[k] /= a[k * n + k];
      subtract(k, x[k], a + k * n, x);
    }
    return;
  }
  const auto element = [trans](T value) { return trans == 'C' ? conjugate(value) : value; };
  for (Int k = 0; k < n; ++k) {
    T sum = x[k];
    for (Int i = 0; i < k; ++i) sum -= product(element(a[k * n + i]), x[i]);
    x[k] = sum / element(a[k * n + k]);
  }
  for (Int k = n - 1; k >= 0; --k) {
    T sum = x[k];
    for (Int i = k + 1; i < n; ++i) sum -= product(element(a[k * n + i]), x[i]);
    x[k] = sum;
  }
}

template <class T>
void getrs(char trans, Int n, Int columns, const T* a, const Int* pivots, T* b) {
  for (Int j = 0; j < columns; ++j) {
    T* const x = b + j * n;
    if (trans == 'N') {
      for (Int k = 0; k < n; ++k) {
        if (pivots[k] != k + 1) std::swap(x[k], x[pivots[k] - 1]);
      }
    }
    substitute(trans, n, a, x);
    if (trans != 'N') {
      for (Int k = n - 1; k >= 0; --k) {
        if (pivots[k] != k + 1) std::swap(x[k], x[pivots[k] - 1]);
      }
    }
  }
}

/// The inverse from the factors of getrf: column rows[i] of it belongs to row i of the factors.
template <class T>
void invert(Int n, const T* a, const Int* pivots, T* inverse) {
  Int rows[kRows];
  for (Int i = 0; i < n; ++i) rows[i] = i;
  for (Int i = 0; i < n; ++i) std::swap(rows[i], rows[pivots[i] - 1]);
  std::fill_n(inverse, n * n, T(0));
  for (Int i = 0; i < n; ++i) {
    T* const column = inverse + rows[i] * n;
    column[i] = 1;
    substitute('N', n, a, column, i);
  }
}

/// Of the lower triangle.
template <class T>
Int potrf(Int n, T* a) {
  for (Int k = 0; k < n; ++k) {
    T* const column = a + k * n;
    const RealOf<T> diagonal = std::real(column[k]);
    if (!(diagonal > 0)) return k + 1;
    const RealOf<T> root = std::sqrt(diagonal), inverse = 1 / root;
    column[k] = root;
    for (Int i = k + 1; i < n; ++i) column[i] *= inverse;
    for (Int j = k + 1; j < n; ++j) {
      subtract(n - j, conjugate(column[j]), column + j, a + j * n + j);
    }
  }
  return 0;
}

}  // namespace tenon::native::lapack::small
