#include <limits>
#include <sstream>
#include <string>

#include "aten/generated_support/tensor_factories.h"
#include "aten/generated_support/tensor_index.h"
#include "tenon/ops/arange.h"
#include "tenon/ops/equal.h"
#include "tenon/ops/gather.h"
#include "tenon/ops/index.h"
#include "tenon/ops/index_put.h"
#include "tenon/ops/index_select.h"
#include "tenon/ops/masked_select.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/scalar_tensor.h"
#include "tenon/ops/scatter.h"
#include "tenon/ops/zeros.h"
#include "tests/aten/test_support.h"

using namespace tenon;
using tenon::test::check_error;
using tenon::test::close;
using tenon::test::values;

namespace {

Tensor numbered(IntArrayRef sizes) { return tenon::arange(numel_of(sizes)).to(kFloat).view(sizes); }

}  // namespace

TEST_CASE("index_select") {
  const Tensor t = numbered({2, 3});
  const Tensor index = tenon::tensor({2, 0, 2});
  CHECK(close(values(t.index_select(1, index)), {2, 0, 2, 5, 3, 5}));
  CHECK(close(values(t.t().index_select(0, index.to(kInt))), {2, 5, 0, 3, 2, 5}));
  CHECK(t.index_select(0, tenon::zeros({0}, kLong)).sizes() == IntArrayRef({0, 3}));
  check_error<IndexError>([&] { t.index_select(0, tenon::tensor({5})); },
                          "index out of range in self");
  check_error([&] { t.index_select(0, tenon::tensor({1.0})); },
              "Expected dtype int32 or int64 for index");
  check_error<IndexError>([&] { t.index_select(0, tenon::tensor({{1}})); },
                          "Index is supposed to be a vector");
}

TEST_CASE("index_add and index_fill") {
  const Tensor t = tenon::zeros({3, 2});
  const Tensor index = tenon::tensor({0, 2, 0});
  CHECK(close(values(t.index_add(0, index, tenon::ones({3, 2}), 2)), {4, 4, 0, 0, 2, 2}));
  CHECK(close(values(t.index_fill(0, tenon::tensor({-1}), 7)), {0, 0, 0, 0, 7, 7}));
  CHECK(close(values(numbered({4}).index_add(0, tenon::tensor({1, 1}), tenon::ones({2}))),
              {0, 3, 2, 3}));
  check_error(
      [&] {
        t.index_add(0, index, tenon::ones({2, 2}));
      },
      "Number of indices (3) should be equal to source.size(dim): (2), for dim: 0");
  check_error<IndexError>(
      [&] {
        t.index_add(0, tenon::tensor({3}), tenon::ones({1, 2}));
      },
      "index 3 is out of bounds");
}

TEST_CASE("index_add adds in order, whatever the width and the number of rows") {
  for (const int64_t width : {1, 3, 64, 200}) {
    const Tensor source = (arange(5000 * width) % 97).view({5000, width}).to(kDouble);
    const Tensor index = arange(5000) * 7 % 11;
    for (const double alpha : {1.0, -0.5}) {
      Tensor wanted = ones({11, width}, kDouble);
      double* w = wanted.data_ptr<double>();
      for (int64_t k = 0; k < 5000; ++k) {
        for (int64_t j = 0; j < width; ++j)
          w[k * 7 % 11 * width + j] += alpha * static_cast<double>((k * width + j) % 97);
      }
      CHECK(ones({11, width}, kDouble).index_add_(0, index, source, alpha).equal(wanted));
    }
  }
}

TEST_CASE("the first index out of range is named, wherever it stands") {
  const Tensor x = arange(10);
  for (const int64_t wrong : {int64_t{10}, int64_t{-1}, std::numeric_limits<int64_t>::min(),
                              std::numeric_limits<int64_t>::max()}) {
    Tensor index = zeros({200001}, kLong);
    index.data_ptr<int64_t>()[200000] = wrong;
    const std::string number = std::to_string(wrong);
    CHECK_THROWS_WITH(index_select(x, 0, index), Catch::Matchers::Contains(number));
    CHECK_THROWS_WITH(gather(x, 0, index), Catch::Matchers::Contains(number));
  }
}

