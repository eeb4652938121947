#include "tenon/native/linalg_lstsq.h"

#include <vector>

#include "aten/cpu/linalg/batches.h"
#include "aten/iterator/element_copy.h"
#include "aten/meta/matrices.h"
#include "tenon/ops/_linalg_check_errors.h"
#include "tenon/ops/abs.h"
#include "tenon/ops/all.h"
#include "tenon/ops/eq.h"
#include "tenon/ops/item.h"
#include "tenon/ops/pow.h"
#include "tenon/ops/sum.h"
#include "tenon/ops/zeros.h"

namespace tenon {
namespace {

using native::lapack::Int;
enum class Driver { kGels, kGelsy, kGelsd, kGelss };

/// Solves least squares problems of one size, with the workspace for it.
template <typename T>
class LeastSquares {
 public:
  using Real = native::lapack::RealOf<T>;

  LeastSquares(Driver driver, int64_t m, int64_t n, int64_t nrhs, double rcond)
      : lapack_(native::lapack::routines<T>("linalg.lstsq")), driver_(driver),
        m_(native::lapack::to_int("linalg.lstsq", m)),
        n_(native::lapack::to_int("linalg.lstsq", n)),
        nrhs_(native::lapack::to_int("linalg.lstsq", nrhs)), rcond_(static_cast<Real>(rcond)) {
    const auto k = static_cast<size_t>(std::min(m, n));
    reals_.resize(std::max<size_t>(5 * k, 2 * static_cast<size_t>(n)));
    integers_.resize(static_cast<size_t>(n));
    T asked{};
    Int rank = 0;
    run(nullptr, nullptr, nullptr, rank, &asked, -1);
    if (driver == Driver::kGelsd) {
      integers_.resize(std::max<size_t>(static_cast<size_t>(integers_[0]), 1));
      if (native::lapack::kIsComplex<T>) {
        reals_.resize(static_cast<size_t>(native::lapack::work_size(reals_[0])));
      }
    }
    work_.resize(static_cast<size_t>(native::lapack::work_size(asked)));
  }

  /// Overwrites `a` [m, n] and `b` [max(m, n), nrhs], whose first n rows become the solution.
  Int run(T* a, T* b, Real* s, Int& rank) {
    std::fill(integers_.begin(), integers_.end(), 0);
    return run(a, b, s, rank, work_.data(), static_cast<Int>(work_.size()));
  }

 private:
  Int run(T* a, T* b, Real* s, Int& rank, T* work, Int length) {
    const Int ldb = std::max(m_, n_);
    switch (driver_) {
    case Driver::kGels: return lapack_.gels('N', m_, n_, nrhs_, a, m_, b, ldb, work, length);
    case Driver::kGelsy:
      return lapack_.gelsy(m_, n_, nrhs_, a, m_, b, ldb, integers_.data(), rcond_, &rank, work,
                           length, reals_.data());
    case Driver::kGelss:
      return lapack_.gelss(m_, n_, nrhs_, a, m_, b, ldb, s, rcond_, &rank, work, length,
                           reals_.data());
    case Driver::kGelsd:
      return lapack_.gelsd(m_, n_, nrhs_, a, m_, b, ldb, s, rcond_, &rank, work, length,
                           reals_.data(), integers_.data());
    }
    return 0;
  }

