#include "runtime/nn/module.h"

#include <catch2/catch.hpp>
#include <sstream>

#include "runtime/nn/modules/sequential.h"
#include "tenon/nn/modules/activation.h"
#include "tenon/nn/modules/batchnorm.h"
#include "tenon/nn/modules/conv.h"
#include "tenon/nn/modules/dropout.h"
#include "tenon/nn/modules/linear.h"
#include "tenon/ops/full.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/zeros.h"
#include "tests/runtime/values.h"

using namespace tenon;

namespace {

struct NetImpl : nn::Module {
  NetImpl() {
    first = register_module("first", nn::Linear(3, 4));
    norm = register_module("norm", nn::BatchNorm2d(4));
    last = register_module("last", nn::Linear(nn::LinearOptions(4, 2).bias(false)));
    shift = register_parameter("shift", zeros({2}, TensorOptions()));
  }
  Tensor forward(const Tensor& x) { return last(first(x).relu()) + shift; }

  nn::Linear first{nullptr};
  nn::BatchNorm2d norm{nullptr};
  nn::Linear last{nullptr};
  Tensor shift;
};
TENON_MODULE(Net);

std::string text_of(const nn::Module& module) {
  std::ostringstream out;
  out << module;
  return out.str();
}

}  // namespace

TEST_CASE("a module's parameters are named by their path") {
  Net net;
  CHECK(net->named_parameters().keys() == std::vector<std::string>{"shift", "first.weight",
                                                                   "first.bias", "norm.weight",
                                                                   "norm.bias", "last.weight"});
  CHECK(net->named_parameters(false).keys() == std::vector<std::string>{"shift"});
  CHECK(net->named_buffers().keys() == std::vector<std::string>{"norm.running_mean",
                                                                "norm.running_var",
                                                                "norm.num_batches_tracked"});
  CHECK(net->parameters().size() == 6);
  CHECK(net->parameters()[0].requires_grad());
  CHECK_FALSE(net->buffers()[0].requires_grad());
  CHECK(net->named_modules().keys() == std::vector<std::string>{"", "first", "norm", "last"});
  CHECK(net->children().size() == 3);
  CHECK(net->name() == "(anonymous namespace)::NetImpl");
}

TEST_CASE("a tensor registered twice is one parameter") {
  Net net;
  net->register_parameter("alias", net->shift);
  CHECK(net->parameters().size() == 6);
  CHECK(net->state_dict().size() == 10);
}

TEST_CASE("names that cannot be registered") {
  Net net;
  CHECK_THROWS_WITH(net->register_parameter("shift", Tensor()),
                    "Parameter 'shift' already defined");
  CHECK_THROWS_WITH(
      net->register_buffer("shift", Tensor()),
      "[register_buffer] 'shift' is already a parameter of (anonymous namespace)::NetImpl");
  CHECK_THROWS_WITH(net->register_parameter("a.b", Tensor()),
                    "Parameter name must not contain a dot (got 'a.b')");
  CHECK_THROWS_WITH(net->register_module("", nn::ReLU()), "Submodule name must not be empty");
  CHECK_THROWS_WITH(nn::Linear(nullptr)->reset_parameters(), "Accessing empty ModuleHolder");
}

TEST_CASE("train and eval reach all parts") {
  Net net;
  CHECK(net->is_training());
  net->eval();
  CHECK_FALSE(net->norm->is_training());
  net->train();
  CHECK(net->norm->is_training());
  int count = 0;
  net->apply([&](nn::Module&) { ++count; });
  CHECK(count == 4);
}

TEST_CASE("zero_grad clears gradients") {
  Net net;
  net(ones({2, 3}, TensorOptions())).sum().backward();
  REQUIRE(net->shift.grad().defined());
  net->zero_grad(false);
  CHECK(values(net->shift.grad()) == std::vector<double>{0, 0});
  net->zero_grad();
  CHECK_FALSE(net->shift.grad().defined());
}

TEST_CASE("to changes the dtype of floating-point tensors in place") {
  Net net;
  const Tensor weight = net->first->weight;
  net(ones({2, 3}, TensorOptions())).sum().backward();
  net->to(kDouble);
  CHECK(weight.dtype() == kDouble);
  CHECK(weight.requires_grad());
  CHECK(weight.grad().dtype() == kDouble);
  CHECK(net->norm->num_batches_tracked.dtype() == kLong);
  CHECK(net(ones({2, 3}, TensorOptions(kDouble))).dtype() == kDouble);
}

TEST_CASE("a state dict shares the module's memory and loads into another") {
  Net a, b;
  const nn::StateDict state = a->state_dict();
  CHECK(state.size() == 9);
  CHECK(state["first.weight"].data_ptr() == a->first->weight.data_ptr());
  CHECK_FALSE(state["first.weight"].requires_grad());
  b->load_state_dict(state);
  CHECK(values(b->first->weight) == values(a->first->weight));
  CHECK(b->first->weight.data_ptr() != a->first->weight.data_ptr());
  CHECK(b->first->weight.requires_grad());
}

TEST_CASE("a state dict that does not fit changes nothing") {
  Net net;
  const std::vector<double> before = values(net->shift);
  nn::StateDict state = net->state_dict();
  state.erase("first.bias");
  state.set("shift", full({2}, 7, TensorOptions()));
  state.set("last.weight", zeros({1, 4}, TensorOptions()));
  state.insert("extra", zeros({1}, TensorOptions()));
  CHECK_THROWS_WITH(net->load_state_dict(state),
                    "[load_state_dict] (anonymous namespace)::NetImpl: missing keys: first.bias; "
                    "unexpected keys: extra; size mismatch for: "
                    "last.weight (expected [2, 4], got [1, 4])");
  CHECK(values(net->shift) == before);
  CHECK_THROWS_WITH(net->load_state_dict(state, false),
                    Catch::Contains("size mismatch") && !Catch::Contains("missing"));
  state.erase("last.weight");
  net->load_state_dict(state, false);
  CHECK(values(net->shift) == std::vector<double>{7, 7});
}

TEST_CASE("modules print their options") {
  nn::Sequential net(nn::Conv2d(nn::Conv2dOptions(1, 6, {5, 3}).padding(2)), nn::ReLU(),
                     nn::Dropout(0.25));
  CHECK(text_of(*net) ==
        "torch::nn::Sequential(\n"
        "  (0): torch::nn::Conv2d(1, 6, kernel_size=[5, 3], stride=[1, 1], padding=[2, 2])\n"
        "  (1): torch::nn::ReLU()\n"
        "  (2): torch::nn::Dropout(p=0.25, inplace=false)\n"
        ")");
}
