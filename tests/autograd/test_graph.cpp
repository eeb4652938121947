#include "autograd/engine/node.h"
#include "tenon/ops/ones.h"
#include "tests/autograd/test_support.h"

using namespace tenon;
using namespace tenon::test;

TEST_CASE("A result requires grad if recording is on and an input does", "[graph]") {
  const Tensor x = leaf({1, 2}), c = tensor({3., 4.});
  CHECK((x * c).requires_grad());
  CHECK((c * x).requires_grad());
  CHECK_FALSE((c * c).requires_grad());
  {
    const NoGradGuard guard;
    CHECK_FALSE((x * c).requires_grad());
    const AutoGradMode recording(true);
    CHECK((x * c).requires_grad());
  }
  CHECK((x * c).requires_grad());
  CHECK_FALSE((x > 1).requires_grad());
  CHECK_FALSE(x.argmax().requires_grad());
  CHECK_FALSE(x.detach().requires_grad());
}

TEST_CASE("Only floating point and complex tensors can require grad", "[graph]") {
  CHECK_THROWS_AS(ones({2}, kLong).set_requires_grad(true), Error);
  CHECK_THROWS_WITH(ones({2}, kBool).requires_grad_(), Contains("can require gradients"));
  CHECK(ones({2}, kComplexDouble).requires_grad_().requires_grad());
}

TEST_CASE("The flag of a result cannot be cleared", "[graph]") {
  const Tensor x = leaf({1});
  const Tensor y = x * 2;
  CHECK_THROWS_WITH(y.set_requires_grad(false),
                    Contains("you can only change requires_grad flags of leaf"));
  CHECK_NOTHROW(y.set_requires_grad(true));
  CHECK_FALSE(x.set_requires_grad(false).requires_grad());
  CHECK_FALSE((x * 2).requires_grad());
}

TEST_CASE("Leaves and nodes", "[graph]") {
  const Tensor x = leaf({1, 2});
  CHECK(x.is_leaf());
  CHECK_FALSE(x.grad_fn());
  const Tensor y = x * 3;
  CHECK_FALSE(y.is_leaf());
  CHECK(y.output_nr() == 0);
  CHECK(y.grad_fn()->name().substr(0, 3) == "Mul");
  const auto parts = x.unbind(0);
  CHECK(parts[1].output_nr() == 1);
  CHECK(parts[1].grad_fn() == parts[0].grad_fn());
}

TEST_CASE("A leaf has one accumulator; constants have none", "[graph]") {
  const Tensor x = leaf({1, 2}), c = tensor({3., 4.});
  const Tensor y = x * c, z = x + x;
  CHECK(y.grad_fn()->next_edges()[0].function == z.grad_fn()->next_edges()[1].function);
  CHECK(y.grad_fn()->next_edges()[0].function->name() == "AccumulateGrad");
  CHECK_FALSE(y.grad_fn()->next_edges()[1].is_valid());
}

TEST_CASE("A graph keeps its leaves alive, and they their accumulator", "[graph]") {
  Tensor x = leaf({1, 2});
  TensorImpl* impl = x.unsafe_impl();
  Tensor y = x * 2;
  autograd::GradientEdge edge = autograd::get_gradient_edge(x);
  x.reset();
  y.reset();
  CHECK(impl->refs.count() == 1);  // the edge's
  edge.function.reset();
  // Asleep or not, a leaf's next graphs find it again.
  const Tensor w = leaf({1});
  for (int i = 0; i < 3; ++i) (w * 2).backward();
  CHECK(values(w.grad()) == std::vector<double>{6});
}

TEST_CASE("Only what the wanted gradients need is saved", "[graph]") {
  Tensor x = tensor({1., 2.});
  const Tensor w = leaf({3, 4});
  const Tensor y = x * w;
  w.detach().mul_(0);  // the product does not need w, since x needs no gradient
  CHECK_NOTHROW(y.sum().backward());
  const Tensor z = x * w;
  x.mul_(2);
  CHECK_THROWS_WITH(z.sum().backward(), Contains("modified by an inplace operation"));
}

TEST_CASE("Deep graphs are run and freed without recursion", "[graph]") {
  const Tensor x = leaf({1});
  SECTION("chain of results") {
    Tensor y = x;
    for (int i = 0; i < 150000; ++i) y = y + 1;
    y.backward();
    CHECK(values(x.grad()) == std::vector<double>{1});
  }
  SECTION("through saved tensors") {
    Tensor y = x;
    for (int i = 0; i < 150000; ++i) y = y * y;
    CHECK(y.requires_grad());
  }
  SECTION("through views") {
    Tensor y = x;
    for (int i = 0; i < 50000; ++i) y = y.view({1}) * 1;
    CHECK(y.requires_grad());
  }
  SECTION("through saved results") {
    Tensor y = x;
    for (int i = 0; i < 50000; ++i) y = y.sigmoid();
    CHECK(y.requires_grad());
  }
}

TEST_CASE("Gradient edges stand for tensors", "[graph]") {
  const Tensor x = leaf({1, 2});
  Tensor y = x * 3;
  const auto before = autograd::get_gradient_edge(y);
  const auto from = autograd::get_gradient_edge(x);
  y.mul_(2);  // the edge stays at the value before
  const Tensors g = autograd::grad({before}, {from}, {ones({2})}, {.retain_graph = true});
  CHECK(values(g[0]) == std::vector<double>{3, 3});
  CHECK(values(autograd::grad({autograd::get_gradient_edge(y)}, {before}, {ones({2})})[0]) ==
        std::vector<double>{2, 2});
  CHECK_THROWS_AS(autograd::get_gradient_edge(ones({2})), Error);
  CHECK_THROWS_WITH(autograd::grad({before}, {from}, {Tensor()}),
                    "grad can be implicitly created only for scalar outputs");
  CHECK_THROWS_WITH(autograd::grad({before}, {from}, {ones({3})}), Contains("Mismatch in shape"));
}

TEST_CASE("backward() goes from edges to edges", "[graph]") {
  const Tensor x = leaf({1, 2}), w = leaf({3, 5});
  const Tensor y = x * w;
  const auto to = autograd::get_gradient_edge(x), middle = autograd::get_gradient_edge(y);
  const auto from = autograd::get_gradient_edge((y * y).sum());
  autograd::backward({from}, {}, true, false, {to});
  CHECK(values(x.grad()) == std::vector<double>{18, 100});
  autograd::backward({from}, {}, true, false, {middle});
  CHECK(values(x.grad()) == std::vector<double>{18, 100});
  CHECK_FALSE(w.grad().defined());
  autograd::backward({middle}, {ones({2})}, true);
  CHECK(values(x.grad()) == std::vector<double>{21, 105});
  CHECK(values(w.grad()) == std::vector<double>{1, 2});
}
