#include "tenon/ops/cat.h"
#include "tenon/ops/log_softmax.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/ones_like.h"
#include "tenon/ops/softmax.h"
#include "tenon/ops/stack.h"
#include "tenon/ops/where.h"
#include "tests/autograd/test_support.h"

using namespace tenon;
using namespace tenon::test;
using autograd::AutogradContext;
using autograd::CheckedFunction;
using autograd::gradcheck;
using autograd::gradgradcheck;
using autograd::variable_list;

namespace {

/// x^2 with a backward that is wrong in one of several ways.
struct Square : autograd::Function<Square> {
  enum Fault { kNone, kFactor, kSecondOrder, kState, kContiguity, kUndefined };
  static inline Fault fault = kNone;
  static inline int runs = 0;

  static variable_list forward(AutogradContext* ctx, const Tensor& x) {
    ctx->save_for_backward({x});
    ctx->set_materialize_grads(fault != kUndefined);
    return {x * x, x * 2};
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    Tensor x = ctx->get_saved_variables()[0];
    if (fault == kUndefined && !grads[1].defined()) return {ones_like(x)};
    if (fault == kUndefined && !grads[0].defined()) return {grads[1] * 2};
    if (fault == kSecondOrder) x = x.detach();
    Tensor g = grads[0] * x * (fault == kFactor ? 2.5 : 2.0) + grads[1] * 2;
    if (fault == kState) g = g + 1e-7 * (++runs);
    if (fault == kContiguity && !grads[0].is_contiguous()) g = g * 2;
    return {g};
  }
};

Tensors run_square(const Tensors& in) {
  const variable_list out = Square::apply(in[0]);
  return {out[0], out[1]};
}

}  // namespace

TEST_CASE("gradcheck() finds what is wrong and says where", "[gradcheck]") {
  const Tensors in = {sample({2, 2}, 2)};
  const auto result = [&](Square::Fault fault) {
    Square::fault = fault;
    const std::string message = message_of([&] { gradcheck(run_square, in); });
    Square::fault = Square::kNone;
    return message;
  };
  CHECK(result(Square::kNone) == "");
  CHECK_THAT(result(Square::kFactor),
             Contains("[gradcheck] Jacobian mismatch for output 0 with respect to input 0: "
                      "d(element [0, 0] of the "
                      "output)/d(element [0, 0] of the input) is numerically "));
  CHECK_THAT(result(Square::kState), Contains("not reentrant"));
  CHECK_THAT(result(Square::kContiguity), Contains("not contiguous"));
  CHECK_THAT(result(Square::kUndefined), Contains("mismatch") || Contains("undefined gradient"));
  Square::fault = Square::kSecondOrder;
  CHECK(gradcheck(run_square, in));
  CHECK_THROWS_WITH(gradgradcheck(run_square, in), Contains("Jacobian mismatch"));
  CHECK_FALSE(gradgradcheck(run_square, in, {}, {.raise_exception = false}));
  Square::fault = Square::kNone;
}

TEST_CASE("gradcheck() refuses inputs it cannot check", "[gradcheck]") {
  const CheckedFunction f = [](const Tensors& in) { return Tensors{in[0] * 2}; };
  CHECK_THROWS_AS(gradcheck(f, {leaf({1, 2})}), ValueError);
  CHECK_THROWS_AS(gradcheck(f, {ones({2}, kDouble)}), ValueError);
  CHECK_THROWS_AS(gradcheck(f, {ones({1}, kDouble).expand({3}).detach().set_requires_grad(true)}),
                  ValueError);
  CHECK_THROWS_AS(gradcheck(f, {leaf({1, 2}, kHalf)}, {.any_precision = false}), ValueError);
  const CheckedFunction constant = [](const Tensors& in) { return Tensors{in[0].detach() * 2}; };
  CHECK_THROWS_WITH(gradcheck(constant, {sample({2})}), Contains("does not require grad, but"));
}

TEST_CASE("gradcheck() takes results, and numbers of less precision", "[gradcheck]") {
  const CheckedFunction f = [](const Tensors& in) { return Tensors{in[0] * in[0].sin()}; };
  const Tensor x = sample({2, 3}) * 2;
  const std::vector<double> before = values(x);
  CHECK(gradcheck(f, {x}));
  CHECK(gradgradcheck(f, {x.transpose(0, 1)}));
  CHECK(values(x) == before);
  CHECK(gradcheck(f, {leaf({0.5, 1.5})},
                  {.eps = 1e-2, .atol = 1e-2, .rtol = 1e-2, .any_precision = true}));
  Square::fault = Square::kFactor;
  CHECK_THROWS_WITH(gradcheck(run_square, {leaf({0.5, 1.5})},
                              {.eps = 1e-2, .atol = 1e-2, .rtol = 1e-2, .any_precision = true}),
                    Contains("Jacobian mismatch"));
  Square::fault = Square::kNone;
}

