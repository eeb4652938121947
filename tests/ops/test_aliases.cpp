// The check of aliases sees what it is there for: operators that do not do what their schemas say.
#include <catch2/catch.hpp>

#include "aten/registration/library.h"
#include "tenon/ops/ones.h"
#include "tests/ops/aliases.h"

using namespace tenon;
using ops_test::alias_violation;

namespace {

void wrong(const char* schema, BoxedKernel kernel, Stack arguments, const std::string& wanted) {
  Library library("lies");
  library.def(schema);
  const std::string name = std::string(schema).substr(0, std::string(schema).find('('));
  library.impl(name, DispatchKey::CPU, kernel);
  CHECK(alias_violation(get_operator("lies::" + name), std::move(arguments)) == wanted);
}

Tensor self_of(const Stack& stack) { return stack.front().to_tensor(); }

}  // namespace

TEST_CASE("aliases: operators that keep to their schemas pass") {
  const Tensor x = ones({2, 3});
  CHECK(alias_violation(get_operator("add.Tensor"), {x, x, Scalar(1)}) == "");
  CHECK(alias_violation(get_operator("add_.Tensor"), {x, ones({3}), Scalar(1)}) == "");
  CHECK(alias_violation(get_operator("t"), {x}) == "");
  CHECK(alias_violation(get_operator("contiguous"), {x, MemoryFormat::Contiguous}) == "");
  CHECK(alias_violation(get_operator("split.Tensor"), {x, 1, 0}) == "");
}

TEST_CASE("aliases: each kind of lie is named") {
  const Tensor x = ones({2});
  const auto returns = [](const std::function<Value(const Tensor&)>& f) {
    return [f](const OperatorEntry&, DispatchKeySet, Stack& stack) {
      const Value result = f(self_of(stack));
      stack = {result};
    };
  };
  wrong("itself(Tensor self) -> Tensor", returns([](const Tensor& t) { return Value(t); }), {x},
        "result 0 is argument `self` itself, and the schema does not say so");
  wrong("view(Tensor self) -> Tensor", returns([](const Tensor& t) {
          return Value(t.view({1, 2}));
        }),
        {x}, "result 0 shares the memory of argument `self`, and the schema does not say so");
  wrong("writes(Tensor self) -> Tensor", returns([](const Tensor& t) {
          t.data_ptr<float>()[1] = 5;
          return Value(ones({1}));
        }),
        {x}, "argument `self` was changed, and the schema does not say so");
  wrong("counts(Tensor self) -> Tensor", returns([](const Tensor& t) {
          t.unsafe_impl()->bump_version();
          return Value(ones({1}));
        }),
        {x}, "argument `self` was counted as changed, and the schema does not say that it is");
  wrong("resizes(Tensor self) -> Tensor", returns([](const Tensor& t) {
          t.unsafe_impl()->set_sizes_contiguous({2, 1});
          return Value(ones({1}));
        }),
        {ones({2})}, "argument `self` has another geometry after the call");
  wrong("silent_(Tensor(a!) self) -> Tensor(a!)", returns([](const Tensor& t) { return Value(t); }),
        {x}, "argument `self` is written by the schema, and its version was not counted");
  wrong("other_(Tensor(a!) self) -> Tensor(a!)", returns([](Tensor t) {
          t.add_(1);
          return Value(t.clone());
        }),
        {x}, "result 0 is not the argument that the schema says it is");
  wrong(
      "twins(Tensor self) -> (Tensor, Tensor)",
      [](const OperatorEntry&, DispatchKeySet, Stack& stack) {
        const Tensor one = ones({2});
        stack = {one, one.view({2, 1})};
      },
      {x}, "results 0 and 1 share memory, and the schema does not say so");
  wrong("few(Tensor self) -> (Tensor, Tensor)",
        returns([](const Tensor&) { return Value(ones({1})); }), {x},
        "the schema has 2 results, the call gave 1");
}
