#include "tenon/ops/arange.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/squeeze.h"
#include "tenon/ops/zeros.h"
#include "tests/aten/test_support.h"

using namespace tenon;
using tenon::test::check_error;
using tenon::test::close;
using tenon::test::values;

namespace {

Tensor numbered(IntArrayRef sizes) { return tenon::arange(numel_of(sizes)).to(kFloat).view(sizes); }

}  // namespace

TEST_CASE("view and reshape") {
  const Tensor t = numbered({2, 3, 4});
  CHECK(t.view({6, -1}).sizes() == IntArrayRef({6, 4}));
  CHECK(t.view({24}).is_view());
  // Empty braces are sizes, no dtype.
  CHECK(tenon::ones({1, 1}).view({}).sizes().empty());
  CHECK(t.transpose(0, 1).view({3, 2, 2, 2}).strides() == IntArrayRef({4, 12, 2, 1}));
  CHECK(t.view({1, 2, 1, 12, 1}).sizes() == IntArrayRef({1, 2, 1, 12, 1}));
  CHECK(t.reshape({4, 6}).data_ptr() == t.data_ptr());
  const Tensor copied = t.transpose(0, 2).reshape({-1});
  CHECK(copied.data_ptr() != t.data_ptr());
  CHECK(values(copied)[1] == 12);
  CHECK_FALSE(copied.is_view());
  CHECK(tenon::zeros({0, 3}).view({3, 0}).numel() == 0);
  CHECK(tenon::zeros({}).view({-1}).sizes() == IntArrayRef({1}));
  CHECK(tenon::zeros({1}).view(IntArrayRef()).dim() == 0);
  const Tensor u = tenon::zeros({2, 3});
  check_error([&] { u.view({7}); }, "shape '[7]' is invalid for input of size 6");
  check_error([&] { u.view({-1, -1}); }, "only one dimension can be inferred");
  check_error([&] { u.view({-2, 3}); }, "invalid shape dimension -2 at index 0 of shape [-2, 3]");
  check_error([&] { u.t().view({6}); }, "view size is not compatible with input tensor's size and "
                                        "stride (at least one dimension spans across "
                                        "two contiguous subspaces). Use .reshape(...) instead.");
  check_error(
      [] {
        tenon::zeros({0, 3}).view({-1, 0});
      },
      "cannot reshape tensor of 0 elements into shape [-1, 0]");
}

TEST_CASE("flatten and unflatten") {
  const Tensor t = numbered({2, 3, 4});
  CHECK(t.flatten().sizes() == IntArrayRef({24}));
  CHECK(t.flatten(1).sizes() == IntArrayRef({2, 12}));
  CHECK(t.flatten(0, 1).sizes() == IntArrayRef({6, 4}));
  CHECK(tenon::zeros({}).flatten().sizes() == IntArrayRef({1}));
  CHECK(t.unflatten(2, {2, -1}).sizes() == IntArrayRef({2, 3, 2, 2}));
  check_error([&] { t.flatten(1, 0); },
              "flatten() has invalid args: start_dim cannot come after end_dim");
  check_error(
      [&] {
        t.unflatten(2, {3, 2});
      },
      "Provided sizes [3, 2] don't multiply up to the size of dim 2 (4)");
}

TEST_CASE("transpositions") {
  const Tensor t = numbered({2, 3, 4});
  CHECK(t.permute({2, 0, 1}).sizes() == IntArrayRef({4, 2, 3}));
  CHECK(t.permute({-1, 0, 1}).strides() == IntArrayRef({1, 12, 4}));
  CHECK(t.transpose(0, -1).strides() == IntArrayRef({1, 4, 12}));
  CHECK(t.movedim(0, 2).sizes() == IntArrayRef({3, 4, 2}));
  CHECK(t.movedim({0, 1}, {1, 0}).sizes() == IntArrayRef({3, 2, 4}));
  CHECK(numbered({2, 3}).t().strides() == IntArrayRef({1, 3}));
  CHECK(tenon::zeros({}).transpose(0, -1).dim() == 0);
  check_error([&] { t.t(); }, "t() expects a tensor with <= 2 dimensions, but self is 3D");
  check_error([&] { t.permute({0, 1}); }, "got dims [0, 1]");
  check_error([&] { t.permute({0, 0, 1}); }, "duplicate dims are not allowed");
  check_error<IndexError>([&] { t.transpose(0, 3); },
                          "Dimension out of range (expected to be in range of [-3, 2], but got 3)");
}

TEST_CASE("select, slice, narrow") {
  const Tensor t = numbered({3, 4});
  CHECK(close(values(t.select(0, 1)), {4, 5, 6, 7}));
  CHECK(close(values(t.select(1, -1)), {3, 7, 11}));
  CHECK(close(values(t.slice(0, 1, std::nullopt)), {4, 5, 6, 7, 8, 9, 10, 11}));
  CHECK(close(values(t.slice(1, -3, 100, 2)), {1, 3, 5, 7, 9, 11}));
  CHECK(t.slice(0, 2, 1).sizes() == IntArrayRef({0, 4}));
  CHECK(close(values(t.narrow(1, 1, 2)), {1, 2, 5, 6, 9, 10}));
  Tensor row = t.select(0, 0);
  const int64_t version = t._version();
  row.fill_(-1);
  CHECK(values(t)[3] == -1);
  CHECK(t._version() == version + 1);
  check_error<IndexError>([&] { t.select(0, 5); },
                          "index 5 is out of bounds for dimension 0 with size 3");
  check_error<IndexError>([] { tenon::zeros({}).select(0, 0); },
                          "select() cannot be applied to a 0-dim tensor.");
  check_error([&] { t.narrow(0, 2, 3); }, "start (2) + length (3) exceeds dimension size (3).");
  check_error([&] { t.slice(0, 0, 3, -1); }, "slice step must be positive, got -1");
}