TEST_CASE("Complex gradients", "[gradcheck]") {
  const Tensor z = tensor({std::complex<double>(1, 2)}, kComplexDouble).set_requires_grad(true);
  // |z|^2 at 1 + 2i has the gradient 2 + 4i, Re(z^2) 2 - 4i.
  (z * z.conj()).backward(ones({1}, kComplexDouble));
  CHECK(z.grad().const_data_ptr<std::complex<double>>()[0] == std::complex<double>(2, 4));
  z.mutable_grad().reset();
  (z * z).backward(ones({1}, kComplexDouble));
  CHECK(z.grad().const_data_ptr<std::complex<double>>()[0] == std::complex<double>(2, -4));
  CHECK(gradcheck([](const Tensors& in) { return Tensors{in[0] * in[0] + in[0].exp()}; }, {z}));
}

TEST_CASE("First and second derivatives of operators", "[gradcheck]") {
  struct Row {
    const char* name;
    CheckedFunction function;
    Tensors inputs;
  };
  const Row rows[] = {
      {"broadcast",
       [](const Tensors& i) { return Tensors{i[0] * i[1] + i[2]}; },
       {sample({2, 3}), sample({3}), sample({2, 1})}},
      {"div",
       [](const Tensors& i) { return Tensors{i[0] / i[1]}; },
       {sample({2, 3}), sample({3}, 3)}},
      {"views",
       [](const Tensors& i) {
         return Tensors{i[0].transpose(0, 1).slice(0, 0, 3, 2).select(1, 1),
                        i[0].view({3, 2}).permute({1, 0}), i[0].unsqueeze(0).expand({2, 2, 3}),
                        i[0].as_strided({2, 2}, {2, 1}, 1)};
       },
       {sample({2, 3})}},
      {"overlapping as_strided",
       [](const Tensors& i) {
         return Tensors{i[0].as_strided({3, 2}, {1, 1}, 1)};
       },
       {sample({2, 3})}},
      {"unbind",
       [](const Tensors& i) {
         const auto parts = i[0].unbind(0);
         return Tensors{parts[0] * parts[2]};
       },
       {sample({3, 2})}},
      {"split, cat",
       [](const Tensors& i) {
         const auto parts = i[0].split(2, 1);
         return Tensors{cat({parts[1] * 2, parts[0].sin()}, 1)};
       },
       {sample({2, 5})}},
      {"stack",
       [](const Tensors& i) {
         return Tensors{stack({i[0], i[1] * i[0]}, 1)};
       },
       {sample({3}), sample({3})}},
      {"sum, mean",
       [](const Tensors& i) {
         return Tensors{i[0].sum(1), (i[0] * i[0]).mean()};
       },
       {sample({2, 3})}},
      {"amax", [](const Tensors& i) { return Tensors{i[0].amax({1})}; }, {sample({2, 3})}},
      {"max.dim",
       [](const Tensors& i) { return Tensors{std::get<0>((i[0] * i[0]).max(1))}; },
       {sample({2, 3})}},
      {"var", [](const Tensors& i) { return Tensors{i[0].var({1}, true)}; }, {sample({2, 4})}},
      {"index_select",
       [](const Tensors& i) {
         return Tensors{i[0].index_select(0, tensor(std::vector<int64_t>{2, 0, 2})) * 2};
       },
       {sample({3, 2})}},
      {"mm",
       [](const Tensors& i) { return Tensors{i[0].mm(i[1])}; },
       {sample({2, 3}), sample({3, 2})}},
      {"where",
       [](const Tensors& i) { return Tensors{where(i[0] > 0, i[0] * i[1], i[1])}; },
       {sample({2, 3}), sample({3})}},
      {"sigmoid, tanh",
       [](const Tensors& i) { return Tensors{i[0].sigmoid() * i[0].tanh()}; },
       {sample({4})}},
      {"softmax", [](const Tensors& i) { return Tensors{softmax(i[0], 1)}; }, {sample({2, 3})}},
      {"log_softmax",
       [](const Tensors& i) { return Tensors{log_softmax(i[0], 1)}; },
       {sample({2, 3})}},
      {"pow",
       [](const Tensors& i) { return Tensors{i[0].pow(i[1])}; },
       {sample({3}, 2), sample({3})}},
  };
  for (const Row& row : rows) {
    DYNAMIC_SECTION(row.name) {
      CHECK(gradcheck(row.function, row.inputs));
      CHECK(gradgradcheck(row.function, row.inputs));
    }
  }
}
