#include <catch2/catch.hpp>
#include <sstream>

#include "runtime/nn/any_module.h"
#include "runtime/nn/modules/functional_module.h"
#include "runtime/nn/modules/module_dict.h"
#include "runtime/nn/modules/module_list.h"
#include "runtime/nn/modules/parameter_list.h"
#include "runtime/nn/modules/sequential.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/relu.h"
#include "tests/runtime/values.h"

using namespace tenon;
using Catch::Contains;

namespace {

/// x * factor, of one parameter.
struct ScaleImpl : nn::Cloneable<ScaleImpl> {
  explicit ScaleImpl(double start = 1) : start(start) { reset(); }
  void reset() override {
    factor = register_parameter("factor", vector_of({start}));
    count = register_buffer("count", vector_of({0}));
  }
  Tensor forward(const Tensor& x) { return x * factor; }

  double start;
  Tensor factor;
  Tensor count;
};
TENON_MODULE(Scale);

struct SumImpl : nn::Module {
  double forward(Tensor x, int times, double plus = 1) {
    return x.sum().item<double>() * times + plus;
  }
  TENON_FORWARD_DEFAULTS({2, nn::AnyValue(1.0)})
};
TENON_MODULE(Sum);

/// Registers its part in the constructor, which reset() does not repeat.
struct ForgetfulImpl : nn::Cloneable<ForgetfulImpl> {
  ForgetfulImpl() { register_module("part", Scale(2)); }
  void reset() override {}
};

}  // namespace

TEST_CASE("a clone has parameters, buffers and parts of its own") {
  nn::Sequential net(Scale(2), Scale(3));
  const nn::Sequential copy(std::dynamic_pointer_cast<nn::SequentialImpl>(net->clone()));
  REQUIRE(copy->named_parameters().keys() == net->named_parameters().keys());
  {
    NoGradGuard no_grad;
    net->at<ScaleImpl>(0).factor.fill_(7);
    net->at<ScaleImpl>(1).count.fill_(7);
  }
  CHECK(values(copy->at<ScaleImpl>(0).factor) == std::vector<double>{2});
  CHECK(values(copy->at<ScaleImpl>(1).count) == std::vector<double>{0});
  CHECK(copy->at<ScaleImpl>(0).factor.requires_grad());
  CHECK(values(copy->forward(vector_of({1, 2}))) == std::vector<double>{6, 12});
}

TEST_CASE("what cannot be cloned says why") {
  CHECK_THROWS_WITH(SumImpl().clone(), Contains("clone() has not been implemented for") &&
                                           Contains("SumImpl") && Contains("Cloneable"));
  CHECK_THROWS_WITH(ForgetfulImpl().clone(),
                    Contains("does not have the same number of child modules") &&
                        Contains("register_module() inside reset()"));
}

TEST_CASE("an AnyModule calls a module of any signature") {
  nn::AnyModule any{Sum()};
  const Tensor x = vector_of({1, 2});
  CHECK(any.forward<double>(x, 2, 5.0) == 11);
  CHECK(any.forward<double>(x, 2) == 7);
  CHECK_THROWS_WITH(any.forward<double>(x),
                    Contains("at least 2 argument(s) and at most 3 argument(s), but received 1."));
  CHECK_THROWS_WITH(any.forward<double>(x, 2.0), "Expected argument #1 to be of type int, but "
                                                 "received value of type double");
  CHECK_THROWS_WITH(any.forward<int>(x, 2),
                    "Attempted to cast AnyValue to int, but its actual type is double");
  CHECK_THROWS_WITH(any.get<Scale>(), Contains("Attempted to cast module of type"));
  CHECK_THROWS_WITH(nn::AnyModule().forward(x), "Cannot call forward() on an empty AnyModule");
  const nn::AnyModule same = any;
  CHECK(same.ptr() == any.ptr());
}

TEST_CASE("a Sequential has named modules and may hold another") {
  nn::Sequential inner({{"first", Scale(2)}, {"second", Scale(5)}});
  nn::Sequential outer(inner, nn::Functional(relu), Sum());
  CHECK(outer->named_parameters().keys() ==
        std::vector<std::string>{"0.first.factor", "0.second.factor"});
  CHECK_THROWS_WITH(outer->forward(vector_of({1})), Contains("expects at least 2 argument(s)"));
  nn::Sequential net(inner, nn::Functional(relu));
  CHECK(values(net->forward(vector_of({1, -1}))) == std::vector<double>{10, 0});
  CHECK_THROWS_WITH(net->forward<int>(vector_of({1})),
                    Contains("you asked for type int") && Contains("tenon::Tensor"));
  CHECK_THROWS_AS(net->ptr(2), IndexError);
  std::ostringstream text;
  text << *net;
  CHECK_THAT(text.str(), Contains("(0): torch::nn::Sequential(\n    (first): ") &&
                             Contains("(1): torch::nn::Functional()"));
}

TEST_CASE("a ModuleList keeps numbers after an insertion") {
  nn::ModuleList list(Scale(0), Scale(2));
  list->insert(1, Scale(1));
  REQUIRE(list->size() == 3);
  for (size_t i = 0; i < 3; ++i) {
    CHECK(list->at<ScaleImpl>(i).start == double(i));
    CHECK(list->named_children()[std::to_string(i)] == list[i]);
  }
  CHECK_THROWS_AS(list->insert(5, Scale(1)), IndexError);
  CHECK_THROWS_WITH(list->at<SumImpl>(0), Contains("Unable to cast module[0] to"));
}

TEST_CASE("a ModuleDict replaces modules of a name") {
  using Pairs = nn::ModuleDictImpl::Pairs;
  nn::ModuleDict dict(Pairs{{"a", Scale(1).ptr()}, {"b", Scale(2).ptr()}});
  dict->update(Pairs{{"b", Scale(5).ptr()}, {"c", Scale(3).ptr()}});
  CHECK(dict->keys() == std::vector<std::string>{"a", "b", "c"});
  CHECK(dict->at<ScaleImpl>("b").start == 5);
  CHECK(values(dict->named_parameters()["b.factor"]) == std::vector<double>{5});
  dict->pop("a");
  CHECK(dict->named_parameters().keys() == std::vector<std::string>{"b.factor", "c.factor"});
  CHECK_THROWS_WITH(dict->pop("a"), "Submodule 'a' is not defined");
}

TEST_CASE("parameters of containers are the module's") {
  nn::ParameterList list(vector_of({1}).requires_grad_(), vector_of({2}));
  CHECK(list->parameters().size() == 2);
  CHECK(list[0].requires_grad());
  CHECK_FALSE(list[1].requires_grad());
  const auto copy = std::dynamic_pointer_cast<nn::ParameterListImpl>(list->clone());
  CHECK(copy->at(0).requires_grad());
  CHECK_FALSE(copy->at(0).is_alias_of(list[0]));
  nn::ParameterDict dict;
  dict->insert("w", vector_of({3}));
  CHECK_THROWS_WITH(dict->insert("w", vector_of({3})), "Parameter 'w' already defined");
  CHECK_THROWS_WITH(dict->get("v"), "Parameter 'v' is not defined");
  CHECK(dict->named_parameters().keys() == std::vector<std::string>{"w"});
}
