#include "aten/cuda/index_limit.h"
#include "tenon/ops/arange.h"
#include "tenon/ops/avg_pool2d.h"
#include "tenon/ops/batch_norm.h"
#include "tenon/ops/conv2d.h"
#include "tenon/ops/conv_transpose2d.h"
#include "tenon/ops/index.h"
#include "tenon/ops/max_pool2d.h"
#include "tests/aten/cuda/support.h"

namespace tenon::test {
namespace {

using Tensors = std::vector<Tensor>;

TEST_CASE("pointwise work beyond the index limit is split") {
  TENON_NEEDS_GPU();
  for (int64_t limit : {2, 7, 64, 1000}) {
    INFO("limit " << limit);
    const cuda::LowerIndexLimit lower(limit);
    same_on_both(
        [](const Tensors& in) {
          return Tensors{in[0].add(in[1]), in[0].mul(in[2]), in[0].t().sub(in[0].t().exp()),
                         in[0].select(1, 3).neg(), in[0].slice(0, 1, 11, 3).gt(in[2])};
        },
        {sample({12, 9}, kFloat), sample({12, 1}, kFloat, 2), sample({9}, kFloat, 3)});
  }
}

TEST_CASE("reductions beyond the index limit") {
  TENON_NEEDS_GPU();
  for (int64_t limit : {7, 30}) {  // rows are copied, which takes pieces of an element at least
    const cuda::LowerIndexLimit lower(limit);
    const Tensor t = sample({4, 5, 6, 7}, kDouble);
    same_on_both(
        [](const Tensors& in) {
          const Tensor& a = in[0];
          return Tensors{a.sum(), a.sum({0, 2}), a.transpose(1, 3).sum({1, 2}), a.argmax(1),
                         a.var(IntArrayRef{1, 3}, 1)};
        },
        {t});
  }
}

TEST_CASE("indices beyond the index limit are taken apart all the same") {
  TENON_NEEDS_GPU();
  const cuda::LowerIndexLimit lower(5);
  const Tensor index = tenon::arange(12).remainder(4).view({2, 6});
  same_on_both(
      [](const Tensors& in) {
        const auto x = in[0].unsqueeze(0);
        return Tensors{tenon::conv2d(x, in[2], {}, 2, 1),
                       tenon::conv_transpose2d(x, in[2].transpose(0, 1), {}, 2, 1),
                       tenon::avg_pool2d(x, {3, 2}, {2, 1}, {1, 1}),
                       tenon::max_pool2d(x, 2),
                       tenon::batch_norm(x, {}, {}, {}, {}, true, 0.1, 1e-5, true),
                       in[0].repeat({2, 1, 3}),
                       in[0].roll({1, -9}, {0, 2}),
                       in[0].flip({0, 2}),
                       in[0].tril(1),
                       in[0].index_select(1, in[1].select(0, 0)),
                       in[0].index_add(1, in[1].select(0, 0), in[0].slice(1, 0, 6)),
                       tenon::index(in[0], {std::nullopt, in[1]})};
      },
      {sample({3, 6, 7}, kFloat), index, sample({4, 3, 2, 3}, kFloat, 2)});
}

TEST_CASE("the limit is back at the end of the scope") {
  const int64_t before = cuda::index_limit();
  { const cuda::LowerIndexLimit lower(5); }
  CHECK(cuda::index_limit() == before);
  CHECK(before == int64_t{1} << 31);
}

}  // namespace
}  // namespace tenon::test
