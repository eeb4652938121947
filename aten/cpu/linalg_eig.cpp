#include "tenon/native/linalg_eig.h"

#include <vector>

#include "aten/cpu/linalg/batches.h"
#include "aten/cpu/linalg/finite.h"
#include "tenon/native/_linalg_eigvals.h"
#include "tenon/ops/_linalg_check_errors.h"
#include "tenon/ops/zeros.h"

namespace tenon {
namespace {

using native::lapack::Int;

/// LAPACK's geev for matrices of one order, with its workspace.
template <typename T>
class Eigen {
 public:
  using Real = native::lapack::RealOf<T>;
  using Complex = std::complex<Real>;

  Eigen(const char* op, int64_t order, bool vectors)
      : lapack_(native::lapack::routines<T>(op)), n_(native::lapack::to_int(op, order)),
        vectors_(vectors) {
    const auto n = static_cast<size_t>(order);
    reals_.resize(2 * n);
    if (vectors) right_.resize(n * n);
    T asked{};
    run(nullptr, nullptr, &asked, -1);
    work_.resize(static_cast<size_t>(native::lapack::work_size(asked)));
  }

  /// Overwrites the matrix; gives n values and, if asked for, n columns.
  Int run(T* matrix, Complex* values, Complex* columns) {
    const Int info = run(matrix, values, work_.data(), static_cast<Int>(work_.size()));
    const int64_t n = n_;
    if constexpr (!native::lapack::kIsComplex<T>) {
      for (int64_t j = 0; j < n; ++j) {
        values[j] = {reals_[static_cast<size_t>(j)], reals_[static_cast<size_t>(n + j)]};
      }
    }
    if (!vectors_) return info;
    for (int64_t j = 0; j < n; ++j) {
      const T* const column = right_.data() + j * n;
      if constexpr (native::lapack::kIsComplex<T>) {
        std::copy(column, column + n, columns + j * n);
      } else if (values[j].imag() == 0) {
        for (int64_t i = 0; i < n; ++i) columns[j * n + i] = column[i];
      } else {
        // A pair of conjugates has its real part in one column, the imaginary one in the next.
        for (int64_t i = 0; i < n; ++i) {
          columns[j * n + i] = {column[i], column[n + i]};
          if (j + 1 < n) columns[(j + 1) * n + i] = {column[i], -column[n + i]};
        }
        ++j;
      }
    }
    return info;
  }

 private:
  Int run(T* matrix, Complex* values, T* work, Int length) {
    Real* const parts = reals_.data();
    T* values_of_complex = nullptr;
    if constexpr (native::lapack::kIsComplex<T>) values_of_complex = values;
    return lapack_.geev('N', vectors_ ? 'V' : 'N', n_, matrix, n_, parts, parts + n_,
                        values_of_complex, nullptr, n_, right_.data(), n_, work, length, parts);
  }

  const native::lapack::Routines<T>& lapack_;
  Int n_;
  bool vectors_;
  std::vector<Real> reals_;  ///< real numbers: both parts of the values; complex ones: workspace
  std::vector<T> right_, work_;
};

template <typename T>
void decompose(const char* op, const Tensor& A, const Tensor& values, const Tensor* vectors,
               const Tensor& info) {
  using Complex = typename Eigen<T>::Complex;
  const Tensor matrices = A.transpose(-2, -1).clone(MemoryFormat::Contiguous);
  const int64_t batch = native::lapack::matrix_count(A), n = A.size(-1), size = n * n;
  T* const a = matrices.mutable_data_ptr<T>();
  TENON_CHECK(native::lapack::all_finite(a, batch * size), "[", op,
              "] torch.linalg.eig: input tensor should not contain infs or NaNs.");
  Complex* const w = values.mutable_data_ptr<Complex>();
  Complex* const v = vectors ? vectors->mutable_data_ptr<Complex>() : nullptr;
  auto* const codes = info.mutable_data_ptr<int32_t>();
  const auto flops = 25.0 * static_cast<double>(size) * static_cast<double>(n);
  native::lapack::for_matrices(n == 0 ? 0 : batch, flops, [&](int64_t i, int64_t end) {
    Eigen<T> eigen(op, n, vectors);
    for (; i < end; ++i) codes[i] = eigen.run(a + i * size, w + i * n, v + i * (v ? size : 0));
  });
}

void decompose(const char* op, const Tensor& A, const Tensor& values, const Tensor* vectors) {
  const Tensor info = zeros({native::lapack::matrix_count(A)}, TensorOptions(kInt));
  TENON_DISPATCH_FLOATING_AND_COMPLEX(A.scalar_type(), op,
                                      { decompose<scalar_t>(op, A, values, vectors, info); });
  tenon::_linalg_check_errors(info, op, A.dim() == 2);
}

}  // namespace

/// A V = V diag(L) of matrices [..., n, n]: L [..., n] and V [..., n, n] are complex, the columns
/// of V have norm 1.
void native::linalg_eig_cpu(const Tensor& self, const Tensor& eigenvalues,
                            const Tensor& eigenvectors) {
  decompose("linalg.eig", self, eigenvalues, &eigenvectors);
}

void native::_linalg_eigvals_cpu(const Tensor& self, const Tensor& out) {
  decompose("linalg.eigvals", self, out, nullptr);
}

}  // namespace tenon
