#include <map>

#include "autograd/generated_support/operator_node.h"
#include "tenon/ops/zeros.h"
#include "tests/autograd/test_support.h"

using namespace tenon;
using namespace tenon::test;

TEST_CASE("A graph can be run once, unless kept or nothing was saved", "[saved]") {
  const Tensor x = leaf({1, 2});
  Tensor y = x.exp().sum();
  y.backward();
  CHECK_THROWS_WITH(
      y.backward(),
      "Trying to backward through the graph a second time (or directly access saved tensors "
      "after they have already been freed). Saved intermediate values of the graph are freed "
      "when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to "
      "backward through the graph a second time or if you need to access saved tensors after "
      "calling backward.");
  y = x.exp().sum();
  y.backward({}, true);
  CHECK_NOTHROW(y.backward());
  y = (x + 1).sum();
  y.backward();
  CHECK_NOTHROW(y.backward());
}

TEST_CASE("A saved tensor that was changed in place is noticed", "[saved]") {
  const Tensor x = leaf({1, 2, 3});
  SECTION("a result") {
    Tensor y = x.exp();
    y.mul_(2);
    CHECK_THROWS_WITH(
        y.sum().backward(),
        Contains("one of the variables needed for gradient computation has been modified by an "
                 "inplace operation: [torch.FloatTensor [3]], which is output 0 of Exp, "
                 "is at version 1; expected version 0 instead. Hint: "));
  }
  SECTION("an input that was recorded") {
    Tensor a = x + 1;
    const Tensor y = a * a;
    a.add_(1);
    CHECK_THROWS_WITH(y.sum().backward(),
                      Contains("[torch.FloatTensor [3]], which is output 0 of Add") &&
                          Contains(", is at version 1; expected version 0 instead."));
  }
  SECTION("an input that was not") {
    Tensor c = zeros({3}) + 2;
    const Tensor y = x * c;
    c.add_(1);
    CHECK_THROWS_WITH(
        y.sum().backward(),
        Contains("[torch.FloatTensor [3]] is at version 1; expected version 0 instead."));
  }
  SECTION("through a view, under no_grad") {
    Tensor c = tensor({1., 2., 3.});
    const Tensor y = x * c;
    const NoGradGuard guard;
    c.select(0, 1).fill_(7);
    CHECK_THROWS_AS(y.sum().backward(), Error);
  }
  SECTION("through detach()") {
    Tensor a = x + 1;
    const Tensor y = a * a;
    a.detach().add_(1);
    CHECK_THROWS_AS(y.sum().backward(), Error);
  }
  SECTION("not through data()") {
    Tensor a = x + 1;
    const Tensor y = a * a;
    a.data().add_(1);
    CHECK_NOTHROW(y.sum().backward());
    CHECK(values(x.grad()) == std::vector<double>{6, 8, 10});
  }
}

TEST_CASE("Versions count changes in place of everything that shares memory", "[saved]") {
  Tensor x = zeros({4});
  CHECK(x._version() == 0);
  x.add_(1);
  Tensor v = x.select(0, 0);
  v.fill_(3);
  x.detach().mul_(2);
  CHECK(x._version() == 3);
  CHECK(v._version() == 3);
  const Tensor d = x.data();
  d.mul_(2);
  CHECK(x._version() == 3);
  {
    const NoGradGuard guard;
    x.zero_();
  }
  CHECK(x._version() == 4);
  x.requires_grad_();
  CHECK(x._version() == 4);
}

TEST_CASE("A saved input must keep its history, a saved result need not", "[saved]") {
  const Tensor x = leaf({1, 2});
  Tensor a = x * 1;
  const Tensor y = a * a;
  a.detach_();
  CHECK_THROWS_WITH(y.sum().backward(), Contains("detached in-place"));
  Tensor r = x.exp();
  const Tensor s = r.sum();
  r.detach_();
  CHECK_NOTHROW(s.backward());
  CHECK(values(x.grad())[0] == Approx(std::exp(1.0)));
}

TEST_CASE("Saved results do not make cycles", "[saved]") {
  const Tensor x = leaf({1, 2});
  Tensor y = x.exp();
  StorageImpl* storage = y.unsafe_impl()->storage.get();
  const IntrusivePtr<StorageImpl> watch = y.unsafe_impl()->storage;
  CHECK(storage->refs.count() >= 2);
  y.reset();
  CHECK(storage->refs.count() == 1);
}

TEST_CASE("detach() and detach_()", "[saved]") {
  const Tensor x = leaf({1, 2});
  Tensor y = x * 2;
  const Tensor d = y.detach();
  CHECK(d.is_alias_of(y));
  CHECK(d.is_leaf());
  CHECK_FALSE(d.is_view());
  y.detach_();
  CHECK(y.is_leaf());
  CHECK_FALSE(y.requires_grad());
  CHECK_THROWS_WITH((x * 2).select(0, 0).detach_(),
                    "Can't detach views in-place. Use detach() instead.");
  CHECK(y.set_requires_grad(true).requires_grad());
}

TEST_CASE("A node's type says what it keeps", "[saved]") {
  using autograd::OperatorNode;
  using autograd::SavedKind;
  const Tensor x = leaf({1, 2, 3}), y = x.sum(0, true);
  const auto* node = dynamic_cast<const OperatorNode*>(y.grad_fn().get());
  REQUIRE(node);
  CHECK(std::string(node->type().schema) ==
        "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) "
        "-> Tensor");
  CHECK(node->source() == "derivatives.yaml");
  std::map<std::string, Value> plain;
  for (const auto& entry : node->saved()) {
    CHECK(entry.node == node);
    CHECK(entry.kind != SavedKind::Tensor);
    if (const auto value = entry.plain()) plain.emplace(entry.name, *value);
  }
  CHECK(plain.at("self_sym_sizes").to_ints() == std::vector<int64_t>{3});
  CHECK(plain.at("dim").to_ints() == std::vector<int64_t>{0});
  CHECK(plain.at("keepdim").to_bool());

  const Tensor product = x * x;
  std::vector<std::string> names;
  for (const auto& entry : product.grad_fn()->saved()) {
    names.push_back(entry.name);
    CHECK(entry.kind == SavedKind::Tensor);
    CHECK(entry.nbytes() == 12);
  }
  CHECK(names == std::vector<std::string>{"other", "self"});
  CHECK(product.grad_fn()->saved_nbytes() == 24);
  product.sum().backward();
  CHECK(product.grad_fn()->saved_nbytes() == 0);
  // The node of a part that was written keeps what the operation kept.
  const Tensor base = x * 1;
  base.select(0, 0).mul_(x.select(0, 1));
  CHECK(base.grad_fn()->name() == "CopySlices");
  CHECK(base.grad_fn()->saved_nbytes() > 0);
}
