#include "tenon/native/_linalg_svd.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "aten/core/parallel.h"

/// One-sided Jacobi (Hestenes 1958): rotations make the columns of A orthogonal; then their norms
/// are the singular values, the columns over them U, and the product of the rotations V. Small
/// singular values come out as exact as large ones (Demmel and Veselic 1992). In double
/// precision, whatever the dtype.
namespace tenon {
namespace {

using Complex = std::complex<double>;

double conjugate(double a) { return a; }
Complex conjugate(Complex a) { return std::conj(a); }
double product(double a, double b) { return a * b; }
/// Without what std's does for infinities: there are none.
Complex product(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
double squared(double a) { return a * a; }
double squared(Complex a) { return a.real() * a.real() + a.imag() * a.imag(); }

/// Sum of conj(a) b, in several sums so that it is computed by vectors.
template <typename T>
T dot(const T* a, const T* b, int64_t n) {
  constexpr int64_t kLanes = 8;
  T lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t l = 0; l < kLanes; ++l) lanes[l] += product(conjugate(a[i + l]), b[i + l]);
  }
  T sum = std::accumulate(lanes, lanes + kLanes, T(0));
  for (; i < n; ++i) sum += product(conjugate(a[i]), b[i]);
  return sum;
}

/// The square root of the sum of |a|^2, whose terms may be too small to be squared.
template <typename T>
double norm_of(const T* a, int64_t n) {
  double largest = 0, sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    largest = std::max({largest, std::abs(std::real(a[i])), std::abs(std::imag(a[i]))});
  }
  if (largest == 0) return 0;
  for (int64_t i = 0; i < n; ++i) sum += squared(a[i] / largest);
  return largest * std::sqrt(sum);
}

/// Columns of equal length, one after the other.
template <typename T>
struct Columns {
  int64_t length, count;
  std::vector<T> values;

  Columns(int64_t length_, int64_t count_)
      : length(length_), count(count_), values(static_cast<size_t>(length_ * count_)) {}
  T* operator[](int64_t j) { return values.data() + j * length; }
};

/// p and q become cosine p - sine q' and sine p + cosine q', with q' = phase q.
template <typename T>
void rotate(T* p, T* q, int64_t n, double cosine, double sine, T phase) {
  for (int64_t i = 0; i < n; ++i) {
    const T a = p[i], b = product(phase, q[i]);
    p[i] = cosine * a - sine * b;
    q[i] = sine * a + cosine * b;
  }
}

/// The columns of `a` become orthogonal; what was done to them is done to those of `v`.
template <typename T>
void orthogonalize(Columns<T>& a, Columns<T>& v) {
  const double tolerance =
      std::numeric_limits<double>::epsilon() * static_cast<double>(std::max<int64_t>(a.length, 4));
  constexpr int kSweeps = 100;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    bool done = true;
    for (int64_t i = 0; i + 1 < a.count; ++i) {
      for (int64_t j = i + 1; j < a.count; ++j) {
        const double alpha = std::real(dot(a[i], a[i], a.length)),
                     beta = std::real(dot(a[j], a[j], a.length));
        const T gamma = dot(a[i], a[j], a.length);
        const double size = std::sqrt(squared(gamma));
        if (size <= tolerance * std::sqrt(alpha) * std::sqrt(beta)) continue;
        done = false;
        const double zeta = (beta - alpha) / (2 * size);
        const double tangent = std::copysign(1.0, zeta) / (std::abs(zeta) + std::hypot(1, zeta));
        const double cosine = 1 / std::sqrt(1 + tangent * tangent), sine = cosine * tangent;
        const T phase = conjugate(gamma) / size;
        rotate(a[i], a[j], a.length, cosine, sine, phase);
        rotate(v[i], v[j], v.length, cosine, sine, phase);
      }
    }
    if (done) return;
  }
  TENON_CHECK(false, "[linalg.svd] The algorithm failed to converge: after ", kSweeps,
              " sweeps columns are not orthogonal");
}

/// Column j of u becomes a unit vector that is orthogonal to those before it.
template <typename T>
void complete(Columns<T>& u, int64_t j) {
  // That of the axes which those before cover least.
  int64_t axis = 0;
  double least = std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < u.length; ++i) {
    double covered = 0;
    for (int64_t c = 0; c < j; ++c) covered += squared(u[c][i]);
    if (covered < least) least = covered, axis = i;
  }
  T* column = u[j];
  std::fill(column, column + u.length, T(0));
  column[axis] = 1;
  // Twice is enough (Kahan).
  for (int pass = 0; pass < 2; ++pass) {
    for (int64_t c = 0; c < j; ++c) {
      const T share = dot(u[c], column, u.length);
      for (int64_t i = 0; i < u.length; ++i) column[i] -= product(share, u[c][i]);
    }
    const double norm = std::sqrt(std::real(dot(column, column, u.length)));
    for (int64_t i = 0; i < u.length; ++i) column[i] /= norm;
  }
}

/// Where an element of a matrix lies.
template <typename T>
struct Matrix {
  T* data;
  int64_t row, column;
  T& at(int64_t i, int64_t j) const { return data[i * row + j * column]; }
};

