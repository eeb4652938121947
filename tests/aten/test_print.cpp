// Expected texts: repr() of PyTorch 2.15.0.
#include <complex>
#include <limits>

#include "aten/core/print.h"
#include "aten/generated_support/tensor_factories.h"
#include "tenon/ops/arange.h"
#include "tenon/ops/empty.h"
#include "tenon/ops/zeros.h"
#include "tests/aten/test_support.h"

using namespace tenon;

TEST_CASE("numbers share one format") {
  CHECK(to_string(tenon::tensor({0.1, 0.2})) == "tensor([0.1000, 0.2000])");
  CHECK(to_string(tenon::tensor({-1., 20., 300.})) == "tensor([ -1.,  20., 300.])");
  CHECK(to_string(tenon::tensor({1e-5, 1.})) == "tensor([1.0000e-05, 1.0000e+00])");
  CHECK(to_string(tenon::tensor({1., 1e9})) == "tensor([1.0000e+00, 1.0000e+09])");
  CHECK(to_string(tenon::tensor({0., 0.})) == "tensor([0., 0.])");
  const double inf = std::numeric_limits<double>::infinity();
  CHECK(to_string(tenon::tensor({inf, 1.5, NAN})) == "tensor([   inf, 1.5000,    nan])");
  CHECK(to_string(tenon::tensor({true, false})) == "tensor([ True, False])");
  CHECK(to_string(tenon::tensor(3)) == "tensor(3)");
  CHECK(to_string(tenon::tensor(2.5)) == "tensor(2.5000)");
  const Tensor c = tenon::tensor(
      {std::complex<double>(1, 2), std::complex<double>(-3.5, -1), std::complex<double>(0.25, 10)});
  CHECK(to_string(c) == "tensor([ 1.0000+2.j, -3.5000-1.j,  0.2500+10.j])");
}

TEST_CASE("options") {
  struct Reset {
    ~Reset() { print_options() = {}; }
  } reset;
  print_options().precision = 2;
  CHECK(to_string(tenon::tensor({0.1, 20.25})) == "tensor([ 0.10, 20.25])");
  print_options().sci_mode = true;
  CHECK(to_string(tenon::tensor({0.5, 2.})) == "tensor([5.00e-01, 2.00e+00])");
  CHECK(to_string(tenon::tensor({1., 2.})) == "tensor([1.00e+00, 2.00e+00])");
  print_options() = {
      .precision = 4, .threshold = 5, .edgeitems = 1, .linewidth = 80, .sci_mode = {}};
  CHECK(to_string(tenon::arange(6)) == "tensor([0,  ..., 5])");
  print_options().edgeitems = 0;
  CHECK(to_string(tenon::arange(6)) == "tensor([...], size=(6,))");
  print_options() = {};
  print_options().linewidth = 20;
  CHECK(to_string(tenon::arange(6)) == "tensor([0, 1, 2, 3,\n        4, 5])");
  print_options().precision = 500;
  CHECK(to_string(tenon::tensor(0.5)) == "tensor(0.5" + std::string(499, '0') + ")");
}

TEST_CASE("another name") {
  CHECK(to_string(tenon::tensor({1., 2.}), "Mine") == "Mine([1., 2.])");
  CHECK(to_string(tenon::tensor({1., 2.}).view({2, 1}), "Mine") == "Mine([[1.],\n      [2.]])");
}

TEST_CASE("suffixes") {
  CHECK(to_string(tenon::tensor({0.1, 0.2}, kHalf)) ==
        "tensor([0.1000, 0.2000], dtype=torch.float16)");
  CHECK(to_string(tenon::zeros({0, 3}, kInt)) == "tensor([], size=(0, 3), dtype=torch.int32)");
  CHECK(to_string(tenon::zeros({0})) == "tensor([])");
  CHECK(to_string(tenon::empty({2, 3}, TensorOptions(kMeta))) ==
        "tensor(..., device='meta', size=(2, 3))");
  CHECK(to_string(Tensor()) == "[ Tensor (undefined) ]");
}

TEST_CASE("several dimensions, line breaks and summaries") {
  CHECK(to_string(tenon::tensor({{1, 2}, {3, 40}})) == "tensor([[ 1,  2],\n        [ 3, 40]])");
  CHECK(to_string(tenon::zeros({2, 1, 2}, kDouble)) ==
        "tensor([[[0., 0.]],\n\n        [[0., 0.]]], dtype=torch.float64)");
  CHECK(to_string(tenon::arange(0, 30000, 1000)) ==
        "tensor([    0,  1000,  2000,  3000,  4000,  5000,  6000,  7000,  8000,  9000,\n"
        "        10000, 11000, 12000, 13000, 14000, 15000, 16000, 17000, 18000, 19000,\n"
        "        20000, 21000, 22000, 23000, 24000, 25000, 26000, 27000, 28000, 29000])");
  CHECK(to_string(tenon::arange(2000).to(kFloat)) ==
        "tensor([0.0000e+00, 1.0000e+00, 2.0000e+00,  ..., 1.9970e+03, 1.9980e+03,\n        "
        "1.9990e+03])");
  CHECK(to_string(tenon::arange(2200).view({1100, 2})) ==
        "tensor([[   0,    1],\n        [   2,    3],\n        [   4,    5],\n        ...,\n"
        "        [2194, 2195],\n        [2196, 2197],\n        [2198, 2199]])");
}
