// sort, topk, cumsum, nonzero and masked_select: stretches that a block sorts or adds up, several
// of them, many short rows, other dimensions, every dtype.
#include <limits>

#include "tenon/ops/empty.h"
#include "tenon/ops/full.h"
#include "tests/aten/cuda/support.h"

namespace tenon::test {
namespace {

using Tensors = std::vector<Tensor>;

constexpr ScalarType kReal[] = {kBool, kByte, kChar,  kShort,    kInt,
                                kLong, kHalf, kFloat, kBFloat16, kDouble};

Tensors sorted(const Tensors& in) {
  const auto [up, up_at] = in[0].sort(true, 0, false);
  const auto [down, down_at] = in[0].sort(true, -1, true);
  return {up, up_at, down, down_at};
}

/// The values alone are the same where elements are equal.
Function chosen(int64_t k, int64_t dim) {
  return [=](const Tensors& in) {
    const auto [most, most_at] = in[0].topk(k, dim);
    const auto [least, least_at] = in[0].topk(k, dim, false);
    return Tensors{most, in[0].gather(dim, most_at), least, in[0].gather(dim, least_at)};
  };
}

TEST_CASE("sorting on a GPU") {
  TENON_NEEDS_GPU();
  for (const ScalarType dtype : kReal) {
    INFO(to_string(dtype));
    // Many equal ones, so that the order of equal ones shows.
    same_on_both(sorted, {sample({37, 21}, dtype)}, 0);
    same_on_both(chosen(5, 1), {sample({9, 50}, dtype)}, 0);
  }
  // Longer than a block sorts, not by a power of two, and longer than two stretches.
  for (const int64_t length : {1024, 1025, 2500, 5000}) {
    INFO("rows of " << length);
    same_on_both(sorted, {sample({2, length}, kFloat)}, 0);
    same_on_both(sorted, {sample({length, 2}, kLong)}, 0);
    same_on_both(chosen(20, 0), {sample({length}, kDouble)}, 0);
  }
  for (const int64_t k : {1, 1500}) same_on_both(chosen(k, 0), {sample({5000}, kInt)}, 0);
  const Tensor cube = sample({5, 6, 7}, kFloat);
  for (const int64_t dim : {0, 1, 2}) same_on_both(chosen(3, dim), {cube}, 0);
  same_on_both(sorted, {cube.select(1, 2).t()}, 0);
  same_on_both(sorted, {empty({0, 3}, TensorOptions(kFloat))});
  same_on_both(sorted, {tenon::full({}, 3.5, TensorOptions(kFloat))});
  const Tensor odd = sample({4, 9}, kFloat);
  odd.select(1, 3).fill_(std::numeric_limits<double>::quiet_NaN());
  odd.select(1, 4).fill_(-std::numeric_limits<double>::infinity());
  odd.select(1, 5).fill_(-0.0);
  odd.select(1, 7).fill_(0.0);
  same_on_both(sorted, {odd}, 0);
  same_on_both(chosen(4, 1), {odd}, 0);
  same_gradients(
      [](const Tensors& in) {
        return Tensors{std::get<0>(in[0].sort(1)), std::get<0>(in[0].topk(2, 0))};
      },
      {cube.select(0, 1)});
}

TEST_CASE("sums so far on a GPU") {
  TENON_NEEDS_GPU();
  const auto sums = [](const Tensors& in) { return Tensors{in[0].cumsum(0), in[0].cumsum(-1)}; };
  for (const ScalarType dtype : {kBool, kByte, kShort, kInt, kLong, kHalf, kBFloat16, kFloat,
                                 kDouble, kComplexFloat, kComplexDouble}) {
    INFO(to_string(dtype));
    same_on_both(sums, {sample({7, 130}, dtype)});
  }
  // One tile, several, and so many that blocks share a row.
  for (const int64_t length : {1, 1024, 1025, 3000, 20000}) {
    INFO("rows of " << length);
    same_on_both(sums, {sample({length}, kLong)}, 0);
    same_on_both(sums, {sample({2, length}, kDouble)}, 1e-9);
  }
  same_on_both(sums, {sample({4, 5, 6}, kFloat).permute({2, 0, 1})});
  same_on_both(sums, {empty({3, 0}, TensorOptions(kFloat))});
  same_on_both(sums, {tenon::full({}, 3.5, TensorOptions(kFloat))});
  const Tensor odd = sample({2, 300}, kFloat);
  odd.select(0, 0).select(0, 70).fill_(std::numeric_limits<double>::infinity());
  odd.select(0, 1).select(0, 200).fill_(std::numeric_limits<double>::quiet_NaN());
  same_on_both([](const Tensors& in) { return Tensors{in[0].cumsum(1)}; }, {odd});
  same_gradients(sums, {sample({3, 40}, kDouble)});
}

TEST_CASE("what a condition selects on a GPU") {
  TENON_NEEDS_GPU();
  const auto selected = [](const Tensors& in) {
    const Tensor mask = in[0].gt(0);
    return Tensors{in[0].masked_select(mask), mask.nonzero(), in[0].nonzero()};
  };
  for (const ScalarType dtype : {kByte, kInt, kLong, kHalf, kBFloat16, kFloat, kDouble}) {
    INFO(to_string(dtype));
    same_on_both(selected, {sample({6, 43}, dtype).sub(sample({6, 43}, dtype, 2))}, 0);
  }
  same_on_both([](const Tensors& in) { return Tensors{in[0].nonzero()}; },
               {sample({5, 4, 3}, kComplexFloat).mul(sample({5, 4, 3}, kBool))}, 0);
  // Several blocks, and so many that adding up their counts takes two turns.
  for (const int64_t n : {1024, 1025, 5000}) same_on_both(selected, {sample({n}, kFloat)}, 0);
  const Tensor many = tenon::full({257, 1024}, false, TensorOptions(kBool));
  for (const int64_t block : {0, 7, 255, 256}) many.select(0, block).select(0, 100).fill_(true);
  same_on_both([](const Tensors& in) { return Tensors{in[0].nonzero()}; }, {many}, 0);
  const Tensor x = sample({8, 5, 6}, kFloat);
  same_on_both(selected, {x.transpose(0, 2)}, 0);
  same_on_both(selected, {tenon::full({3, 4}, 0, TensorOptions(kFloat))}, 0);
  same_on_both(selected, {empty({0, 4}, TensorOptions(kFloat))}, 0);
  same_on_both(selected, {tenon::full({}, 3.5, TensorOptions(kFloat))}, 0);
  same_on_both(
      [](const Tensors& in) {
        return Tensors{in[0].masked_select(in[1]), in[1].masked_select(in[1])};
      },
      {sample({4, 1, 6}, kLong), sample({5, 1}, kBool)}, 0);
  REQUIRE_THROWS_WITH(x.cuda().masked_select(x.gt(0)),
                      Catch::Contains("[masked_select] expected self and mask on one device"));
}

}  // namespace
}  // namespace tenon::test
