#include "aten/generated_support/tensor_factories.h"
#include "tenon/ops/arange.h"
#include "tenon/ops/empty.h"
#include "tenon/ops/empty_like.h"
#include "tenon/ops/equal.h"
#include "tenon/ops/eye.h"
#include "tenon/ops/full.h"
#include "tenon/ops/linspace.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/ones_like.h"
#include "tenon/ops/scalar_tensor.h"
#include "tenon/ops/zeros.h"
#include "tenon/ops/zeros_like.h"
#include "tests/aten/test_support.h"

using namespace tenon;
using tenon::test::check_error;
using tenon::test::close;
using tenon::test::values;

TEST_CASE("factories") {
  CHECK(close(values(tenon::zeros({2, 2})), {0, 0, 0, 0}));
  CHECK(close(values(tenon::ones({3}, kLong)), {1, 1, 1}));
  CHECK(tenon::full({2}, 3).scalar_type() == kLong);
  CHECK(tenon::full({2}, 3.5).scalar_type() == kFloat);
  CHECK(tenon::full({2}, true).scalar_type() == kBool);
  CHECK(close(values(tenon::eye(2, 3)), {1, 0, 0, 0, 1, 0}));
  CHECK_FALSE(tenon::eye(2).is_view());
  CHECK(tenon::zeros({0, 3}).numel() == 0);
  CHECK(tenon::zeros({}).dim() == 0);
  CHECK(tenon::empty({1, 2, 3, 4}, {}, MemoryFormat::ChannelsLast).strides() ==
        IntArrayRef({24, 1, 8, 2}));
  CHECK(tenon::scalar_tensor(2.5).item<double>() == 2.5);
  CHECK(tenon::zeros({2, 3}, TensorOptions(kMeta)).is_meta());
}

TEST_CASE("like keeps a dense order") {
  const Tensor t = tenon::empty({2, 3}).t();
  CHECK(tenon::empty_like(t).strides() == t.strides());
  CHECK(tenon::zeros_like(t, {}, MemoryFormat::Contiguous).is_contiguous());
  CHECK(tenon::ones_like(t, kInt).scalar_type() == kInt);
  const Tensor gaps = tenon::empty({4, 6}).slice(1, 0, 6, 2);
  CHECK(tenon::empty_like(gaps).is_contiguous());
  CHECK(close(values(t.new_full({2}, 7)), {7, 7}));
}

TEST_CASE("ranges") {
  CHECK(close(values(tenon::arange(4)), {0, 1, 2, 3}));
  CHECK(tenon::arange(4).scalar_type() == kLong);
  CHECK(close(values(tenon::arange(1, 2, 0.25)), {1, 1.25, 1.5, 1.75}));
  CHECK(close(values(tenon::arange(5, 0, -2)), {5, 3, 1}));
  CHECK(tenon::arange(0).numel() == 0);
  CHECK(close(values(tenon::linspace(0, 1, 5)), {0, 0.25, 0.5, 0.75, 1}));
  CHECK(close(values(tenon::linspace(3, 10, 1)), {3}));
  CHECK(close(values(tenon::linspace(0, 10, 4, kDouble)), {0, 10.0 / 3, 20.0 / 3, 10}, 1e-15));
  check_error([] { tenon::arange(1, 5, -1); },
              "upper bound and lower bound inconsistent with step sign");
  check_error([] { tenon::arange(0, 5, 0); }, "step must be nonzero");
  check_error([] { tenon::linspace(0, 1, -1); }, "number of steps must be non-negative");
  check_error([] { tenon::eye(-1); }, "n must be greater or equal to 0, got -1");
  check_error([] { tenon::zeros({2, -1}); }, "negative dimension -1");
}

TEST_CASE("tensor from data") {
  const Tensor t = tenon::tensor({{1.5, 2.0}, {3.0, 4.0}, {5.0, 6.0}});
  CHECK(t.sizes() == IntArrayRef({3, 2}));
  CHECK(t.scalar_type() == kFloat);
  CHECK(close(values(t), {1.5, 2, 3, 4, 5, 6}));
  CHECK(tenon::tensor({1, 2, 3}).scalar_type() == kLong);
  CHECK(tenon::tensor({true, false}).scalar_type() == kBool);
  CHECK(tenon::tensor(2.5).dim() == 0);
  CHECK(tenon::tensor({1, 2}, kHalf).scalar_type() == kHalf);
  CHECK(tenon::tensor(std::vector<double>{1, 2}).scalar_type() == kFloat);
  CHECK(tenon::tensor(std::vector<double>{1, 2}, kDouble).scalar_type() == kDouble);
  check_error(
      [] {
        tenon::tensor({{1, 2}, {3}});
      },
      "expected all sub-lists to have sizes [2], got [1]");
  float data[6] = {1, 2, 3, 4, 5, 6};
  bool freed = false;
  {
    const Tensor blob = tenon::from_blob(data, {3, 2}, {1, 3}, [&freed](void*) { freed = true; });
    CHECK(close(values(blob), {1, 4, 2, 5, 3, 6}));
    CHECK(blob.data_ptr() == data);
  }
  CHECK(freed);
}

TEST_CASE("fill") {
  Tensor t = tenon::zeros({3, 4});
  Tensor part = t.slice(1, 1, 4, 2);
  part.fill_(2);
  CHECK(close(values(t), {0, 2, 0, 2, 0, 2, 0, 2, 0, 2, 0, 2}));
  part.zero_();
  CHECK(close(values(t), std::vector<double>(12, 0)));
  t.fill_(tenon::tensor(1.5));
  CHECK(close(values(t), std::vector<double>(12, 1.5)));
  Tensor big = tenon::empty({300000}, kInt);
  big.fill_(7);
  CHECK(big.sum().item<int64_t>() == 2100000);
  Tensor bytes = tenon::zeros({1}, kByte);
  bytes.fill_(-1);
  CHECK(bytes.item<int>() == 255);
  check_error([&] { t.fill_(tenon::zeros({2})); },
              "fill_ only supports 0-dimension value tensor but got tensor with 1");
  check_error([&] { big.fill_(int64_t{1} << 40); },
              "value cannot be converted to type Int without overflow");
}

TEST_CASE("item, equal, resize_") {
  CHECK(tenon::ones({1, 1}).item().toDouble() == 1);
  check_error([] { tenon::zeros({3}).item(); },
              "a Tensor with 3 elements cannot be converted to Scalar");
  check_error([] { tenon::zeros({3}).is_nonzero(); },
              "Boolean value of Tensor with more than one value is ambiguous");
  CHECK(tenon::equal(tenon::eye(2), tenon::eye(2).t()));
  CHECK_FALSE(tenon::equal(tenon::eye(2), tenon::zeros({2, 2})));
  CHECK_FALSE(tenon::equal(tenon::full({1}, NAN), tenon::full({1}, NAN)));
  Tensor t = tenon::arange(6).to(kFloat);
  t.resize_({2, 2});
  CHECK(close(values(t), {0, 1, 2, 3}));
  t.resize_({3, 4});
  CHECK(t.numel() == 12);
}
