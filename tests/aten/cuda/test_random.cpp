#include <algorithm>

#include "aten/core/generator.h"
#include "aten/cuda/cuda_generator.h"
#include "aten/cuda/index_limit.h"
#include "aten/cuda/launch.h"
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

/// Which of n elements are kept with probability `keep`, from the stream's definition.
Tensor reference_mask(uint64_t seed, uint64_t offset, int64_t n, double keep) {
  const int64_t threads = cuda::draw_grid(n, 4, 0).blocks * cuda::kBlock;
  const Tensor mask = tenon::empty({n}, TensorOptions(kBool));
  for (int64_t i = 0; i < n; ++i) {
    const int64_t turn = i / (4 * threads), k = i % (4 * threads) / threads, thread = i % threads;
    const cuda::Words words = cuda::philox4x32(offset / 4 + static_cast<uint64_t>(turn),
                                               static_cast<uint64_t>(thread), seed);
    const float u = static_cast<float>(words.x[k]) * 0x1p-32f + 0x1p-33f;
    mask.data_ptr<bool>()[i] = static_cast<double>(u < 1 ? u : 0) < keep;
  }
  return mask;
}

TEST_CASE("dropout's kernel draws from the generator's stream as it is defined") {
  TENON_NEEDS_GPU();
  const int64_t per_turn = cuda::draw_grid(int64_t{1} << 40, 4, 0).blocks * cuda::kBlock * 4;
  // Less than a block of threads, a rest, and several turns of all threads where those are few.
  for (const int64_t n : {int64_t{1}, int64_t{300}, std::min<int64_t>(2 * per_turn + 77, 50000)}) {
    INFO(n << " elements");
    manual_seed(31);
    default_generator(Device(kCUDA, 0))->offset = 8;
    const Tensor x = tenon::full({n}, 3.0, TensorOptions(kCUDA));
    const auto [out, mask] = tenon::native_dropout(x, 0.25, true);
    CHECK(mask.cpu().equal(reference_mask(31, 8, n, 0.75)));
    CHECK(out.allclose(mask.to(kFloat).mul(4)));
    // The next call goes on where this one ended.
    const uint64_t used = cuda::draw_grid(n, 4, 0).words();
    CHECK(default_generator(Device(kCUDA, 0))->offset == 8 + used);
    CHECK(std::get<1>(tenon::native_dropout(x, 0.25, true))
              .cpu()
              .equal(reference_mask(31, 8 + used, n, 0.75)));
  }
}

TEST_CASE("dropout of several dtypes, layouts and parts draws as rand does") {
  TENON_NEEDS_GPU();
  const auto seeded = [](const Tensor& x) {
    manual_seed(4);
    return tenon::native_dropout(x, 0.5, true);
  };
  for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
    INFO(to_string(dtype));
    const Tensor x = sample({40, 50}, dtype).to(Device(kCUDA, 0));
    const auto [out, mask] = seeded(x);
    manual_seed(4);
    const ScalarType drawn = dtype == kDouble ? kDouble : kFloat;
    CHECK(mask.equal(tenon::rand({40, 50}, TensorOptions(drawn).device(kCUDA)).lt(0.5)));
    CHECK(out.equal(x.mul(mask.to(dtype)).mul(2)));
    CHECK(std::get<1>(seeded(x)).equal(mask));
    CHECK_FALSE(std::get<1>(tenon::native_dropout(x, 0.5, true)).equal(mask));
    // In the order of memory, and in parts that follow one another.
    CHECK(std::get<1>(seeded(x.t())).equal(mask.t()));
    const Tensor few = x.slice(0, 0, 12, 2).slice(1, 0, 7);
    const Tensor whole = std::get<1>(seeded(few)), turned = std::get<1>(seeded(few.t()));
    CHECK(whole.equal(turned.t()));
    for (const int64_t limit : {4, 64, 500}) {
      const cuda::LowerIndexLimit lower(limit);
      CHECK(std::get<1>(seeded(few)).equal(whole));
      CHECK(std::get<1>(seeded(few.t())).equal(turned));
    }
  }
}

TEST_CASE("random numbers fill a tensor in the order of its memory") {
  TENON_NEEDS_GPU();
  const auto filled = [](Tensor t) {
    t.uniform_(0, 1, make_generator(Device(kCUDA, 0), 3));
    return t;
  };
  const Tensor plain = filled(tenon::empty({6, 10}, TensorOptions(kCUDA)));
  CHECK(filled(tenon::empty({6, 10}, TensorOptions(kCUDA)).t()).equal(plain.t()));
  CHECK(
      filled(tenon::empty({12, 10}, TensorOptions(kCUDA)).slice(0, 0, 12, 2).t()).equal(plain.t()));
  // Each element with the probability that is in its place.
  const Tensor p = sample({6, 10}, kFloat).gt(0).to(kFloat).to(Device(kCUDA, 0));
  Tensor drawn = tenon::empty({10, 6}, TensorOptions(kCUDA)).t();
  CHECK(drawn.bernoulli_(p).equal(p));
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