TEST_CASE("gather and scatter") {
  const Tensor t = numbered({2, 3});
  const Tensor index = tenon::tensor({{2, 0}, {1, 1}});
  CHECK(close(values(t.gather(1, index)), {2, 0, 4, 4}));
  CHECK(close(values(t.gather(0, tenon::tensor({{1, 0, 1}}))), {3, 1, 5}));
  CHECK(close(values(t.t().gather(1, tenon::tensor({{1}, {0}}))), {3, 1}));
  CHECK(close(values(t.scatter_add(1, index, tenon::ones({2, 2}))), {1, 1, 3, 3, 6, 5}));
  CHECK(close(values(tenon::scatter(t, 0, tenon::tensor({{1, 0, 1}}), -1)), {0, -1, 2, -1, 4, -1}));
  CHECK(close(values(tenon::scatter(t, 1, index, numbered({2, 3}))), {1, 1, 0, 3, 4, 5}));
  CHECK(tenon::scalar_tensor(3).gather(0, tenon::tensor(0)).item<double>() == 3);
  const Tensor big = numbered({3, 4, 5});
  const Tensor places = tenon::tensor({{{0, 1}, {2, 3}}, {{1, 1}, {0, 2}}});
  CHECK(close(values(big.gather(1, places)), {0, 6, 10, 16, 25, 26, 20, 31}));
  check_error<Error>([&] { t.gather(0, tenon::tensor({{7}})); },
                     "index 7 is out of bounds for dimension 0 with size 2");
  check_error([&] { t.gather(0, tenon::tensor({1})); },
              "Index tensor must have the same number of dimensions");
  check_error(
      [&] {
        t.gather(0, tenon::zeros({2, 4}, kLong));
      },
      "Size does not match at dimension 1 expected index [2, 4] to be no larger than self [2, 3] "
      "apart from dimension 0");
  check_error(
      [&] {
        t.scatter_add(1, index, tenon::ones({1, 2}));
      },
      "Expected index [2, 2] to be no larger than self [2, 3] apart from dimension 1 and to be no "
      "larger size than src [1, 2]");
}

TEST_CASE("masked_select and nonzero") {
  const Tensor t = numbered({2, 3});
  const Tensor mask = tenon::tensor({{true, false, true}, {false, false, true}});
  CHECK(close(values(t.masked_select(mask)), {0, 2, 5}));
  CHECK(close(values(t.t().masked_select(mask.t())), {0, 2, 5}));
  CHECK(close(values(t.masked_select(tenon::tensor({false, true, false}))), {1, 4}));
  CHECK(t.masked_select(tenon::tensor(false)).numel() == 0);
  CHECK(close(values(mask.nonzero()), {0, 0, 0, 2, 1, 2}));
  CHECK(tenon::scalar_tensor(1).nonzero().sizes() == IntArrayRef({1, 0}));
  check_error([&] { t.masked_select(t); }, "expected BoolTensor for mask");
}