TEST_CASE("expand and sum_to_size") {
  const Tensor t = numbered({3, 1});
  CHECK(t.expand({2, 3, 4}).strides() == IntArrayRef({0, 1, 0}));
  CHECK(t.expand({-1, 4}).sizes() == IntArrayRef({3, 4}));
  CHECK(close(values(t.expand({3, 2})), {0, 0, 1, 1, 2, 2}));
  CHECK(close(values(t.expand({2, 3, 4}).sum_to_size({3, 1})), {0, 8, 16}));
  CHECK(close(values(tenon::ones({2, 3}).sum_to_size({3})), {2, 2, 2}));
  const Tensor u = tenon::zeros({2, 3});
  check_error(
      [&] {
        u.expand({4, 3});
      },
      "The expanded size of the tensor (4) must match the existing size (2) at non-singleton "
      "dimension 0.  "
      "Target sizes: [4, 3].  Tensor sizes: [2, 3]");
  check_error([&] { u.expand({3}); },
              "the number of sizes provided (1) must be greater or equal to the number of "
              "dimensions in the tensor (2)");
  check_error(
      [&] {
        tenon::zeros({3}).expand({-1, 3});
      },
      "The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension 0");
  check_error([&] { u.sum_to_size({2, 2}); }, "size {[2, 2]} is not expandable to size {[2, 3]}.");
}

TEST_CASE("squeeze and unsqueeze") {
  const Tensor t = tenon::zeros({1, 2, 1, 3});
  CHECK(t.squeeze().sizes() == IntArrayRef({2, 3}));
  CHECK(t.squeeze(0).sizes() == IntArrayRef({2, 1, 3}));
  CHECK(t.squeeze(1).sizes() == IntArrayRef({1, 2, 1, 3}));
  CHECK(tenon::squeeze(t, {0, 2}).sizes() == IntArrayRef({2, 3}));
  CHECK(t.unsqueeze(-1).sizes() == IntArrayRef({1, 2, 1, 3, 1}));
  CHECK(tenon::zeros({2, 3}).unsqueeze(1).strides() == IntArrayRef({3, 3, 1}));
  check_error<IndexError>([] { tenon::zeros({3}).unsqueeze(3); },
                          "(expected to be in range of [-2, 1], but got 3)");
}

TEST_CASE("split, chunk, unbind") {
  const Tensor t = numbered({5, 2});
  const auto parts = t.split(2);
  REQUIRE(parts.size() == 3);
  CHECK(close(values(parts[2]), {8, 9}));
  CHECK(t.split({1, 4}).at(1).sizes() == IntArrayRef({4, 2}));
  CHECK(t.chunk(2, 0)[1].sizes() == IntArrayRef({2, 2}));
  CHECK(tenon::zeros({0}).chunk(3).size() == 3);
  CHECK(close(values(t.unbind(1)[1]), {1, 3, 5, 7, 9}));
  check_error([&] { t.split(-1); },
              "split expects split_size be non-negative, but got split_size=-1");
  check_error(
      [&] {
        t.split({1, 1});
      },
      "split_with_sizes expects split_sizes to sum exactly to 5 (input tensor's "
      "size at dimension 0), but got split_sizes=[1, 1]");
  check_error([&] { t.chunk(0); }, "chunk expects `chunks` to be greater than 0, got: 0");
  check_error([] { tenon::zeros({}).split(1); }, "split expects at least a 1-dimensional tensor");
}

TEST_CASE("as_strided, diagonal, unfold") {
  const Tensor t = numbered({3, 4});
  CHECK(close(values(t.as_strided({2, 2}, {1, 2}, 1)), {1, 3, 2, 4}));
  CHECK(close(values(t.diagonal()), {0, 5, 10}));
  CHECK(close(values(t.diagonal(1)), {1, 6, 11}));
  CHECK(close(values(t.diagonal(-2)), {8}));
  CHECK(t.diagonal(9).numel() == 0);
  CHECK(close(values(numbered({5}).unfold(0, 3, 2)), {0, 1, 2, 2, 3, 4}));
  check_error([&] { t.as_strided({2}, {-1}); },
              "Negative strides are not supported at the moment, got strides: [-1]");
  check_error([&] { t.as_strided({2}, {100}); }, "are out of bounds for storage of size 48");
  check_error([&] { t.diagonal(0, 0, 0); }, "diagonal dimensions cannot be identical 0, 0");
  check_error([&] { t.unfold(0, 4, 1); },
              "maximum size for tensor at dimension 0 is 3 but size is 4");
}

TEST_CASE("clone, contiguous, to") {
  const Tensor t = numbered({2, 3}).t();
  CHECK(t.clone().strides() == t.strides());
  CHECK(t.contiguous().is_contiguous());
  CHECK(close(values(t.contiguous()), {0, 3, 1, 4, 2, 5}));
  const Tensor same = t.to(kFloat);
  CHECK(same.is_same(t));
  CHECK(t.to(kFloat, false, true).data_ptr() != t.data_ptr());
  CHECK(t.to(kLong).scalar_type() == kLong);
  CHECK(t.to(kLong).strides() == t.strides());
  Tensor target = tenon::zeros({2, 3});
  target.copy_(tenon::arange(3));
  CHECK(close(values(target), {0, 1, 2, 0, 1, 2}));
}
