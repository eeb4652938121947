#include "tenon/native/_linalg_check_errors.h"

#include <algorithm>
#include <string>

#include "aten/common/linalg_error.h"
#include "tenon/tensor.h"

namespace tenon {
namespace {

/// What LAPACK's positive `info` means for the operator, and how the text ends.
struct Meaning {
  const char* op;  ///< a part of the operator's name; the first that fits counts
  const char* begin;
  const char* end;
};

constexpr Meaning kMeanings[] = {
    {"inv", "The diagonal element ",
     " is zero, the inversion could not be completed because the input matrix is singular."},
    {"solve", "The solver failed because the input matrix is singular.", nullptr},
    {"cholesky",
     "The factorization could not be completed because the input is not positive-definite (the "
     "leading minor of order ",
     " is not positive-definite)."},
    {"svd",
     "The algorithm failed to converge because the input matrix is ill-conditioned or has too many "
     "repeated singular values (error code: ",
     ")."},
    {"eig",
     "The algorithm failed to converge because the input matrix is ill-conditioned or has too many "
     "repeated eigenvalues (error code: ",
     ")."},
    {"syevd",
     "The algorithm failed to converge because the input matrix is ill-conditioned or has too many "
     "repeated eigenvalues (error code: ",
     ")."},
    {"lstsq",
     "The least squares solution could not be computed because the input matrix does not have full "
     "rank (error code: ",
     ")."},
};

}  // namespace

/// Throws LinAlgError if `info`, which LAPACK gives for each matrix, is not zero somewhere. The
/// first matrix of the batch that failed is named, unless is_matrix says that there is one alone.
void native::_linalg_check_errors(const Tensor& info, std::string_view api_name, bool is_matrix) {
  if (info.device().type() == DeviceType::Meta || info.numel() == 0) return;
  const Tensor codes = info.to(kCPU).to(kInt).contiguous();
  const auto* values = codes.const_data_ptr<int32_t>();
  const auto* failed =
      std::find_if(values, values + codes.numel(), [](int32_t code) { return code != 0; });
  if (failed == values + codes.numel()) return;
  const std::string op = "[" + std::string(api_name) + "] ";
  const std::string place =
      is_matrix ? std::string() : detail::concat("(Batch element ", failed - values, "): ");
  const int32_t code = *failed;
  TENON_CHECK(code > 0, op, place, "Argument ", -code, " has illegal value");
  TENON_CHECK(api_name.find("lu_factor") == std::string_view::npos, op, place, "U[", code, ",",
              code,
              "] is zero and using it on lu_solve would result in a division by zero. If you still "
              "want to perform the factorization, consider calling linalg.lu(A, pivot) or "
              "linalg.lu_factor_ex(A, pivot)");
  for (const Meaning& m : kMeanings) {
    if (api_name.find(m.op) == std::string_view::npos) continue;
    if (m.end) throw LinAlgError(detail::concat(op, place, m.begin, code, m.end));
    throw LinAlgError(op + place + m.begin);
  }
  TENON_CHECK(false, op, place, "Unknown error code: ", code);
}

}  // namespace tenon
