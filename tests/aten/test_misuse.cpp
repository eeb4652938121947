// What goes wrong must be an error, and what looks odd but is right must work.
#include <atomic>
#include <catch2/catch.hpp>
#include <limits>
#include <thread>

#include "aten/generated_support/tensor_factories.h"
#include "tenon/ops/add.h"
#include "tenon/ops/arange.h"
#include "tenon/ops/as_strided_backward.h"
#include "tenon/ops/cat.h"
#include "tenon/ops/full.h"
#include "tenon/ops/linear_backward.h"
#include "tenon/ops/native_layer_norm_backward.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/prod_backward.h"
#include "tenon/ops/sum.h"
#include "tenon/ops/zeros.h"

using namespace tenon;
using Catch::Matchers::Contains;

TEST_CASE("methods of undefined tensors throw") {
  const Tensor none, x = ones({2});
  CHECK_FALSE(none.defined());
  CHECK_FALSE(none.requires_grad());
  CHECK_THROWS_AS(none.detach(), Error);
  CHECK_THROWS_AS(none.data(), Error);
  CHECK_THROWS_AS(none.detach_(), Error);
  CHECK_THROWS_AS(none.is_leaf(), Error);
  CHECK_THROWS_AS(none.grad_fn(), Error);
  CHECK_THROWS_AS(none.grad(), Error);
  CHECK_THROWS_AS(none.mutable_grad(), Error);
  CHECK_THROWS_AS(none.output_nr(), Error);
  CHECK_THROWS_AS(none.retains_grad(), Error);
  CHECK_THROWS_AS(none.retain_grad(), Error);
  CHECK_THROWS_AS(none.requires_grad_(), Error);
  CHECK_THROWS_AS(none.backward(), Error);
  CHECK_THROWS_AS(none.register_hook([](const Tensor& g) { return g; }), Error);
  CHECK_THROWS_AS(none.remove_hook(0), Error);
  CHECK_THROWS_AS(none._base(), Error);
  CHECK_THROWS_AS(none.set_data(x), Error);
  CHECK_THROWS_AS(x.set_data(none), Error);
  CHECK_THROWS_AS(none.item<float>(), Error);
  CHECK_THROWS_AS(none.cpu(), Error);
  CHECK_THROWS_AS(none[0], Error);
  CHECK_THROWS_AS(none.sizes(), Error);
  CHECK_THROWS_AS(none + x, Error);
  CHECK_THROWS_AS(x + none, Error);
}

TEST_CASE("memory that others share does not grow") {
  Tensor x = arange(4, kFloat);
  const Tensor view = x.view({2, 2});
  CHECK_THROWS_WITH(x.resize_({100}), Contains("share"));
  CHECK(view.sum().item<float>() == 6);
  x.resize_({2});  // what fits may be shared
  CHECK(x.sum().item<float>() == 1);
  Tensor own = arange(4, kFloat);
  own.resize_({100});
  CHECK(own[3].item<float>() == 3);
}

TEST_CASE("out= of other sizes that shares memory with an input is an error") {
  Tensor x = ones({2, 3});
  const Tensor row = ones({1});
  CHECK_THROWS_WITH(add_out(const_cast<Tensor&>(row), row, ones({3})), Contains("doesn't match"));
  CHECK_THROWS_WITH(sum_out(x, x, 0), Contains("shares memory"));
  CHECK_THROWS_WITH(cat_out(x, {x, x}), Contains("refer to a single memory location"));
  CHECK(x.equal(ones({2, 3})));
  Tensor part = x[0];
  sum_out(part, x, 0);
  CHECK(x[0].equal(full({3}, 2.)));
}

TEST_CASE("numbers beyond an integer type wrap around, bounds do not") {
  const int64_t big = int64_t{1} << 40;
  for (const ScalarType type : {kByte, kShort, kInt, kLong}) {
    const Tensor x = tensor({0, 5, 100}, type);
    const bool is_long = type == kLong;
    CHECK(x.lt(big).all().item<bool>() == is_long);
    CHECK(x.ge(-big).all().item<bool>());
    CHECK(x.eq(big)[0].item<bool>() != is_long);
    CHECK(x.clamp_max(big).equal(x));
    CHECK(x.slice(0, 0, 3, 2).clamp(-big, big).equal(x.slice(0, 0, 3, 2)));
  }
  CHECK((tensor({1}, kInt) + big).equal(tensor({1}, kInt)));  // arithmetic wraps around
  CHECK((tensor({1}, kByte) + 300).equal(tensor({45}, kByte)));
}

TEST_CASE("the least integer is its own negative") {
  const Scalar least(std::numeric_limits<int64_t>::min());
  CHECK((-least).toLong() == least.toLong());
  CHECK((-Scalar(true)).toLong() == -1);
}

