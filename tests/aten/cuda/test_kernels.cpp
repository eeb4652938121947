#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "aten/dispatch/operator_entry.h"

namespace tenon::test {
namespace {

bool has_kernel(const OperatorEntry& op, Backend backend) {
  return op.kernels()[1 + static_cast<int>(backend)] != nullptr;
}

// Needs no GPU. docs/known_limits.md says why those that are named here have none.
TEST_CASE("what has a kernel on a CPU has one on CUDA") {
  const std::set<std::string> only_on_cpu = {"_ctc_loss",
                                             "_ctc_loss_backward",
                                             "_fft_c2c",
                                             "_fft_c2r",
                                             "_fft_r2c",
                                             "_grid_sample",
                                             "_grid_sample_backward",
                                             "_histogramdd_from_bin_tensors",
                                             "_linalg_det",
                                             "_linalg_eigh",
                                             "_linalg_eigvals",
                                             "_linalg_slogdet",
                                             "_linalg_solve_ex",
                                             "_linalg_svd",
                                             "_scaled_dot_product_flash_attention_for_cpu",
                                             "_scaled_dot_product_flash_attention_for_cpu_backward",
                                             "_segment_reduce_backward",
                                             "binomial",
                                             "cholesky_inverse",
                                             "fractional_max_pool2d",
                                             "fractional_max_pool3d",
                                             "geqrf",
                                             "linalg_cholesky_ex",
                                             "linalg_eig",
                                             "linalg_inv_ex",
                                             "linalg_ldl_factor_ex",
                                             "linalg_ldl_solve",
                                             "linalg_lstsq",
                                             "linalg_lu_factor_ex",
                                             "linalg_lu_solve",
                                             "linalg_qr",
                                             "linalg_solve_triangular",
                                             "lu_unpack",
                                             "mode",
                                             "multilabel_margin_loss_backward",
                                             "multilabel_margin_loss_forward",
                                             "orgqr",
                                             "ormqr",
                                             "poisson",
                                             "scatter_reduce",
                                             "scatter_reduce_",
                                             "segment_reduce"};
  size_t on_both = 0;
  std::set<std::string> missing;
  for (const OperatorEntry* op : all_operators()) {
    if (!has_kernel(*op, Backend::CPU)) continue;
    if (has_kernel(*op, Backend::CUDA)) {
      ++on_both;
    } else {
      const std::string name = op->qualified_name();
      const std::string overload = name.substr(name.rfind(':') + 1);
      missing.insert(overload.substr(0, overload.find('.')));
    }
  }
  for (const std::string& name : missing) {
    INFO(name);
    CHECK(only_on_cpu.count(name));
  }
  for (const std::string& name : only_on_cpu) CHECK(missing.count(name));
  CHECK(on_both > 300);
}

}  // namespace
}  // namespace tenon::test
