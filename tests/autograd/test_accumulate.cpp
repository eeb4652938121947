#include "tenon/ops/ones.h"
#include "tests/autograd/test_support.h"

using namespace tenon;
using namespace tenon::test;

TEST_CASE("Gradients add up over runs", "[accumulate]") {
  const Tensor x = leaf({1, 2});
  (x * x).sum().backward();
  CHECK(values(x.grad()) == std::vector<double>{2, 4});
  const Tensor kept = x.grad();
  (x * 3).sum().backward();
  CHECK(values(x.grad()) == std::vector<double>{5, 7});
  CHECK(kept.is_same(x.grad()));  // in place
  x.mutable_grad().reset();
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("With create_graph gradients are added out of place", "[accumulate]") {
  const Tensor x = leaf({1, 2});
  (x * x).sum().backward({}, std::nullopt, true);
  const Tensor first = x.grad();
  CHECK(first.requires_grad());
  (x * x * x).sum().backward({}, std::nullopt, true);
  CHECK_FALSE(first.is_same(x.grad()));
  CHECK(values(first) == std::vector<double>{2, 4});
  CHECK(values(x.grad()) == std::vector<double>{5, 16});
  x.mutable_grad().reset();
}

TEST_CASE("A gradient that the caller can see is not taken over or changed", "[accumulate]") {
  const Tensor x = leaf({1, 2});
  const Tensor g = tensor({5., 6.});
  x.backward(g);
  CHECK_FALSE(x.grad().is_alias_of(g));
  x.backward(g);
  CHECK(values(g) == std::vector<double>{5, 6});
  CHECK(values(x.grad()) == std::vector<double>{10, 12});

  const Tensor a = leaf({1, 2}), b = leaf({1, 2});
  (a + b).backward(g);
  a.mutable_grad().mul_(2);
  CHECK(values(b.grad()) == std::vector<double>{5, 6});
  CHECK(values(g) == std::vector<double>{5, 6});

  const Tensor v = leaf({1, 2, 3, 4});
  const Tensor seed = ones({2, 2});
  v.view({2, 2}).backward(seed);
  v.mutable_grad().mul_(2);
  CHECK(values(seed) == std::vector<double>{1, 1, 1, 1});
}

TEST_CASE("Sums in the buffer do not change what was passed to others", "[accumulate]") {
  const Tensor x = leaf({1, 2}), y = leaf({3, 4});
  const Tensor g = tensor({1., 1.});
  // x gets its gradient from two branches, y shares one of them.
  ((x + y) + x).backward(g);
  CHECK(values(x.grad()) == std::vector<double>{2, 2});
  CHECK(values(y.grad()) == std::vector<double>{1, 1});
  CHECK(values(g) == std::vector<double>{1, 1});
  Tensor expanded = ones({1}).expand({2});
  ((x * 1) + (x * 1)).backward(expanded);
  CHECK(values(x.grad()) == std::vector<double>{4, 4});
}

TEST_CASE("A gradient has the layout of its leaf", "[accumulate]") {
  const Tensor x = ones({2, 3}).t().detach().set_requires_grad(true);  // [3, 2], strides [1, 3]
  (x * 2).backward(ones({3, 2}));
  CHECK(x.grad().strides() == x.strides());
  const Tensor gaps = ones({2, 4}).slice(1, 0, 4, 2).detach().set_requires_grad(true);
  (gaps * 2).backward(ones({2, 2}).t());
  CHECK(gaps.grad().is_contiguous());
}

TEST_CASE("A broadcast gradient is summed, and cast to its leaf's type", "[accumulate]") {
  const Tensor x = leaf({1}), y = leaf({1, 2, 3}, kDouble);
  (x * y).sum().backward();
  CHECK(x.grad().scalar_type() == kFloat);
  CHECK(x.grad().sizes() == x.sizes());
  CHECK(values(x.grad()) == std::vector<double>{6});
  CHECK(y.grad().scalar_type() == kDouble);

  const Tensor m = sample({2, 1, 3}), n = sample({4, 1});
  (m + n).sum().backward();
  CHECK(m.grad().sizes() == IntArrayRef({2, 1, 3}));
  CHECK(values(n.grad()) == std::vector<double>(4, 6.0));
}

TEST_CASE("Of a complex gradient a real leaf keeps the real part", "[accumulate]") {
  const Tensor x = leaf({2}, kDouble);
  const Tensor z = (x * Scalar(std::complex<double>(3, 4)));
  z.backward(ones({1}, kComplexDouble));
  CHECK(x.grad().scalar_type() == kDouble);
  CHECK(values(x.grad()) == std::vector<double>{3});
}

TEST_CASE("No gradient leaves grad() undefined", "[accumulate]") {
  const Tensor x = leaf({1, 2}), y = leaf({1, 2});
  (x * 2).sum().backward();
  CHECK_FALSE(y.grad().defined());
}

TEST_CASE("A leaf that was frozen since takes no gradient", "[accumulate]") {
  const Tensor x = leaf({1, 2});
  int hooks = 0;
  autograd::register_post_accumulate_grad_hook(x, [&](const Tensor&) { hooks += 1; });
  Tensor y = x * 3;
  x.requires_grad_(false);
  y.sum().backward();
  CHECK_FALSE(x.grad().defined());
  Tensor w = leaf({1, 2});
  y = w * 3;
  w.detach_();
  y.sum().backward();
  CHECK_FALSE(w.grad().defined());
  Tensor u = leaf({1, 2});
  y = u * 3;
  u.requires_grad_(false);
  u.mul_(leaf({1, 2}));
  CHECK_THROWS_WITH(y.sum().backward(), "leaf variable has been moved into the graph interior");
}

TEST_CASE("set_data() changes what a gradient must be like", "[accumulate]") {
  const Tensor x = leaf({1, 2});
  const Tensor alive = x * 3;
  x.set_data(x.detach().to(kDouble));
  (x * 3).sum().backward();
  CHECK(x.grad().scalar_type() == kDouble);
  alive.sum().backward();  // of the graph from before
  CHECK(x.grad().scalar_type() == kDouble);
  CHECK(values(x.grad()) == std::vector<double>{6, 6});
}

TEST_CASE("A grad() of other sizes or dtype is noticed", "[accumulate]") {
  const Tensor x = leaf({1, 2});
  CHECK_THROWS_WITH(
      autograd::set_grad(x, ones({3})),
      Contains("attempting to assign a gradient of size '[3]' to a tensor of size '[2]'"));
  CHECK_THROWS_WITH(autograd::set_grad(x, ones({2}, TensorOptions(kDouble))),
                    Contains("attempting to assign a gradient with dtype 'Double'"));
  CHECK_THROWS_AS(autograd::set_grad(x, x), Error);
  autograd::set_grad(x, ones({2}));
  (x * 3).sum().backward();
  CHECK(values(x.grad()) == std::vector<double>{4, 4});
  x.mutable_grad() = ones({1, 2});
  CHECK_THROWS_WITH((x * 3).sum().backward(),
                    "[backward] expected the grad() of a leaf to have its sizes and dtype, "
                    "Float[2], got Float[1, 2]");
  autograd::set_grad(x, {});
  CHECK_FALSE(x.grad().defined());
}
