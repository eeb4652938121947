#include "codegen/expr/graph/differentiate.h"
#include "codegen/expr/graph/evaluate.h"
#include "codegen/expr/graph/infer.h"
#include "codegen/expr/graph/print_readable.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

#include "tests/codegen/library_functions.h"

using tenon::codegen::library_functions;
using namespace tenon::codegen::expr;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
using Names = std::vector<std::string>;

const std::vector<Parameter> kParameters = {
    {"self", true, true}, {"other", true, true}, {"third", true, true}, {"alpha", false, false}};

struct Differentiated {
  Expression expression;
  Derivative derivative;

  explicit Differentiated(const std::string& text) {
    INFO(text);
    ParseResult result = parse_expression(text, kParameters, library_functions());
    REQUIRE(result.ok());
    expression = std::move(result.expression);
    derivative = differentiate(expression);
    REQUIRE(derivative.errors.empty());
  }

  const Gradient& of(const std::string& input) const {
    for (const Gradient& gradient : derivative.gradients)
      if (gradient.input == input) return gradient;
    FAIL("no gradient of " + input);
    return derivative.gradients[0];
  }

  std::string text(const std::string& input) const {
    return print_readable(expression.graph, of(input).node);
  }

  double output(RealBindings v) const {
    return evaluate(expression.graph, expression.outputs[0], v);
  }

  double gradient(const std::string& input, RealBindings v, double grad = 1) const {
    v["grad"] = grad;
    v["result"] = output(v);
    return evaluate(expression.graph, of(input).node, v);
  }
};

RealBindings at(double self, double other = 0.31, double third = -0.4, double alpha = 1.7) {
  return {{"self", self}, {"other", other}, {"third", third}, {"alpha", alpha}};
}

void check_by_differences(const std::string& text, const std::vector<double>& points) {
  Differentiated d(text);
  for (const char* input : {"self", "other", "third"}) {
    for (double point : points) {
      RealBindings here = at(point);
      const double step = 1e-6 * std::fmax(1, std::fabs(here[input]));
      RealBindings up = here, down = here;
      up[input] += step;
      down[input] -= step;
      const double expected = (d.output(up) - d.output(down)) / (2 * step);
      CAPTURE(text, input, point, d.text(input));
      CHECK(d.gradient(input, here, 2) == Approx(2 * expected).epsilon(1e-5).margin(1e-7));
    }
  }
}

}  // namespace

TEST_CASE("every derivative rule agrees with finite differences", "[expr][differentiate]") {
  const std::vector<double> real = {-1.3, -0.25, 0.2, 0.75, 2.4};
  const std::vector<double> positive = {0.2, 0.75, 1.5, 3.1};
  const std::vector<double> inside = {-0.9, -0.3, 0.2, 0.6};
  for (const char* text : {"self + other",
                           "self - other",
                           "self * other",
                           "self / other",
                           "-self",
                           "abs(self)",
                           "sign(self)",
                           "square(self)",
                           "reciprocal(self)",
                           "fma(self, other, third)",
                           "remainder(self, other)",
                           "fmod(self, other)",
                           "remainder(other, self)",
                           "fmod(other, self)",
                           "maximum(self, other)",
                           "minimum(self, other)",
                           "fmax(self, other)",
                           "fmin(self, other)",
                           "exp(self)",
                           "exp2(self)",
                           "expm1(self)",
                           "sin(self)",
                           "cos(self)",
                           "tan(self)",
                           "atan(self)",
                           "sinh(self)",
                           "cosh(self)",
                           "tanh(self)",
                           "asinh(self)",
                           "atan2(self, other)",
                           "atan2(other, self)",
                           "erf(self)",
                           "erfc(self)",
                           "sigmoid(self)",
                           "relu(self)",
                           "floor(self)",
                           "ceil(self)",
                           "round(self)",
                           "trunc(self)",
                           "frac(self)",
                           "hypot(self, other)",
                           "copysign(self, third)",
                           "copysign(third, self)",
                           "where(self > 0.5, exp(self), other)",
                           "conj(self)",
                           "real(self)",
                           "pow(self, 2)",
                           "pow(self, 3)",
                           "pow(other, self)",
                           "digamma(self)",
                           "lgamma(self)"})
    check_by_differences(text, real);
  for (const char* text :
       {"log(self)", "log2(self)", "log10(self)", "log1p(self)", "sqrt(self)", "rsqrt(self)",
        "pow(self, other)", "pow(self, alpha)", "pow(self, -1.5)", "digamma(self)", "lgamma(self)"})
    check_by_differences(text, positive);
  for (const char* text : {"asin(self)", "acos(self)", "atanh(self)", "erfinv(self)"})
    check_by_differences(text, inside);
  check_by_differences("acosh(self)", {1.2, 2.5, 7});
}

