#include "tenon/native/linalg_qr.h"

#include "aten/cpu/linalg/batches.h"
#include "aten/cpu/linalg/reflectors.h"
#include "tenon/tensor.h"

namespace tenon {
namespace {

/// The matrices [m, n], `step` apart and each column-major, get those of A, column by column.
template <typename T>
void copy_columns(const Tensor& A, T* to, int64_t step) {
  const Tensor columns = A.transpose(-2, -1).contiguous();
  const int64_t size = A.size(-2) * A.size(-1);
  const T* const from = columns.const_data_ptr<T>();
  for (int64_t i = 0; i < native::lapack::matrix_count(A); ++i) {
    std::copy(from + i * size, from + (i + 1) * size, to + i * step);
  }
}

/// The first `rows` rows of the factor [m, n], zeros below the diagonal.
template <typename T>
void take_upper(const T* factor, int64_t m, int64_t n, T* r, int64_t rows) {
  for (int64_t j = 0; j < n; ++j) {
    const int64_t filled = std::min(j + 1, rows);
    if (r != factor) std::copy(factor + j * m, factor + j * m + filled, r + j * rows);
    std::fill(r + j * rows + filled, r + (j + 1) * rows, T(0));
  }
}

template <typename T>
void decompose(const Tensor& A, const Tensor& Q, const Tensor& R, bool with_q) {
  const int64_t batch = native::lapack::matrix_count(A), m = A.size(-2), n = A.size(-1);
  const int64_t k = std::min(m, n), rows = R.size(-2), q_columns = with_q ? Q.size(-1) : 0;
  T* const r = R.mutable_data_ptr<T>();
  T* const q = with_q ? Q.mutable_data_ptr<T>() : nullptr;
  // A is factored where there is room for it: in Q, or in R, or in memory of its own.
  std::vector<T> own;
  T* factor = q;
  int64_t step = m * q_columns;
  if (rows == m && q_columns < n) {
    factor = r;
    step = m * n;
  } else if (!with_q) {
    own.resize(static_cast<size_t>(batch * m * n));
    factor = own.data();
    step = m * n;
  }
  copy_columns(A, factor, step);
  native::lapack::for_matrices(
      m == 0 ? 0 : batch, 2 * native::lapack::qr_flops(m, std::max(n, q_columns)),
      [&](int64_t i, int64_t end) {
        native::lapack::Reflectors<T> reflectors("linalg.qr");
        std::vector<T> tau(static_cast<size_t>(k));
        for (; i < end; ++i) {
          T* const a = factor + i * step;
          T* const upper = r + i * rows * n;
          if (k > 0) reflectors.factor(m, n, a, m, tau.data());
          if (factor == r && with_q) std::copy(a, a + m * k, q + i * m * q_columns);
          take_upper(a, m, n, upper, rows);
          if (!with_q || q_columns == 0) continue;
          reflectors.multiply(m, q_columns, k, q + i * m * q_columns, m, tau.data());
        }
      });
}

}  // namespace

/// A = Q R with orthonormal columns in Q and an upper triangular R. Of [..., m, n] and with k =
/// min(m, n), Q is [..., m, k] and R [..., k, n]; "complete": Q is [..., m, m] and R [..., m, n];
/// "r": R alone.
void native::linalg_qr_cpu(const Tensor& A, std::string_view mode, const Tensor& Q,
                           const Tensor& R) {
  TENON_DISPATCH_FLOATING_AND_COMPLEX(A.scalar_type(), "linalg.qr",
                                      { decompose<scalar_t>(A, Q, R, mode != "r"); });
}

}  // namespace tenon
