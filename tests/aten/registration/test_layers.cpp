// Kernels above the backends: autograd, fallbacks of layers.
#include "aten/core/thread_state.h"
#include "aten/dispatch/exclude_layers.h"
#include "aten/generated_support/tensor_factories.h"
#include "aten/registration/library.h"
#include "autograd/engine/node.h"
#include "autograd/function.h"
#include "autograd/tools/gradcheck.h"
#include "tenon/ops/empty.h"
#include "tenon/ops/ones.h"
#include "tests/aten/test_support.h"

using namespace tenon;
using namespace tenon::test;
using autograd::AutogradContext;
using autograd::variable_list;

namespace {

using Unary = Tensor(const Tensor&);

struct Cube : autograd::Function<Cube> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x) {
    ctx->save_for_backward({x});
    const BelowAutograd below;
    return get_operator("lib::cube").typed<Unary>().call(x);
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const Tensor x = ctx->get_saved_variables()[0];
    return {grads[0] * x * x * 3};
  }
};

Tensor cube_cpu(const Tensor& x) { return x * x * x; }

}  // namespace

TEST_CASE("registration: a custom Function as the autograd kernel") {
  Library library("lib");
  library.def("cube(Tensor self) -> Tensor")
      .impl("cube", DispatchKey::CPU, TENON_FN(cube_cpu))
      .impl("cube", DispatchKey::Autograd, [](const Tensor& x) { return Cube::apply(x); });
  const auto cube = get_operator("lib::cube").typed<Unary>();
  Tensor x = tensor({2.}, kDouble).requires_grad_();
  const Tensor y = cube(x);
  CHECK(y.grad_fn()->name() == "CubeBackward");
  y.backward();
  CHECK(values(x.grad()) == std::vector<double>{12});
  CHECK(autograd::gradcheck([&](const auto& in) { return std::vector<Tensor>{cube(in[0])}; },
                            {tensor({0.3, -1.2}, kDouble).requires_grad_()}));
  Stack stack = {TensorBase(x)};
  get_operator("lib::cube").call_boxed(stack);
  CHECK(Tensor(stack[0].to_tensor()).requires_grad());
  CHECK(!cube(x.detach()).requires_grad());
}

TEST_CASE("registration: a composite implicit kernel is differentiated through its operators") {
  Library library("lib");
  library.def("cube(Tensor self) -> Tensor", TENON_FN(cube_cpu));
  Tensor x = tensor({2.}).requires_grad_();
  get_operator("lib::cube").typed<Unary>()(x).backward();
  CHECK(values(x.grad()) == std::vector<double>{12});
}

TEST_CASE("registration: without an autograd kernel backward is an error, not a wrong gradient") {
  Library library("lib");
  library.def("cube(Tensor self) -> Tensor").impl("cube", DispatchKey::CPU, TENON_FN(cube_cpu));
  const auto cube = get_operator("lib::cube").typed<Unary>();
  Tensor x = tensor({2.}).requires_grad_();
  const Tensor y = cube(x);
  CHECK(values(y) == std::vector<double>{8});
  REQUIRE(y.requires_grad());
  check_error<NotImplementedError>([&] { y.backward(); },
                                   "derivative for lib::cube is not implemented");
  {
    const NoGradGuard no_grad;
    CHECK(!cube(x).requires_grad());
  }
  // A composite kernel for the other backends does not hide it: the one for the CPU runs.
  library.impl("cube", DispatchKey::CompositeImplicit, TENON_FN(cube_cpu));
  check_error<NotImplementedError>([&] { cube(x).backward(); }, "is not implemented");
  CHECK(cube(empty({1}, Device(kMeta)).requires_grad_()).grad_fn()->name() == "MulBackward0");
}

TEST_CASE("registration: in-place operators follow the rules for leaves and views") {
  Library library("lib");
  library.def("bump_(Tensor(a!) self) -> Tensor(a!)")
      .impl("bump_", DispatchKey::CPU, [](Tensor& self) -> Tensor& {
        self.data_ptr<float>()[0] += 1;
        return self;
      });
  const auto bump = get_operator("lib::bump_").typed<Tensor&(Tensor&)>();
  Tensor leaf = ones({2}).requires_grad_();
  check_error([&] { bump(leaf); }, "a leaf Variable that requires grad");
  Tensor y = leaf * 1;
  const Tensor saved = y * y;
  bump(y);
  CHECK(y.grad_fn()->name() == "NotImplemented");
  check_error([&] { saved.sum().backward(); }, "modified by an inplace operation");
}

TEST_CASE("registration: a layer's fallback runs for every operator without a kernel for it") {
  Library library("lib");
  library.def("cube(Tensor self) -> Tensor").impl("cube", DispatchKey::CPU, TENON_FN(cube_cpu));
  const auto in_layer = [](Tensor t) {
    t.unsafe_impl()->key_set = t.unsafe_impl()->key_set.add(DispatchLayer::Batched);
    return t;
  };
  const Tensor x = in_layer(tensor({3.}));
  std::vector<std::string> seen;
  {
    Library layer("lib", Library::IMPL);
    layer.fallback(DispatchKey::Batched,
                   [&](const OperatorEntry& op, DispatchKeySet keys, Stack& stack) {
                     seen.push_back(op.qualified_name());
                     redispatch_boxed(op, keys.remove(DispatchLayer::Batched), stack);
                   });
    check_error<ValueError>(
        [&] {
          layer.fallback(DispatchKey::Batched, [](const OperatorEntry&, DispatchKeySet, Stack&) {});
        },
        "has a fallback already");
    check_error<ValueError>(
        [&] {
          layer.fallback(DispatchKey::Autograd,
                         [](const OperatorEntry&, DispatchKeySet, Stack&) {});
        },
        "the key must be a backend, Python, PythonMode, ForwardGrad, Autocast, Batched, Profiler "
        "or "
        "BatchedMode, got "
        "Autograd");
    CHECK(values(x + x) == std::vector<double>{6});
    CHECK(values(get_operator("lib::cube").typed<Unary>()(x)) == std::vector<double>{27});
    // Operators that come later have it too.
    Library late("late");
    late.def("cube(Tensor self) -> Tensor").impl("cube", DispatchKey::CPU, TENON_FN(cube_cpu));
    CHECK(values(get_operator("late::cube").typed<Unary>()(x)) == std::vector<double>{27});
    CHECK(seen == std::vector<std::string>{"aten::add.Tensor", "lib::cube", "late::cube"});
    // A kernel of the layer's own comes before it.
    layer.impl("cube", DispatchKey::Batched, [](const Tensor&) { return ones({1}); });
    CHECK(values(get_operator("lib::cube").typed<Unary>()(x)) == std::vector<double>{1});
    Tensor leaf = in_layer(tensor({3.})).requires_grad_();
    (leaf * leaf).backward();
    CHECK(values(leaf.grad()) == std::vector<double>{6});
  }
  CHECK(values(x + x) == std::vector<double>{6});
  CHECK(values(get_operator("lib::cube").typed<Unary>()(x)) == std::vector<double>{27});
  CHECK(seen.size() >= 4);
  const size_t count = seen.size();
  (x + x);
  CHECK(seen.size() == count);
  CHECK(thread_state.excluded_layers == 0);
}