TEST_CASE("macros and compositions agree with finite differences", "[expr][differentiate]") {
  const std::vector<double> real = {-4.1, -1.3, -0.25, 0.2, 0.75, 2.4, 6.5};
  for (const char* text : {"silu(self)",
                           "gelu(self)",
                           "gelu_tanh(self)",
                           "softplus(self, 2, 20)",
                           "mish(self)",
                           "logsigmoid(self)",
                           "hardtanh(self, -1, 1)",
                           "relu6(self)",
                           "hardsigmoid(self)",
                           "hardswish(self)",
                           "elu(self, 1.5, 1.2, 0.7)",
                           "selu(self)",
                           "celu(self, 1.3)",
                           "leaky_relu(self, 0.1)",
                           "threshold(self, 0.5, 7)",
                           "hardshrink(self, 0.5)",
                           "softshrink(self, 0.5)",
                           "tanhshrink(self)",
                           "softsign(self)",
                           "logaddexp(self, other)",
                           "logaddexp2(self, other)",
                           "lerp(self, other, third)",
                           "lerp(self, other, 0.9)",
                           "addcmul(self, other, third, alpha)",
                           "addcdiv(self, other, third, alpha)",
                           "sinc(self)",
                           "_smooth_l1_loss(self, other, 1.5)",
                           "_huber_loss(self, other, 1.5)",
                           "_bce_with_logits(self, other)",
                           "clamp(self, -1, 1)",
                           "xlogy(self, other)",
                           "special_xlog1py(self, other)",
                           "special_ndtr(self)",
                           "nan_to_num(self, 0, 1, 2)",
                           "exp(self * other) * tanh(third)",
                           "where(self > other, self * third, exp(third))",
                           "self * self * self / (1 + square(other))",
                           "sqrt(square(self) + square(other))",
                           "t = exp(self); t / (1 + t)"})
    check_by_differences(text, real);
  for (const char* text : {"logit(self)", "special_entr(self)"})
    check_by_differences(text, {0.2, 0.5, 0.9});
}

TEST_CASE("results replace inputs where that saves nothing more", "[expr][differentiate]") {
  for (const char* text : {"sigmoid(self)", "tanh(self)", "exp(self)", "sqrt(self)", "rsqrt(self)",
                           "relu(self)", "expm1(self)", "reciprocal(self)", "tan(self)"}) {
    Differentiated d(text);
    CAPTURE(text, d.text("self"));
    CHECK(d.derivative.saved_tensors.empty());
    CHECK(d.derivative.saved_results == std::vector<std::uint32_t>{0});
  }
  CHECK(Differentiated("sqrt(self)").text("self") == "grad * 0.5 / conj(result)");
  CHECK(Differentiated("relu(self)").text("self") == "where(result <= 0, 0, grad)");
  const Differentiated silu("silu(self)");
  CHECK(silu.derivative.saved_tensors == Names{"self"});
  CHECK(silu.derivative.saved_results.empty());
}

TEST_CASE("only what a gradient needs is saved", "[expr][differentiate]") {
  const Differentiated add("self + alpha * other");
  CHECK(add.of("self").form == GradientForm::kGrad);
  CHECK(add.text("other") == "grad * conj(alpha)");
  CHECK(add.of("other").scalars == Names{"alpha"});
  CHECK(add.of("third").form == GradientForm::kZero);
  CHECK(add.derivative.saved_tensors.empty());
  const Differentiated mul("self * other");
  CHECK(mul.of("self").tensors == Names{"other"});
  CHECK(mul.text("self") == "grad * conj(other)");
  const Differentiated scaled("self * 3 - other");
  CHECK(scaled.of("self").form == GradientForm::kScaled);
  CHECK(scaled.of("self").factor == 3);
  CHECK(scaled.of("other").factor == -1);
  CHECK(Differentiated("where(self > 0, self, 0)").text("self") == "where(self > 0, grad, 0)");
  CHECK(Differentiated("floor(self)").of("self").form == GradientForm::kZero);
  CHECK(Differentiated("self > other").of("self").form == GradientForm::kZero);
  CHECK(Differentiated("maximum(self, alpha)").text("self") ==
        "where(self == alpha, grad * 0.5, where(self < alpha, 0, grad))");
}