TEST_CASE("TensorIndex takes what stands between the brackets of Python") {
  using namespace tenon::indexing;
  const Tensor t = numbered({2, 3, 4});
  CHECK(t.index({1, 2, 3}).item<float>() == 23);
  CHECK(t.index({-1, "...", 0}).sizes() == IntArrayRef({3}));
  CHECK(t.index({Ellipsis, Slice(1, None, 2)}).sizes() == IntArrayRef({2, 3, 2}));
  CHECK(t.index({None, 0, Slice(), None}).sizes() == IntArrayRef({1, 3, 1, 4}));
  CHECK(t.index({true}).sizes() == IntArrayRef({1, 2, 3, 4}));
  CHECK(t.index({false, Slice(), 0}).sizes() == IntArrayRef({0, 2, 4}));
  CHECK(t.index({0}).is_alias_of(t));
  CHECK(t.index({Ellipsis}).is_alias_of(t));
  CHECK_FALSE(t.index({Ellipsis}).is_same(t));

  const Tensor picked = tenon::tensor({1, 0});
  CHECK(close(values(t.index({Slice(), picked, 0})), {4, 0, 16, 12}));
  CHECK(close(values(t.index({0, picked, picked})), {5, 0}));
  CHECK(t.index({picked, Slice(), tenon::tensor({{1}, {2}, {3}})}).sizes() ==
        IntArrayRef({3, 2, 3}));
  CHECK(t.index({tenon::tensor(1)}).is_alias_of(t));
  const Tensor mask = tenon::tensor({{true, false, true}, {false, true, false}});
  CHECK(close(values(t.index({mask, Slice(1, 3)})), {1, 2, 9, 10, 17, 18}));
  CHECK(close(values(t.index({mask, 0})), {0, 8, 16}));
  CHECK(t.index({mask, None}).sizes() == IntArrayRef({3, 1, 4}));
  CHECK(t.index({None, mask}).sizes() == IntArrayRef({1, 3, 4}));
  const std::vector<TensorIndex> list = {0, Slice(0, 1)};
  CHECK(t.index(list).sizes() == IntArrayRef({1, 4}));

  check_error<IndexError>(
      [&] {
        t.index({0, 0, 0, 0});
      },
      "too many indices for tensor of dimension 3");
  check_error<IndexError>(
      [&] {
        t.index({Slice(), 3});
      },
      "index 3 is out of bounds for dimension 1 with size 3");
  check_error<IndexError>(
      [&] {
        t.index({"...", tenon::tensor({0, 4})});
      },
      "index 4 is out of bounds for dimension 2 with size 4");
  check_error<ValueError>([&] { t.index({Slice(None, None, -1)}); },
                          "step must be greater than zero");
  check_error<ValueError>([&] { t.index({"::"}); }, "\"::\"");
  check_error<ValueError>([&] { t.index({Tensor()}); }, "undefined");
}

TEST_CASE("index_put_ with a TensorIndex assigns") {
  using namespace tenon::indexing;
  const auto fresh = [] { return tenon::zeros({2, 3}); };
  CHECK(close(values(fresh().index_put_({Slice(), 1}, 5)), {0, 5, 0, 0, 5, 0}));
  CHECK(close(values(fresh().index_put_({1}, tenon::tensor({1, 2, 3}).view({1, 1, 3}))),
              {0, 0, 0, 1, 2, 3}));
  CHECK(close(values(fresh().index_put_({"...", tenon::tensor({2, 0})}, tenon::tensor({7.f, 8.f}))),
              {8, 0, 7, 8, 0, 7}));
  const Tensor mask = tenon::tensor({{true, false, true}, {false, true, false}});
  CHECK(close(values(fresh().index_put_({mask}, tenon::tensor({1.f, 2.f, 3.f}))),
              {1, 0, 2, 0, 3, 0}));
  CHECK(close(values(fresh().index_put_({false}, 5)), {0, 0, 0, 0, 0, 0}));
  // Of what the values share with the written memory, the state before counts.
  const Tensor shifted = numbered({4});
  shifted.index_put_({tenon::tensor({1, 2, 3})}, shifted.index({Slice(0, 3)}));
  CHECK(close(values(shifted), {0, 0, 1, 2}));
  const Tensor places = tenon::tensor({1, 2, 0});
  places.index_put_({places}, places);
  CHECK(close(values(places), {0, 1, 2}));
  check_error<Error>([&] { fresh().index_put_({tenon::tensor({0})}, tenon::tensor({1})); },
                     "dtypes match");
  check_error([&] { fresh().index_put_({0}, tenon::zeros({2})); }, "must match the size");
}

TEST_CASE("a value assigned through an index gets its gradient") {
  using namespace tenon::indexing;
  const Tensor base = tenon::ones({3, 2}).requires_grad_();
  const Tensor value = tenon::ones({2}).requires_grad_();
  const Tensor row = tenon::ones({2}).requires_grad_();
  Tensor t = base * 2;
  t.index_put_({tenon::tensor({0, 2})}, value * 3);
  t.index_put_({1}, row * 5);
  t.index_put_({1, 0}, 7);
  (t * numbered({3, 2})).sum().backward();
  CHECK(close(values(base.grad()), {0, 0, 0, 0, 0, 0}));
  CHECK(close(values(value.grad()), {12, 18}));
  CHECK(close(values(row.grad()), {0, 15}));
  Tensor mask = tenon::tensor({true, false, true});
  const Tensor chosen = base.index({mask}) * base.index({mask});
  mask.index_put_({0}, false);
  check_error([&] { chosen.sum().backward(); }, "modified by an inplace operation");
}

