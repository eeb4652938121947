#include "codegen/expr/graph/differentiate.h"
#include "codegen/expr/graph/print_kernel.h"
#include "codegen/expr/graph/print_tensor.h"

#include <catch2/catch.hpp>

#include <limits>

using namespace tenon::codegen::expr;

namespace {

using Texts = std::vector<std::string>;

const std::vector<Parameter> kParameters = {
    {"self", true, true}, {"other", true, true}, {"alpha", false, false}};

Expression parsed(const std::string& text) {
  ParseResult result = parse_expression(text, kParameters);
  INFO(text);
  REQUIRE(result.ok());
  return std::move(result.expression);
}

KernelText kernel(const std::string& text, const KernelOptions& options = {}) {
  const Expression expression = parsed(text);
  return print_kernel(expression.graph, expression.outputs, options);
}

std::string result_of(const std::string& text) {
  const KernelText printed = kernel(text);
  INFO(text);
  REQUIRE(printed.statements.empty());
  return printed.results[0];
}

TensorText tensor_gradient(const std::string& text, const TensorTextOptions& options = {}) {
  Expression expression = parsed(text);
  const Derivative derivative = differentiate(expression);
  return print_tensor_ops(expression.graph, derivative.gradients[0].node, options);
}

std::string tensor_text(const std::string& text) {
  const Expression expression = parsed(text);
  return print_tensor_ops(expression.graph, expression.outputs[0]).text;
}

}  // namespace

TEST_CASE("kernel text calls the functions of m", "[expr][print]") {
  CHECK(result_of("self + alpha * other") == "m::fma(alpha, other, self)");
  CHECK(result_of("self * 0.5 - 1") ==
        "m::sub(m::mul(self, m::constant<V>(0.5)), m::constant<V>(1.0))");
  CHECK(result_of("where(self > 0, self, 0)") ==
        "m::where(m::gt(self, m::constant<V>(0.0)), self, m::constant<V>(0.0))");
  CHECK(result_of("self > other") == "m::from_mask<V>(m::gt(self, other))");
  CHECK(result_of("where(self, other, 1)") ==
        "m::where(m::to_mask(self), other, m::constant<V>(1.0))");
  CHECK(result_of("(self > 0) * other") ==
        "m::mul(m::from_mask<V>(m::gt(self, m::constant<V>(0.0))), other)");
  CHECK(result_of("self == inf") ==
        "m::from_mask<V>(m::eq(self, m::constant<V>(std::numeric_limits<double>::infinity())))");
}

TEST_CASE("shared subexpressions become temporaries", "[expr][print]") {
  const KernelText text = kernel("exp(self) / (1 + exp(self))");
  CHECK(text.statements == Texts{"const auto t0 = m::exp(self);"});
  CHECK(text.results == Texts{"m::div(t0, m::add(m::constant<V>(1.0), t0))"});
  const ParseResult named = parse_expression("exp(t0) * exp(t0)", {{"t0", true, true}});
  CHECK(print_kernel(named.expression.graph, named.expression.outputs).results[0] ==
        "m::square(m::exp(t0))");
  const ParseResult taken = parse_expression("exp(t0) + 1 / exp(t0)", {{"t0", true, true}});
  CHECK(print_kernel(taken.expression.graph, taken.expression.outputs).statements ==
        Texts{"const auto t1 = m::exp(t0);"});
}

TEST_CASE("loops take steps while a lane's condition holds", "[expr][print]") {
  CHECK(kernel("y = self; repeat 3 while y < alpha { y = y * 2; } y").statements ==
        Texts{"V t0 = self;", "for (int t1 = 0; t1 < 3; ++t1) {",
              "  const auto t2 = m::lt(t0, alpha);", "  if (!m::any<V>(t2)) break;",
              "  const V t3 = m::mul(t0, m::constant<V>(2.0));", "  t0 = m::where(t2, t3, t0);",
              "}"});
  // Without a condition nothing is chosen; what a step reads is computed once.
  CHECK(kernel("y = self; t = exp(alpha); repeat 3 { y = y * t; } y").statements ==
        Texts{"V t0 = self;", "const auto t1 = m::exp(alpha);", "for (int t2 = 0; t2 < 3; ++t2) {",
              "  const V t3 = m::mul(t0, t1);", "  t0 = t3;", "}"});
  // Equal loops are one.
  const KernelText twice =
      kernel("a = self; repeat 3 { a = a * a; } b = self; repeat 3 { b = b * b; } a + exp(b)");
  CHECK(twice.statements.size() == 5);
  CHECK(twice.results == Texts{"m::add(t0, m::exp(t0))"});
}