/// m x n with m >= n: u has m rows and at least n columns, v is n x n. `scalar_t` is rounded to.
template <typename T, typename scalar_t, typename real_t>
void decompose(Columns<T> a, double scale, Matrix<scalar_t> u, int64_t u_columns, real_t* s,
               Matrix<scalar_t> v, bool swapped) {
  const int64_t m = a.length, n = a.count;
  Columns<T> rotations(n, n);
  for (int64_t j = 0; j < n; ++j) rotations[j][j] = 1;
  orthogonalize(a, rotations);
  std::vector<double> norms(static_cast<size_t>(n));
  std::vector<int64_t> order(static_cast<size_t>(n));
  for (int64_t j = 0; j < n; ++j) {
    norms[static_cast<size_t>(j)] = norm_of(a[j], m);
    order[static_cast<size_t>(j)] = j;
  }
  std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
    return norms[static_cast<size_t>(i)] > norms[static_cast<size_t>(j)];
  });
  for (int64_t j = 0; j < n; ++j) {
    s[j] = static_cast<real_t>(norms[static_cast<size_t>(order[static_cast<size_t>(j)])] * scale);
  }
  if (!u.data) return;
  Columns<T> left(m, u_columns);
  // Zero columns, whose number is the rank's deficiency, are last.
  for (int64_t j = 0; j < u_columns; ++j) {
    const int64_t from = j < n ? order[static_cast<size_t>(j)] : 0;
    const double norm = j < n ? norms[static_cast<size_t>(from)] : 0;
    if (norm > 0) {
      for (int64_t i = 0; i < m; ++i) left[j][i] = a[from][i] / norm;
    } else {
      complete(left, j);
    }
  }
  // A = U S V^H; of A^H = U' S V'^H it is U = V' and V^H = U'^H.
  const auto rounded = [](T value) { return static_cast<scalar_t>(value); };
  for (int64_t j = 0; j < u_columns; ++j) {
    for (int64_t i = 0; i < m; ++i) {
      if (swapped) {
        v.at(j, i) = rounded(conjugate(left[j][i]));
      } else {
        u.at(i, j) = rounded(left[j][i]);
      }
    }
  }
  for (int64_t j = 0; j < n; ++j) {
    const T* column = rotations[order[static_cast<size_t>(j)]];
    for (int64_t i = 0; i < n; ++i) {
      if (swapped) {
        u.at(i, j) = rounded(column[i]);
      } else {
        v.at(j, i) = rounded(conjugate(column[i]));
      }
    }
  }
}

template <typename scalar_t>
void decompose_all(const Tensor& A, bool compute_uv, const Tensor& U, const Tensor& S,
                   const Tensor& Vh) {
  using T = std::conditional_t<std::is_floating_point_v<scalar_t>, double, Complex>;
  using real_t = decltype(std::real(scalar_t()));
  const Tensor x = A.contiguous();
  const int64_t m = A.size(-2), n = A.size(-1), k = std::min(m, n);
  const int64_t batch = numel_of(A.sizes().slice(0, static_cast<size_t>(A.dim() - 2)));
  const bool swapped = m < n;
  const int64_t columns = compute_uv ? std::max(U.size(-1), Vh.size(-2)) : 0;
  const auto* from = x.const_data_ptr<scalar_t>();
  auto* values = S.mutable_data_ptr<real_t>();
  auto* left = compute_uv ? U.mutable_data_ptr<scalar_t>() : nullptr;
  auto* right = compute_uv ? Vh.mutable_data_ptr<scalar_t>() : nullptr;
  parallel_for(0, batch, 1 + 4096 / (1 + m * n * k), [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      Columns<T> a(std::max(m, n), k);
      double scale = 0;
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          const T value(from[b * m * n + i * n + j]);
          TENON_CHECK(std::isfinite(std::real(value)) && std::isfinite(std::imag(value)),
                      "[linalg.svd] The algorithm failed to converge because the input matrix "
                      "contained non-finite values.");
          (swapped ? a[i][j] : a[j][i]) = swapped ? conjugate(value) : value;
          scale = std::max({scale, std::abs(std::real(value)), std::abs(std::imag(value))});
        }
      }
      // So that no square overflows.
      if (scale == 0) scale = 1;
      for (T& value : a.values) value /= scale;
      decompose<T, scalar_t, real_t>(
          std::move(a), scale, {compute_uv ? left + b * m * U.size(-1) : nullptr, 1, m},
          std::max(columns, k), values + b * k,
          {compute_uv ? right + b * Vh.size(-2) * n : nullptr, 1, compute_uv ? Vh.size(-2) : 0},
          swapped);
    }
  });
}

}  // namespace

/// A = U diag(S) Vh of matrices [..., m, n]: U [..., m, k] and Vh [..., k, n] with k = min(m, n),
/// or
/// [..., m, m] and [..., n, n] with full_matrices; S descends. Without compute_uv S alone.
void native::_linalg_svd_cpu(const Tensor& A, bool, bool compute_uv,
                             std::optional<std::string_view>, const Tensor& U, const Tensor& S,
                             const Tensor& Vh) {
  TENON_DISPATCH_FLOATING_AND_COMPLEX(A.scalar_type(), "linalg.svd",
                                      { decompose_all<scalar_t>(A, compute_uv, U, S, Vh); });
}

}  // namespace tenon
