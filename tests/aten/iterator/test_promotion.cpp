// What passes through the promoted dtype between memory and computing; the goldens of tests/ops
// have the rest.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "aten/generated_support/tensor_factories.h"
#include "tenon/ops/add.h"
#include "tenon/ops/all.h"
#include "tenon/ops/arange.h"
#include "tenon/ops/clamp.h"
#include "tenon/ops/div.h"
#include "tenon/ops/eq.h"
#include "tenon/ops/expand.h"
#include "tenon/ops/floor_divide.h"
#include "tenon/ops/full.h"
#include "tenon/ops/item.h"
#include "tenon/ops/lt.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/pow.h"
#include "tenon/ops/remainder.h"
#include "tenon/ops/scalar_tensor.h"
#include "tenon/ops/select.h"
#include "tenon/ops/sub.h"
#include "tenon/ops/to.h"
#include "tenon/ops/transpose.h"
#include "tenon/ops/view.h"
#include "tenon/ops/zeros.h"

using namespace tenon;

namespace {

double first(const Tensor& t) { return t.view({-1}).to(kDouble)[0].item<double>(); }

}  // namespace

TEST_CASE("results pass through the promoted dtype on their way to out", "[promotion]") {
  Tensor whole = zeros({3}, kLong), real = zeros({3});
  const Tensor a = full({3}, 200, kByte), b = full({3}, 100, kByte);
  add_out(whole, a, b);
  CHECK(first(whole) == 44);
  add_out(real, a, b);
  CHECK(first(real) == 44);
  const Tensor tenth = full({3}, 0.1, kHalf);
  mul_out(real, tenth, tenth);
  CHECK(real.to(kHalf).to(kFloat).equal(real));
  const Tensor yes = ones({3}, kBool);
  add_out(whole, yes, yes);
  CHECK(first(whole) == 1);
  lt_out(real, b, a);
  CHECK(first(real) == 1);
}

TEST_CASE("operands pass through the promoted dtype, whatever their layout", "[promotion]") {
  // 2049 is no number of half, 2048 and 2050 are.
  const Tensor big = full({70, 40}, 2049, kLong), zero = zeros({70, 40}, kHalf);
  const Tensor wanted = full({70, 40}, 2048, kHalf);
  CHECK(add(big, zero).equal(wanted));
  CHECK(add(zero, big).equal(wanted));
  CHECK(add(full({40, 70}, 2049, kLong).t(), zero).equal(wanted));
  CHECK(add(full({1, 40}, 2049, kLong).expand({70, 40}), zero).equal(wanted));
  CHECK(add(full({70, 1}, 2049, kLong).expand({70, 40}), zero).equal(wanted));
  Tensor self = zeros({70, 40}, kHalf);
  self.add_(big);
  CHECK(self.equal(wanted));
  // float keeps what half rounds, but its values pass through half when they are compared.
  CHECK(eq(full({3}, 2048, kHalf), full({}, 2049, kFloat)).equal(ones({3}, kBool)));
  // A factor beyond half's range is no infinity.
  CHECK(first(mul(full({3}, 0.25, kHalf), full({}, 131072, kFloat))) == 32768);
  const Tensor bytes = full({5}, 3, kByte);
  CHECK_FALSE(lt(full({}, -1, kInt), bytes)[0].item<bool>());
}

TEST_CASE("numbers become values of a narrow promoted dtype", "[promotion]") {
  for (const ScalarType type : {kHalf, kBFloat16}) {
    const Tensor x = full({3}, 0.1, type), y = full({6}, 0.1, type).view({3, 2}).t();
    for (const Tensor& t : {x, y[0]}) {
      CHECK(eq(t, 0.1).all().item<bool>());
      CHECK(first(t - 0.1) == 0);
      CHECK(first(t - full({}, 0.1, kFloat)) == 0);
      CHECK(first(remainder(t, 0.1)) == 0);
    }
  }
  // A factor is none of them.
  CHECK(first(mul(full({3}, 0.25, kHalf), 131072)) == 32768);
  CHECK(first(div(full({3}, 2, kHalf), full({}, 131072, kFloat)) * 65536) == 1);
  const Tensor bytes = tensor({0, 254, 255}, kByte);
  CHECK(lt(bytes, -1).to(kLong).equal(tensor({1, 1, 0}, kLong)));
  CHECK(floor_divide(bytes, -1).equal(tensor({0, 0, 1}, kByte)));
  CHECK(clamp(bytes, -1, 300).equal(bytes));
  CHECK(eq(tensor({0, 1}, kInt), int64_t{1} << 40).to(kLong).equal(tensor({1, 0}, kLong)));
}

TEST_CASE("numbers count as true or false among bools", "[promotion]") {
  const Tensor yes = ones({3}, kBool), no = zeros({3}, kBool);
  CHECK(add(yes, yes, -1).equal(yes));
  CHECK(add(no, yes, -1).equal(yes));
  CHECK(add(no, yes, 0).equal(no));
}

TEST_CASE("results stay on self's device", "[promotion]") {
  Tensor self = ones({});
  const Tensor meta = ones({}, TensorOptions(kFloat).device(kMeta));
  CHECK_THROWS_WITH(self.add_(meta),
                    Catch::Contains("Expected all tensors to be on the same device"));
  CHECK_THROWS_WITH(self.mul_(meta), Catch::Contains("cpu and meta"));
  CHECK(self.item<float>() == 1);
  Tensor there = ones({2}, TensorOptions(kFloat).device(kMeta));
  there.add_(self);  // a number of the CPU goes along with any device
  CHECK(there.device() == Device(kMeta));
}

TEST_CASE("item of another type has to hold the value", "[promotion]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  for (const double value : {nan, inf, 1e30, -1e30}) {
    CHECK_THROWS_WITH(scalar_tensor(value, kDouble).item<int64_t>(),
                      Catch::Contains("without overflow"));
  }
  CHECK_THROWS_AS(scalar_tensor(300, kLong).item<uint8_t>(), Error);
  CHECK_THROWS_AS(scalar_tensor(std::complex<double>(1, 2), kComplexDouble).item<double>(), Error);
  CHECK(scalar_tensor(-1.7, kDouble).item<int64_t>() == -1);
  CHECK(scalar_tensor(3, kLong).item<double>() == 3);
  CHECK(std::isinf(scalar_tensor(inf, kDouble).item<float>()));
  CHECK(scalar_tensor(nan, kDouble).item<bool>());
}

TEST_CASE("complex powers are exact where one operand decides", "[promotion]") {
  using C = std::complex<double>;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  for (const C z : {C(inf, 0), C(inf, inf), C(0, nan), C(0, 0), C(2, -1)}) {
    const Tensor t = full({3}, z, kComplexDouble);
    CHECK(pow(t, 0)[1].item<C>() == C(1));
    CHECK(pow(Scalar(1), t)[1].item<C>() == C(1));
    const C same = pow(t, 1)[1].item<C>();
    CHECK((same.real() == z.real() && (same.imag() == z.imag() || std::isnan(z.imag()))));
  }
}