TEST_CASE("derivatives at kinks and edges", "[expr][differentiate]") {
  const auto gradient = [](const std::string& text, const std::string& input, RealBindings v,
                           double grad = 1) {
    return Differentiated(text).gradient(input, v, grad);
  };
  CHECK(gradient("abs(self)", "self", at(0)) == 0);
  CHECK(gradient("relu(self)", "self", at(0)) == 0);
  CHECK(gradient("relu(self)", "self", at(NAN)) == 1);
  CHECK(gradient("sqrt(self)", "self", at(0)) == kInf);
  CHECK(gradient("maximum(self, other)", "self", at(2, 2), 6) == 3);
  CHECK(gradient("minimum(self, other)", "other", at(2, 2), 6) == 3);
  CHECK(gradient("fmax(self, other)", "self", at(1, NAN)) == 1);
  CHECK(gradient("fmax(self, other)", "other", at(1, NAN)) == 0);
  CHECK(gradient("clamp(self, 0, 1)", "self", at(0)) == 0);
  CHECK(gradient("clamp(self, 0, 1)", "self", at(1)) == 0);
  CHECK(gradient("clamp(self, other, third)", "third", at(1, 3, 2)) == 1);
  CHECK(gradient("hardtanh(self, -1, 1)", "self", at(1)) == 0);
  CHECK(gradient("pow(self, other)", "self", at(0, 0)) == 0);
  CHECK(gradient("pow(self, other)", "self", at(0, 1)) == 1);
  CHECK(gradient("pow(self, other)", "other", at(0, 0)) == 0);
  CHECK(gradient("pow(self, other)", "other", at(0, 2)) == 0);
  CHECK(gradient("pow(self, 0)", "self", at(0)) == 0);
  CHECK(gradient("atan2(self, other)", "self", at(0, 0)) == 0);
  CHECK(gradient("atan2(self, other)", "self", at(1e-200, 1e-200)) == Approx(5e199));
  CHECK(gradient("hypot(self, other)", "self", at(0, 0)) == 0);
  CHECK(gradient("xlogy(self, other)", "self", at(0, 0)) == 0);
  CHECK(gradient("xlogy(self, other)", "self", at(0, 2)) == Approx(std::log(2)));
  CHECK(gradient("xlogy(self, other)", "other", at(0, 0)) == 0);
  CHECK(gradient("sigmoid(self)", "self", at(1000)) == 0);
  CHECK(gradient("sigmoid(self)", "self", at(-1000)) == 0);
  CHECK(gradient("tanh(self)", "self", at(kInf)) == 0);
  CHECK(gradient("log1p(self)", "self", at(-1)) == kInf);
  CHECK(gradient("logsigmoid(self)", "self", at(0)) == 0.5);
  CHECK(gradient("logaddexp(self, other)", "self", at(1, 1)) == 0.5);
  CHECK(gradient("softplus(self, 1, 20)", "self", at(1000)) == 1);
  CHECK(gradient("mish(self)", "self", at(1000)) == 1);
}

TEST_CASE("a branch not taken contributes exactly zero", "[expr][differentiate]") {
  const Differentiated d("where(self > 0, sqrt(self), 0) * other");
  CHECK(d.gradient("self", at(-1)) == 0);
  CHECK(d.gradient("self", at(0)) == 0);
  const Differentiated guarded("where(self > 0, log(self), 0)");
  CHECK(guarded.gradient("self", at(0), kInf) == 0);
  const Differentiated inner("sqrt(where(self > 0, self, 0))");
  CHECK(inner.gradient("self", at(-1)) == 0);
}

TEST_CASE("several outputs and forward mode", "[expr][differentiate]") {
  ParseResult parsed = parse_expressions({"self * other", "exp(self)", "self > 0"},
                                         {{"self", true, true}, {"other", true, false}});
  REQUIRE(parsed.ok());
  const Derivative derivative = differentiate(parsed.expression);
  REQUIRE(derivative.gradients.size() == 1);
  CHECK(print_readable(parsed.expression.graph, derivative.gradients[0].node) ==
        "grad_0 * other + grad_1 * result1");
  CHECK(derivative.gradients[0].grads == std::vector<std::uint32_t>{0, 1});

  Differentiated d("self * sin(other)");
  std::vector<ExprError> errors;
  const NodeId direction = tangent(d.expression, 0, errors);
  CHECK(errors.empty());
  RealBindings v = at(2, 0.5);
  v["self_t"] = 3;
  v["other_t"] = 5;
  CHECK(evaluate(d.expression.graph, direction, v) ==
        Approx(3 * std::sin(0.5) + 5 * 2 * std::cos(0.5)));
}