TEST_CASE("sums and products of narrow integers stay inside their memory") {
  const Tensor wide = full({64, 3}, 100, kLong);
  for (const ScalarType type : {kByte, kShort, kInt, kBool}) {
    const Tensor sums = wide.sum(1, false, type), products = wide.prod(1, false, type);
    CHECK(sums.dtype() == type);
    CHECK(sums.to(kLong).equal(full({64}, type == kByte ? 44 : type == kBool ? 1 : 300, kLong)));
    CHECK(products.to(kLong).equal(wide.to(type).prod(1).to(type).to(kLong)));
    Tensor out = zeros({128}, type);
    Tensor half = out.slice(0, 0, 64);
    sum_out(half, wide, 1, false, type);
    CHECK_FALSE(out.slice(0, 64).any().item<bool>());
  }
}

TEST_CASE("counting of arange at the ends of int64") {
  const int64_t most = std::numeric_limits<int64_t>::max();
  const int64_t step = most / 3 * 2;
  const Tensor x = arange(-most, most, step);
  REQUIRE(x.numel() == 4);
  CHECK(x[3].item<int64_t>() == -most + step + step + step);
  CHECK(arange(most, -most, -most).numel() == 2);
  CHECK_THROWS_WITH(arange(-most, most), Contains("counted"));
  CHECK_THROWS_WITH(arange(0., 1e300), Contains("counted"));
}

TEST_CASE("results that the dtype does not have") {
  const Tensor mask = tensor({true, false});
  CHECK_THROWS_AS(zeros({2}, kShort).masked_fill(mask, tensor(1.5)), Error);
  CHECK(zeros({2}, kHalf).masked_fill(mask, tensor(1.5)).dtype() == kHalf);
  CHECK_THROWS_AS(zeros({}, kHalf).masked_fill(mask, tensor(1.5)), Error);
}

TEST_CASE("a tensor may be copied into another view of the same elements") {
  const Tensor wide = arange(3).expand({2, 3});
  Tensor same = wide.view_as(wide);
  same.copy_(wide);
  CHECK(same[1].equal(arange(3)));
  CHECK_THROWS_WITH(same.copy_(ones({3}, kLong)), Contains("single memory location"));
}

TEST_CASE("sizes of a tensor without dimensions") {
  const Tensor x = tensor(3.);
  CHECK_THROWS_AS(x.size(0), IndexError);
  CHECK_THROWS_AS(x.size(-1), IndexError);
  CHECK_THROWS_AS(x.stride(0), IndexError);
}

TEST_CASE("more chunks than elements") {
  const auto parts = arange(5).chunk(std::numeric_limits<int64_t>::max());
  REQUIRE(parts.size() == 5);
  CHECK(parts[4].item<int64_t>() == 4);
}

TEST_CASE("numbers of parts beyond all memory are errors at once") {
  const int64_t most = INT64_MAX;
  CHECK_THROWS_WITH(ones({3}).tensor_split(most),
                    Contains("cannot make 9223372036854775807 parts"));
  CHECK(ones({3}).split(most).size() == 1);
  CHECK_THROWS_WITH(ones({3}).split_with_sizes({most, most, 5}), Contains("sum exactly to 3"));
}

TEST_CASE("backward operators check what they are called with") {
  const Tensor x = ones({2, 3}), stat = ones({2, 1});
  const std::array<bool, 3> all{true, true, true};
  CHECK_THROWS_WITH(native_layer_norm_backward(x, x, {3}, ones({1}), stat, {}, {}, all),
                    Contains("values in mean and rstd"));
  CHECK_THROWS_WITH(native_layer_norm_backward(x, x, {2}, stat, stat, {}, {}, all),
                    Contains("Expected input of shape"));
  CHECK_THROWS_WITH(native_layer_norm_backward(x, x, {3}, stat, stat, ones({4}), {}, all),
                    Contains("Expected weight of shape"));
  CHECK_THROWS_AS(as_strided_backward(x, {6}, {}, 0, {2, 3}, {3, 1}, 0), ValueError);
  CHECK_THROWS_AS(linear_backward(ones({1}), ones({1}), tensor(1.), all), Error);
  CHECK(prod_backward(tensor(2.), tensor({3., 5.}), IntArrayRef{}, false).equal(tensor({10., 6.})));
}

TEST_CASE("threads that only read a tensor may detach it at once") {
  constexpr int kThreads = 4;
  for (int round = 0; round < 200; ++round) {
    const Tensor x = ones({4, 3}).t();
    std::vector<Tensor> copies(kThreads);
    std::vector<std::thread> threads;
    std::atomic<int> waiting{kThreads};
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        --waiting;
        while (waiting > 0) std::this_thread::yield();
        copies[i] = x.detach();
      });
    }
    for (auto& thread : threads) thread.join();
    copies[0].add_(1);
    for (const Tensor& copy : copies) REQUIRE(copy._version() == x._version());
    REQUIRE(x._version() == 1);
  }
}