  const native::lapack::Routines<T>& lapack_;
  Driver driver_;
  Int m_, n_, nrhs_;
  Real rcond_;
  std::vector<T> work_;
  std::vector<Real> reals_;
  std::vector<Int> integers_;  ///< pivots of gelsy, workspace of gelsd
};

/// Matrix i of `b` belongs to matrix `of[i]` of `a`.
template <typename T>
void solve(const Tensor& A, const std::vector<int64_t>& of, const Tensor& columns, Driver driver,
           double rcond, const Tensor& rank, const Tensor& singular, const Tensor& info) {
  using Real = native::lapack::RealOf<T>;
  const int64_t m = A.size(-2), n = A.size(-1), k = std::min(m, n), rows = std::max(m, n);
  const int64_t nrhs = columns.size(-2);
  const Tensor matrices = A.transpose(-2, -1).contiguous();
  const T* const a = matrices.const_data_ptr<T>();
  T* const b = columns.mutable_data_ptr<T>();
  auto* const codes = info.mutable_data_ptr<int32_t>();
  int64_t* const ranks = driver == Driver::kGels ? nullptr : rank.mutable_data_ptr<int64_t>();
  Real* const values = singular.numel() == 0 ? nullptr : singular.mutable_data_ptr<Real>();
  const double flops = (driver == Driver::kGels ? 2.0 : 10.0) * static_cast<double>(m * n) *
                       static_cast<double>(k + nrhs);
  native::lapack::for_matrices(static_cast<int64_t>(of.size()), flops, [&](int64_t i, int64_t end) {
    LeastSquares<T> problem(driver, m, n, nrhs, rcond);
    std::vector<T> copy(static_cast<size_t>(m * n));
    std::vector<Real> s(static_cast<size_t>(k));
    for (; i < end; ++i) {
      const int64_t at = of[static_cast<size_t>(i)];
      std::copy(a + at * m * n, a + (at + 1) * m * n, copy.data());
      Int found = 0;
      codes[i] = problem.run(copy.data(), b + i * rows * nrhs, s.data(), found);
      if (ranks) ranks[at] = found;
      if (values) std::copy(s.begin(), s.end(), values + at * k);
    }
  });
}

/// For each matrix of the batch `sizes` the number of the one of `A` that is broadcast to it.
std::vector<int64_t> broadcast_matrices(const Tensor& A, IntArrayRef sizes) {
  const int64_t count = native::lapack::matrix_count(A);
  Tensor numbers = zeros({count}, TensorOptions(kLong));
  int64_t* const filled = numbers.mutable_data_ptr<int64_t>();
  for (int64_t i = 0; i < count; ++i) filled[i] = i;
  numbers = numbers.view(meta::batch_sizes(A)).expand(sizes).contiguous();
  const int64_t* const values = numbers.const_data_ptr<int64_t>();
  return {values, values + numbers.numel()};
}

/// Whether `b` holds vectors [..., m] and not matrices [..., m, k].
bool check_problem(const Tensor& A, const Tensor& b, std::optional<std::string_view> driver) {
  TENON_CHECK(A.dim() >= 2, "[linalg.lstsq] input must have at least 2 dimensions.");
  TENON_CHECK(b.dim() >= 1, "[linalg.lstsq] other must have at least 1 dimension.");
  TENON_CHECK(A.scalar_type() == b.scalar_type(),
              "[linalg.lstsq] Expected input and other to have the same dtype, but got input's "
              "dtype ",
              A.scalar_type(), " and other's dtype ", b.scalar_type());
  TENON_CHECK(A.device() == b.device(),
              "[linalg.lstsq] Expected input and other to be on the same device, got ", A.device(),
              " and ", b.device());
  const int64_t more = A.dim() - b.dim();
  TENON_CHECK(more == 0 || more == 1,
              "[linalg.lstsq] input.dim() must be greater or equal to other.dim() and (input.dim() "
              "- other.dim()) <= 1");
  const bool vector =
      b.dim() == 1 ||
      (more == 1 && A.sizes().slice(0, static_cast<size_t>(A.dim() - 1)) == b.sizes());
  TENON_CHECK(b.dim() >= 2 || vector, "[linalg.lstsq] other must have at least 2 dimensions.");
  TENON_CHECK(A.size(-2) == b.size(vector ? -1 : -2), "[linalg.lstsq] input.size(-2) should match ",
              vector ? "other.size(-1)" : "other.size(-2)");
  meta::check_lapack_dtype("linalg.lstsq", A);
  TENON_CHECK(!driver || *driver == "gels" || *driver == "gelsy" || *driver == "gelsd" ||
                  *driver == "gelss",
              "[linalg.lstsq] parameter `driver` should be one of (gels, gelsy, gelsd, gelss)");
  return vector;
}

}  // namespace

/// X [..., n, k] that makes the norm of A X - B least, A [..., m, n], B [..., m, k] or vectors
/// [..., m]. Residuals [..., k], the squares of these norms, are there if m > n, all matrices have
/// full rank, and the driver is not gelsy; the rank [...] if it is not gels; singular values
/// [..., min(m, n)] if it is gelsd or gelss. gels takes full rank for granted.
std::tuple<Tensor, Tensor, Tensor, Tensor>
native::linalg_lstsq_cpu(const Tensor& self, const Tensor& b, std::optional<double> rcond,
                         std::optional<std::string_view> name) {
  const bool vector = check_problem(self, b, name);
  const Driver driver = !name || *name == "gelsy" ? Driver::kGelsy
                        : *name == "gels"         ? Driver::kGels
                        : *name == "gelsd"        ? Driver::kGelsd
                                                  : Driver::kGelss;
  const Tensor B = vector ? b.unsqueeze(-1) : b;
  const int64_t m = self.size(-2), n = self.size(-1), k = std::min(m, n), rows = std::max(m, n);
  const int64_t nrhs = B.size(-1);
  const DimVector batch_of_a = meta::batch_sizes(self);
  const DimVector batch = meta::broadcast_batch("linalg.lstsq", batch_of_a, meta::batch_sizes(B));
  const ScalarType real = to_real(self.scalar_type());
  const auto with = [](DimVector sizes, std::initializer_list<int64_t> more) {
    for (const int64_t size : more) sizes.push_back(size);
    return sizes;
  };
  // A column more where LAPACK takes none.
  const Tensor columns = zeros(with(batch, {std::max<int64_t>(nrhs, 1), rows}), self.options());
  const Tensor solution_and_rest = columns.narrow(-2, 0, nrhs).transpose(-2, -1);
  native::copy(solution_and_rest.narrow(-2, 0, m), B.expand(with(batch, {m, nrhs})));
  const bool with_values = driver == Driver::kGelsd || driver == Driver::kGelss;
  const Tensor rank = driver == Driver::kGels ? zeros({0}, self.options().dtype(kLong))
                                              : zeros(batch_of_a, self.options().dtype(kLong));
  const Tensor singular =
      zeros(with_values ? with(batch_of_a, {k}) : DimVector{0}, self.options().dtype(real));
  const std::vector<int64_t> of = broadcast_matrices(self, batch);
  const Tensor info = zeros({static_cast<int64_t>(of.size())}, TensorOptions(kInt));
  if (k > 0) {
    TENON_DISPATCH_FLOATING_AND_COMPLEX(self.scalar_type(), "linalg.lstsq", {
      const double limit =
          rcond ? *rcond
                : static_cast<double>(std::numeric_limits<lapack::RealOf<scalar_t>>::epsilon()) *
                      static_cast<double>(rows);
      solve<scalar_t>(self, of, columns, driver, limit, rank, singular, info);
    });
    tenon::_linalg_check_errors(info, "linalg.lstsq", batch.empty());
  }
  Tensor residuals = zeros({0}, self.options().dtype(real));
  if (m > n && driver != Driver::kGelsy && (!with_values || rank.eq(n).all().item().toBool())) {
    residuals = solution_and_rest.narrow(-2, n, m - n).abs().pow(2).sum(IntArrayRef(-2), false);
  }
  const Tensor solution = solution_and_rest.narrow(-2, 0, n);
  return {vector ? solution.squeeze(-1) : solution, residuals, rank, singular};
}

}  // namespace tenon