TEST_CASE("shared subexpressions do not multiply", "[expr][differentiate]") {
  std::string text = "t0 = self;";
  for (int i = 1; i <= 60; ++i) {
    const std::string t = "t" + std::to_string(i - 1);
    const std::string step = i % 2 == 1
                                 ? "where(other > " + std::to_string(i) + ", 0, " + t + ") + " + t
                                 : t + " / " + t;
    text += "t" + std::to_string(i) + " = " + step + ";";
  }
  const Differentiated d(text + "t60 * t59");
  CHECK(d.expression.graph.size() < 5000);
  const std::string printed = d.text("self");
  CHECK(printed.size() < 100000);
  std::vector<Parameter> parameters = kParameters;
  parameters.push_back({"grad", true, true});
  parameters.push_back({"result", true, true});
  CHECK(parse_expression(printed, parameters).ok());
}

TEST_CASE("an intrinsic without a rule is an error", "[expr][differentiate]") {
  ParseResult parsed = parse_expression("nextafter(self, other)", kParameters);
  REQUIRE(parsed.ok());
  const Derivative derivative = differentiate(parsed.expression);
  REQUIRE(derivative.errors.size() == 1);
  CHECK(derivative.errors[0].message == "'nextafter' has no derivative rule");
}

TEST_CASE("complex gradients are conjugated", "[expr][differentiate]") {
  // For a real loss L = Re(conj(g) y): dL/dx along direction d is Re(conj(gradient) d).
  using Complex = std::complex<double>;
  for (const char* text : {"self * other",       "self / other",
                           "square(self)",       "exp(self)",
                           "log(self)",          "sqrt(self)",
                           "rsqrt(self)",        "sin(self)",
                           "cos(self)",          "tan(self)",
                           "asin(self)",         "acos(self)",
                           "atan(self)",         "sinh(self)",
                           "cosh(self)",         "tanh(self)",
                           "asinh(self)",        "acosh(self)",
                           "atanh(self)",        "sigmoid(self)",
                           "reciprocal(self)",   "pow(self, other)",
                           "pow(self, 3)",       "conj(self) * other",
                           "real(self * other)", "conj(exp(conj(self)))",
                           "expm1(self)",        "log1p(self)",
                           "exp2(self)",         "log2(self)",
                           "log10(self)",        "conj(self) * self"}) {
    Differentiated d(text);
    const Complex self(0.6, 0.35), other(-0.4, 0.8), grad(0.7, -1.1);
    ComplexBindings v = {{"self", self}, {"other", other}, {"third", 1}, {"alpha", 1}};
    const auto loss = [&](ComplexBindings w) {
      return std::real(std::conj(grad) * evaluate(d.expression.graph, d.expression.outputs[0], w));
    };
    for (const char* input : {"self", "other"}) {
      ComplexBindings w = v;
      w["grad"] = grad;
      w["result"] = evaluate(d.expression.graph, d.expression.outputs[0], v);
      const Complex gradient = evaluate(d.expression.graph, d.of(input).node, w);
      for (const Complex direction : {Complex(1, 0), Complex(0, 1)}) {
        ComplexBindings up = v, down = v;
        up[input] += 1e-6 * direction;
        down[input] -= 1e-6 * direction;
        CAPTURE(text, input, direction, d.text(input));
        CHECK(std::real(std::conj(gradient) * direction) ==
              Approx((loss(up) - loss(down)) / 2e-6).epsilon(1e-5).margin(1e-7));
      }
    }
  }
}

TEST_CASE("loops carry the slopes of what they carry", "[expr][differentiate]") {
  check_by_differences("y = self; repeat 5 { y = sin(y) + other * y; } y", {-0.7, 0.2, 1.4});
  // Only the product has a slope; the count has none, nor has the bound that is reached.
  check_by_differences(
      "k = 0; p = other; repeat 100 while k < 7 { k = k + 1; p = p * self / k; } p * third",
      {-1.2, 0.4, 2});
}
