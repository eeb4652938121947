#include "aten/core/generator.h"
#include "tenon/ops/empty.h"
#include "tenon/ops/full.h"
#include "tenon/ops/native_dropout.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/rand.h"
#include "tests/aten/cuda/support.h"

namespace tenon::test {
namespace {

Tensor drawn(uint64_t seed, ScalarType dtype = kFloat) {
  const Generator generator = make_generator(Device(kCUDA, 0), seed);
  Tensor t = tenon::empty({100000}, TensorOptions(dtype).device(kCUDA));
  return t.uniform_(0, 1, generator);
}

TEST_CASE("a seed gives the same numbers, another one others") {
  TENON_NEEDS_GPU();
  CHECK(drawn(7).equal(drawn(7)));
  CHECK_FALSE(drawn(7).equal(drawn(8)));
  manual_seed(5);
  const Tensor a = tenon::rand({1000}, TensorOptions(kCUDA)),
               b = tenon::rand({1000}, TensorOptions(kCUDA));
  manual_seed(5);
  CHECK(a.equal(tenon::rand({1000}, TensorOptions(kCUDA))));
  CHECK_FALSE(a.equal(b));
}

TEST_CASE("uniform and normal numbers have their moments") {
  TENON_NEEDS_GPU();
  for (ScalarType dtype : {kFloat, kDouble, kHalf}) {
    INFO(to_string(dtype));
    const Tensor u = drawn(1, dtype).to(kDouble);
    CHECK(u.min().item<double>() >= 0);
    CHECK(u.max().item<double>() <= 1);
    CHECK(u.mean().item<double>() == Approx(0.5).margin(0.01));
    CHECK(u.var(true).item<double>() == Approx(1.0 / 12).margin(0.01));
    Tensor z = tenon::empty({100001}, TensorOptions(dtype).device(kCUDA));
    z.normal_(2, 3);
    CHECK(z.to(kDouble).mean().item<double>() == Approx(2).margin(0.05));
    CHECK(z.to(kDouble).std(true).item<double>() == Approx(3).margin(0.05));
  }
}

TEST_CASE("integers cover their range") {
  TENON_NEEDS_GPU();
  for (ScalarType dtype : {kByte, kInt, kLong, kFloat}) {
    Tensor t = tenon::empty({50000}, TensorOptions(dtype).device(kCUDA));
    t.random_(3, 9);
    CHECK(t.min().item<int64_t>() == 3);
    CHECK(t.max().item<int64_t>() == 8);
    CHECK(t.to(kDouble).mean().item<double>() == Approx(5.5).margin(0.05));
  }
  Tensor wide = tenon::empty({1000}, TensorOptions(kLong).device(kCUDA));
  wide.random_();
  CHECK(wide.min().item<int64_t>() >= 0);
}

TEST_CASE("bernoulli and dropout keep the share they should") {
  TENON_NEEDS_GPU();
  Tensor t = tenon::empty({100000}, TensorOptions(kCUDA));
  CHECK(t.bernoulli_(0.3).mean().item<double>() == Approx(0.3).margin(0.01));
  CHECK(t.bernoulli_(0).sum().item<double>() == 0);
  CHECK(t.bernoulli_(1).mean().item<double>() == 1);
  t.bernoulli_(tenon::full({100000}, 0.8, TensorOptions(kCUDA)));
  CHECK(t.mean().item<double>() == Approx(0.8).margin(0.01));

  const Tensor ones = tenon::ones({100000}, TensorOptions(kCUDA));
  const auto [out, mask] = tenon::native_dropout(ones, 0.25, true);
  CHECK(mask.to(kFloat).mean().item<double>() == Approx(0.75).margin(0.01));
  CHECK(out.equal(mask.to(kFloat).div(0.75)));
  CHECK(std::get<0>(tenon::native_dropout(ones, 0.25, false)).equal(ones));
  // Drawn as rand draws.
  manual_seed(9);
  const Tensor kept = std::get<1>(tenon::native_dropout(ones, 0.25, true));
  manual_seed(9);
  CHECK(kept.equal(tenon::rand({100000}, TensorOptions(kCUDA)).lt(0.75)));
  CHECK_THROWS_WITH(t.uniform_(0, 1, make_generator(kCPU)),
                    Catch::Contains("expected a generator"));
}

}  // namespace
}  // namespace tenon::test