TEST_CASE("kernel options rename, retype and keep products", "[expr][print]") {
  KernelOptions options;
  options.rename = {{"self", "a"}, {"other", "b"}};
  options.value_type = "T";
  options.prefix = "k::";
  options.contract_fma = false;
  CHECK(kernel("self * other + 2", options).results[0] ==
        "k::add(k::mul(a, b), k::constant<T>(2.0))");
}

TEST_CASE("double literals read back exactly", "[expr][print]") {
  CHECK(double_literal(0.1) == "0.1");
  CHECK(double_literal(2) == "2.0");
  CHECK(double_literal(1e300) == "1e+300");
  CHECK(double_literal(-std::numeric_limits<double>::infinity()) ==
        "-std::numeric_limits<double>::infinity()");
}

TEST_CASE("gradients print as tensor operators", "[expr][print]") {
  CHECK(tensor_gradient("self * other").text == "tenon::mul(grad, tenon::conj(other))");
  CHECK(tensor_gradient("self * other").operators == Texts{"conj", "mul"});
  CHECK(tensor_gradient("sigmoid(self)").text ==
        "tenon::mul(grad, tenon::conj(tenon::mul(tenon::rsub(result, 1), result)))");
  CHECK(tensor_gradient("where(self > 0, self, 0)").text ==
        "tenon::where(tenon::gt(self, 0), grad, 0)");
  CHECK(tensor_gradient("relu(self)").operators == Texts{"le", "where"});
  CHECK(tensor_gradient("self + other").text == "grad");
  CHECK(tensor_gradient("alpha * 2 * erf(self)").text.find("alpha.to<double>()") !=
        std::string::npos);
  TensorTextOptions options;
  options.rename = {{"self", "self_saved"}};
  options.plain_scalars = {"alpha"};
  CHECK(tensor_gradient("erf(self) * alpha", options).text ==
        "tenon::mul(grad, tenon::mul(tenon::mul(tenon::exp(tenon::neg(tenon::square(self_saved))), "
        "1.1283791670955126), alpha))");
  CHECK(
      tensor_gradient("self / (1 + exp(self))").text.rfind("[&] { const tenon::Tensor t0 = ", 0) ==
      0);
}

TEST_CASE("tensor text uses overloads that exist", "[expr][print]") {
  CHECK(tensor_text("1 - self") == "tenon::rsub(self, 1)");
  CHECK(tensor_text("1 / self") == "tenon::reciprocal(self)");
  CHECK(tensor_text("2 / self") == "tenon::mul(tenon::reciprocal(self), 2)");
  CHECK(tensor_text("2 < self") == "tenon::gt(self, 2)");
  CHECK(tensor_text("pow(2, self)") == "tenon::pow(2, self)");
  CHECK(tensor_text("maximum(self, 0)") == "tenon::clamp_min(self, 0)");
  CHECK(tensor_text("atan2(self, 2)") ==
        "tenon::atan2(self, tenon::scalar_tensor(2, self.options()))");
  CHECK(tensor_text("where(self > 0, 1, 0)") == "tenon::gt(self, 0).to(self.scalar_type())");
  CHECK(tensor_text("where(self > 0, 1, 2)") ==
        "tenon::where(tenon::gt(self, 0), tenon::scalar_tensor(1, self.options()), 2)");
  CHECK(tensor_text("trunc_divide(self, other)") == "tenon::div(self, other, \"trunc\")");
  CHECK(tensor_text("where(alpha > 0, self, 0)") ==
        "((alpha.to<double>() > 0) ? self : tenon::full_like(self, 0))");
  CHECK(tensor_text("lshift(self, other)") == "tenon::bitwise_left_shift(self, other)");
}
