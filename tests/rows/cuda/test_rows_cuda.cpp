// Generated row kernels on a GPU, beside those of the CPU: lengths that take each way along a row,
// layouts, dtypes, gradients with those of columns.
#include <limits>

#include "aten/cuda/cuda_allocator.h"
#include "aten/cuda/stream.h"
#include "rowtest/ops/affine.h"
#include "rowtest/ops/amax.h"
#include "rowtest/ops/any.h"
#include "rowtest/ops/argmax.h"
#include "rowtest/ops/argmin.h"
#include "rowtest/ops/count.h"
#include "rowtest/ops/cross_entropy.h"
#include "rowtest/ops/farthest.h"
#include "rowtest/ops/layer_norm.h"
#include "rowtest/ops/log_softmax.h"
#include "rowtest/ops/logsumexp.h"
#include "rowtest/ops/min_all.h"
#include "rowtest/ops/normalize.h"
#include "rowtest/ops/numbers.h"
#include "rowtest/ops/position.h"
#include "rowtest/ops/prod.h"
#include "rowtest/ops/rms_norm.h"
#include "rowtest/ops/softmax.h"
#include "rowtest/ops/sum.h"
#include "rowtest/ops/total.h"
#include "rowtest/ops/var.h"
#include "rowtest/ops/variance.h"
#include "rowtest/ops/weighted_softmax.h"
#include "tenon/ops/empty.h"
#include "tenon/ops/full.h"
#include "tests/aten/cuda/support.h"

