// The operators of examples/custom_operator on a GPU: one kernel by hand, the others generated.
#include "custom/ops/cross_entropy_rows.h"
#include "custom/ops/rms_norm.h"
#include "custom/ops/rms_scale.h"
#include "custom/ops/swiglu.h"
#include "tenon/ops/arange.h"
#include "tenon/ops/empty.h"
#include "tests/aten/cuda/support.h"

namespace tenon::test {
namespace {

using Tensors = std::vector<Tensor>;

TEST_CASE("the example's operators on CUDA") {
  TENON_NEEDS_GPU();
  const auto norms = [](const Tensors& in) {
    return Tensors{custom::rms_scale(in[0], in[1]), custom::rms_norm(in[0], in[1])};
  };
  for (const ScalarType dtype : {kFloat, kDouble}) {
    INFO(to_string(dtype));
    // Fewer columns than a warp, than a block, and more; one row and several.
    for (const int64_t n : {5, 100, 300}) {
      same_on_both(norms, {sample({2, 3, n}, dtype), sample({n}, dtype)});
      same_gradients(norms, {sample({3, n}, dtype), sample({n}, dtype)}, 1e-4);
    }
    same_on_both(norms, {sample({4, 6}, dtype).t(), sample({4}, dtype)});
    same_on_both(norms, {empty({0, 6}, TensorOptions(dtype)), sample({6}, dtype)});
    same_on_both([](const Tensors& in) { return Tensors{custom::swiglu(in[0], in[1])}; },
                 {sample({3, 1}, dtype), sample({4}, dtype)});
    same_gradients(
        [](const Tensors& in) {
          const Tensor target = (tenon::arange(3) - 1).to(in[0].device());
          return Tensors{custom::cross_entropy_rows(in[0], target, -1)};
        },
        {sample({3, 4}, dtype)});
  }
  const Tensor x = sample({2, 3}, kFloat).cuda(), out = empty({3, 2}, x.options()).t();
  Tensor given = out;
  custom::rms_scale_out(given, x, sample({3}, kFloat).cuda());
  CHECK(difference(custom::rms_scale(x, sample({3}, kFloat).cuda()).cpu(), out, 0) == "");
}

}  // namespace
}  // namespace tenon::test