TEST_CASE("rows of a table by many indices, and back") {
  const int64_t rows = 700;
  for (const int64_t width : {1, 3, 70}) {
    const Tensor table = numbered({rows, width});
    const Tensor picked = (tenon::arange(5000) * 37) % rows;
    const std::vector<std::optional<Tensor>> indices = {picked - rows};
    CHECK(tenon::equal(table.index(indices), table.index_select(0, picked)));
    const std::vector<std::optional<Tensor>> columns = {std::nullopt, picked};
    CHECK(tenon::equal(table.t().index(columns), table.t().index_select(1, picked)));
    const Tensor sums = tenon::zeros({rows, width}).index_put(indices, table.index(indices), true);
    CHECK(tenon::equal(
        sums, tenon::zeros({rows, width}).index_add(0, picked, table.index_select(0, picked))));
    const Tensor mask = table % 3 == 0;
    CHECK(tenon::equal(table.index({mask}), table.masked_select(mask)));
    CHECK(tenon::equal(table.index_put({mask}, -table.masked_select(mask)),
                       table * (1 - 2 * mask.to(kFloat))));
  }
}

TEST_CASE("a mask on the meta device chooses an unknown number of elements") {
  const Tensor t = tenon::zeros({3}, TensorOptions(kMeta));
  CHECK(t.index({tenon::zeros({2}, TensorOptions(kMeta).dtype(kLong))}).sizes() ==
        IntArrayRef({2}));
  check_error<NotImplementedError>(
      [&] { t.index({tenon::zeros({3}, TensorOptions(kMeta).dtype(kBool))}); }, "[index]");
}

TEST_CASE("assignment to a result of a function writes into the tensor") {
  Tensor x = numbered({2, 3});
  x[0] = 7;
  x[1][0] = x[1][2];
  x[1].slice(0, 1, 2) = numbered({1});
  CHECK(values(x) == std::vector<double>{7, 7, 7, 5, 0, 5});
  // A variable is bound anew, as before.
  Tensor y = x;
  y = numbered({2});
  CHECK(values(x)[0] == 7);
  CHECK(values(x[tensor(int64_t{1})]) == std::vector<double>{5, 0, 5});
  CHECK_THROWS_AS(x[numbered({1})], IndexError);
  CHECK_THROWS_AS(x[Scalar(1.5)], IndexError);
}

TEST_CASE("an accessor reads and writes elements by their strides") {
  const Tensor x = numbered({2, 3}).t();
  auto a = x.accessor<float, 2>();
  CHECK(a.sizes() == IntArrayRef({3, 2}));
  CHECK(a[2][1] == 5);
  a[0][1] = 9;
  CHECK(values(x)[1] == 9);
  CHECK_THROWS_AS((x.accessor<float, 1>()), ValueError);
  CHECK_THROWS_AS((x.accessor<double, 2>()), TypeError);
}

TEST_CASE("indices print, and errors name the dimension of the tensor") {
  using namespace tenon::indexing;
  std::ostringstream text;
  text << std::vector<TensorIndex>{None, "...", 0, true, Slice(1, 5, 2)};
  CHECK(text.str() == "(None, ..., 0, true, 1:5:2)");
  const Tensor x = numbered({2, 3});
  CHECK_THROWS_WITH(x.index({0, 3}),
                    Catch::Contains("index 3 is out of bounds for dimension 1 with size 3"));
  CHECK_THROWS_WITH(x.index({}), Catch::Contains("empty index list"));
  CHECK_THROWS_WITH(numbered({}).index({0}), Catch::Contains("invalid index of a 0-dim tensor"));
}