namespace tenon::test {
namespace {

using Tensors = std::vector<Tensor>;

Tensor integers(const std::vector<int64_t>& values, IntArrayRef sizes, ScalarType dtype = kLong) {
  const Tensor t = empty(sizes, TensorOptions(kLong));
  std::copy(values.begin(), values.end(), t.data_ptr<int64_t>());
  return t.to(dtype);
}

/// Functions of rows along the last dimension, of any dtype.
Tensors all_of(const Tensors& in) {
  const Tensor& x = in[0];
  return {rowtest::softmax(x, -1),    rowtest::log_softmax(x, -1), rowtest::logsumexp(x, -1),
          rowtest::var(x, {-1}),      rowtest::sum(x, -1, true),   rowtest::amax(x, {-1}),
          rowtest::prod(x, -1, true), rowtest::any(x, -1),         rowtest::min_all(x)};
}

TEST_CASE("rows on CUDA: every way along a row") {
  TENON_NEEDS_GPU();
  // A thread, part of a warp, a warp, several, a block, and more than registers hold; with and
  // without whole chunks. Rows are fewer and more than a block takes.
  for (const int64_t length : {1, 3, 8, 20, 64, 67, 256, 300, 512, 1030, 4096, 4100}) {
    const int64_t rows = length > 600 ? 2 : length > 100 ? 5 : 37;
    for (const ScalarType dtype : {kFloat, kDouble}) {
      INFO("rows of " << length << ", " << to_string(dtype));
      same_on_both(all_of, {sample({rows, length}, dtype).mul(0.5)});
    }
  }
}

TEST_CASE("rows on CUDA: few long rows are shared by several blocks") {
  TENON_NEEDS_GPU();
  for (const ScalarType dtype : {kFloat, kHalf, kLong}) {
    for (const int64_t length : {32768, 40003}) {
      INFO("rows of " << length << ", " << to_string(dtype));
      same_on_both(all_of, {sample({1, length}, dtype)}, dtype == kHalf ? 2e-2 : 1e-4);
    }
  }
  const auto norm = [](const Tensors& in) { return Tensors{rowtest::rms_norm(in[0], in[1])}; };
  const auto loss = [](const Tensors& in) { return Tensors{rowtest::cross_entropy(in[0], in[1])}; };
  const Tensor x = sample({2, 33000}, kDouble);
  same_on_both(norm, {x, sample({33000}, kDouble)});
  same_gradients(norm, {x, sample({33000}, kDouble)});
  same_on_both(loss, {x, integers({32999, -100}, {2})});
  same_gradients(loss, {x, integers({17, -100}, {2})});
}

TEST_CASE("rows on CUDA: positions, numbers of elements, extremes of numbers") {
  TENON_NEEDS_GPU();
  const auto f = [](const Tensors& in) {
    const Tensor& x = in[0];
    const auto [count, all] = rowtest::count(x, {-1});
    const auto [largest, smallest] = rowtest::numbers(x);
    const auto [value, place, before] = rowtest::farthest(x);
    return Tensors{rowtest::argmax(x, -1),
                   rowtest::argmin(x, -1),
                   rowtest::argmax(x),
                   count,
                   all,
                   largest,
                   smallest,
                   value,
                   place,
                   before};
  };
  for (const int64_t length : {1, 3, 67, 300, 1030, 4100, 40003}) {
    const int64_t rows = length > 600 ? 2 : 21;
    for (const ScalarType dtype : {kFloat, kDouble, kHalf, kLong, kBool}) {
      INFO("rows of " << length << ", " << to_string(dtype));
      // Whole numbers, so that rows have ties.
      const Tensor x = sample({rows, length}, kFloat).mul(2).round().to(dtype);
      same_on_both(f, {x});
    }
    Tensor with = sample({rows, length}, kFloat);
    with.data_ptr<float>()[length / 2] = std::numeric_limits<float>::quiet_NaN();
    with.data_ptr<float>()[length - 1] = std::numeric_limits<float>::quiet_NaN();
    same_on_both(
        [](const Tensors& in) {
          return Tensors{rowtest::argmax(in[0], -1), rowtest::argmin(in[0], -1)};
        },
        {with});
  }
  same_gradients([](const Tensors& in) { return Tensors{std::get<0>(rowtest::farthest(in[0]))}; },
                 {sample({4, 33}, kDouble)});
  same_gradients([](const Tensors& in) { return Tensors{std::get<0>(rowtest::numbers(in[0]))}; },
                 {sample({4, 33}, kDouble)});
}

TEST_CASE("rows on CUDA: a dtype that the call says, numbers that it leaves out") {
  TENON_NEEDS_GPU();
  for (const ScalarType dtype : {kDouble, kHalf, kInt, kByte}) {
    same_on_both(
        [=](const Tensors& in) { return Tensors{rowtest::total(in[0], -1, false, dtype)}; },
        {sample({5, 40}, kFloat).mul(4).abs()}, dtype == kHalf ? 1e-2 : 1e-4);
  }
  const auto f = [](const Tensors& in) {
    return Tensors{std::get<0>(rowtest::weighted_softmax(in[0], in[1], kDouble)),
                   rowtest::variance(in[0], -1), rowtest::variance(in[0], -1, 0)};
  };
  same_on_both(f, {sample({5, 24}, kFloat), sample({24}, kHalf)});
  same_gradients(f, {sample({5, 24}, kDouble), sample({24}, kDouble)});
}

TEST_CASE("rows on CUDA: dtypes") {
  TENON_NEEDS_GPU();
  for (const ScalarType dtype : {kBool, kByte, kShort, kInt, kLong, kHalf, kBFloat16}) {
    for (const int64_t length : {5, 48}) {
      INFO("rows of " << length << ", " << to_string(dtype));
      same_on_both(all_of, {sample({9, length}, dtype)});
    }
  }
  // Operands of several dtypes: promoted, and each row's statistics in float.
  same_on_both(
      [](const Tensors& in) {
        const auto [out, mean, rstd] = rowtest::layer_norm(in[0], {24}, in[1], in[2]);
        return Tensors{out, mean, rstd, rowtest::rms_norm(in[0], in[1])};
      },
      {sample({7, 24}, kHalf), sample({24}, kFloat), sample({24}, kBFloat16)});
}

TEST_CASE("rows on CUDA: any dimensions, any layout") {
  TENON_NEEDS_GPU();
  const auto f = [](const Tensors& in) {
    return Tensors{rowtest::softmax(in[0], 0),
                   rowtest::softmax(in[0], 1),
                   rowtest::normalize(in[0], {0, 2}),
                   rowtest::logsumexp(in[0], IntArrayRef({1, 2})),
                   rowtest::sum(in[0]),
                   rowtest::amax(in[0], {0}, true)};
  };
  const Tensor x = sample({6, 5, 8}, kFloat);
  for (const Tensor& t : {x, x.permute({2, 0, 1}), x.transpose(0, 1), x.slice(2, 1, 7, 2),
                          sample({6, 1, 8}, kFloat).expand({6, 5, 8}),
                          sample({6, 5, 1}, kFloat).expand({6, 5, 8}), x.slice(2, 1, 8)}) {
    INFO(t.sizes() << " with strides " << t.strides());
    same_on_both(f, {t});
  }
  // So many rows side by side that each is a thread's.
  same_on_both([](const Tensors& in) { return Tensors{rowtest::softmax(in[0], 0)}; },
               {sample({11, 4200}, kHalf)});
  // Elements that are broadcast to one another, values of rows.
  const auto affine = [](const Tensors& in) {
    const auto [a, b] = in.size() > 3 ? rowtest::affine(in[0], in[1], in[2], in[3])
                                      : rowtest::affine(in[0], in[1], in[2]);
    return Tensors{a, b};
  };
  same_on_both(affine, {sample({5, 3, 8}, kFloat), sample({3, 1}, kFloat), sample({5}, kFloat)});
  same_on_both(affine, {sample({5, 3, 8}, kInt), sample({8}, kInt), sample({5, 1, 1}, kInt),
                        sample({5}, kInt)});
  same_on_both([](const Tensors& in) { return Tensors{rowtest::position(in[0])}; },
               {sample({5, 19}, kFloat)});
}

TEST_CASE("rows on CUDA: empty, infinite, NaN") {
  TENON_NEEDS_GPU();
  const auto f = [](const Tensors& in) {
    return Tensors{rowtest::sum(in[0], 1), rowtest::prod(in[0], 1), rowtest::any(in[0], 1),
                   rowtest::var(in[0], {1}), rowtest::rms_norm(in[0], in[0].sum(0))};
  };
  same_on_both(f, {empty({3, 0}, TensorOptions(kFloat))});
  same_on_both(f, {empty({0, 3}, TensorOptions(kFloat))});
  const Tensor no_rows = empty({0, 3}, TensorOptions(kFloat));
  same_gradients([](const Tensors& in) { return Tensors{rowtest::rms_norm(in[0], in[1])}; },
                 {no_rows, sample({3}, kFloat)});
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const Tensor x = sample({6, 40}, kFloat);
  x.select(0, 1).fill_(-kInf);
  x.select(0, 2).select(0, 39).fill_(kInf);
  x.select(0, 3).select(0, 17).fill_(std::numeric_limits<double>::quiet_NaN());
  x.select(0, 4).fill_(0);
  same_on_both(all_of, {x});
  // 2^16 times 0.1 in float: within three units of the last place.
  const Tensor tenths = tenon::full({1, 65536}, 0.1, TensorOptions(kFloat).device(kCUDA));
  CHECK(rowtest::sum(tenths, 1).item<double>() == Approx(6553.6).epsilon(3 * 1.2e-7));
}

TEST_CASE("rows on CUDA: one position of a row") {
  TENON_NEEDS_GPU();
  const auto f = [](const Tensors& in) { return Tensors{rowtest::cross_entropy(in[0], in[1])}; };
  for (const ScalarType dtype : {kFloat, kDouble, kHalf}) {
    const Tensor x = sample({6, 9}, dtype), target = integers({8, 0, -100, 3, 4, 1}, {6}, kInt);
    same_on_both(f, {x, target});
    same_gradients(f, {x, target});
  }
  const Tensor x = sample({2, 4500}, kFloat);
  same_on_both(f, {x, integers({4499, 17}, {2})});
  same_gradients(f, {x, integers({4499, -100}, {2})});
  REQUIRE_THROWS_WITH(f({x.cuda(), integers({1, 2, 3}, {3}).cuda()}),
                      Catch::Contains("'target' must have one value per row, shape [2], got [3]"));
}

/// Run by itself: a kernel that stops ends the use of its GPU.
TEST_CASE("rows on CUDA: a position out of range", "[.out_of_range]") {
  TENON_NEEDS_GPU();
  const Tensor x = sample({3, 9}, kFloat).cuda();
  rowtest::cross_entropy(x, integers({8, 9, -100}, {3}).cuda()).cpu();
}

TEST_CASE("rows on CUDA: gradients, those of columns too") {
  TENON_NEEDS_GPU();
  const auto norms = [](const Tensors& in) {
    const int64_t n = in[0].size(-1);
    const auto [out, mean, rstd] = rowtest::layer_norm(in[0], {n}, in[1], in[2]);
    return Tensors{out, mean, rstd, rowtest::rms_norm(in[0], in[1])};
  };
  // More rows than groups of threads; rows in registers and longer than that; whole chunks or not.
  for (const auto& [rows, n] :
       {std::pair<int64_t, int64_t>{700, 5}, {90, 64}, {9, 301}, {3, 4112}}) {
    INFO(rows << " rows of " << n);
    same_gradients(norms, {sample({rows, n}, kFloat), sample({n}, kFloat), sample({n}, kFloat)},
                   1e-4);
  }
  same_gradients(norms,
                 {sample({4, 3, 20}, kBFloat16), sample({20}, kBFloat16), sample({20}, kBFloat16)},
                 0.1);
  same_gradients(norms, {sample({30, 18}, kDouble), sample({18}, kDouble), sample({18}, kDouble)});
  const auto more = [](const Tensors& in) {
    return Tensors{rowtest::softmax(in[0], 1), rowtest::log_softmax(in[0], 0),
                   rowtest::logsumexp(in[0]),  rowtest::var(in[0], {0, 1}),
                   rowtest::prod(in[0], 1),    rowtest::amax(in[0], {0}),
                   rowtest::position(in[0]),   rowtest::normalize(in[0], {1})};
  };
  same_gradients(more, {sample({5, 12}, kDouble)});
  same_gradients(more, {sample({12, 5}, kDouble).t()});
  // One gradient of several.
  Tensor x = sample({8, 12}, kFloat), w = sample({12}, kFloat).requires_grad_();
  rowtest::rms_norm(x, w).sum().backward();
  Tensor on_gpu = w.detach().cuda().requires_grad_();
  rowtest::rms_norm(x.cuda(), on_gpu).sum().backward();
  CHECK(difference(w.grad(), on_gpu.grad(), 1e-5) == "");
}

TEST_CASE("rows on CUDA: a kernel of its own, not operators, however long a row is") {
  TENON_NEEDS_GPU();
  const auto allocations = [](const Tensor& x) {
    const size_t before = cuda::memory_stats().allocations;
    rowtest::softmax(x, 1);
    return cuda::memory_stats().allocations - before;
  };
  CHECK(allocations(tenon::full({70, 20}, 1, TensorOptions(kFloat).device(kCUDA))) == 1);
  // The result, and what the blocks of a row leave for one another.
  CHECK(allocations(tenon::full({2, 70000}, 1, TensorOptions(kHalf).device(kCUDA))) <= 2);
}

}  // namespace
}  // namespace tenon::test
