#include "codegen/expr/graph/evaluate.h"
#include "codegen/expr/graph/infer.h"
#include "codegen/expr/graph/parse.h"
#include "codegen/expr/graph/print_readable.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <random>

#include "tests/codegen/library_functions.h"

using tenon::codegen::library_functions;
using namespace tenon::codegen::expr;

namespace {

const std::vector<Parameter> kParameters = {
    {"self", true, true}, {"other", true, true}, {"alpha", false, false}};

std::string readable(const std::string& text) {
  const ParseResult result = parse_expression(text, kParameters, library_functions());
  if (!result.ok()) return "error: " + result.errors[0].message;
  return print_readable(result.expression.graph, result.expression.outputs[0]);
}

ExprError error_of(const std::string& text, const Functions& functions = library_functions()) {
  const ParseResult result = parse_expression(text, kParameters, functions);
  INFO(text);
  REQUIRE(result.errors.size() == 1);
  return result.errors[0];
}

double value_of(const std::string& text, double self, double other = 0, double alpha = 0) {
  const ParseResult result = parse_expression(text, kParameters, library_functions());
  INFO(text);
  REQUIRE(result.ok());
  return evaluate(result.expression.graph, result.expression.outputs[0],
                  RealBindings{{"self", self}, {"other", other}, {"alpha", alpha}});
}

TypeInfo types_of(const std::string& text) {
  const ParseResult result = parse_expression(text, kParameters, library_functions());
  INFO(text);
  REQUIRE(result.ok());
  return infer_types(result.expression.graph, result.expression.outputs[0]);
}

}  // namespace

TEST_CASE("x.f(y) is f(x, y)", "[expr][parse]") {
  CHECK(readable("self.exp()") == "exp(self)");
  CHECK(readable("-self.exp().log1p() * other") == readable("-log1p(exp(self)) * other"));
  CHECK(readable("(self + 1).pow(alpha)") == readable("pow(self + 1, alpha)"));
  CHECK(readable("self.clamp(0, other.abs())") == readable("clamp(self, 0, abs(other))"));
  CHECK(readable("t = self.exp(); t.sigmoid()") == readable("sigmoid(exp(self))"));
  CHECK(error_of("self.exp(other)").message == "'exp' takes 1 argument, got 2");
  CHECK(error_of("self.").message == "expected a member's name after '.', got the end of the text");
}

TEST_CASE("expressions parse with C's precedence and print back", "[expr][parse]") {
  for (const char* text : {
           "self + alpha * other",
           "(self + alpha) * other",
           "self - (other - alpha)",
           "self - other - alpha",
           "self / (other * alpha)",
           "-self * other < alpha && other >= 2 || self == other",
           "where(self > 0, self, 0)",
           "!(self > other && other > alpha)",
           "self << 2 | other & ~self",
           "pow(self, other) % 3",
           "(self > 0) == (other > 0)",
       })
    CHECK(readable(readable(text)) == readable(text));
  CHECK(readable("self+alpha*other") == "self + alpha * other");
  CHECK(readable("self - (other - alpha)") == "self - (other - alpha)");
  CHECK(readable("self > 0 ? self : 0") == "where(self > 0, self, 0)");
  CHECK(readable("self >= other") == "self >= other");
  CHECK(readable("self >> 2") == "self >> 2");
  CHECK(readable("t = self * other; t + t") == "self * other + self * other");
}

TEST_CASE("literals and named constants", "[expr][parse]") {
  CHECK(value_of("1e-3 + .5", 0) == 0.501);
  CHECK(value_of("inf", 0) == std::numeric_limits<double>::infinity());
  CHECK(std::isnan(value_of("nan", 0)));
  CHECK(value_of("pi", 0) == Approx(3.141592653589793));
  CHECK(value_of("e", 0) == Approx(2.718281828459045));
  CHECK(value_of("true ? 3 : 4", 0) == 3);
  // A parameter's name wins over a constant's.
  const ParseResult result = parse_expression("e * 2", {{"e", true, true}});
  REQUIRE(result.ok());
  CHECK(evaluate(result.expression.graph, result.expression.outputs[0], RealBindings{{"e", 3}}) ==
        6);
}

TEST_CASE("operators have the documented meaning", "[expr][parse]") {
  CHECK(value_of("7 / 2", 0) == 3.5);
  CHECK(value_of("self % other", -7, 3) == 2);
  CHECK(value_of("fmod(self, other)", -7, 3) == -1);
  CHECK(value_of("floor_divide(self, other)", -7, 2) == -4);
  CHECK(value_of("trunc_divide(self, other)", -7, 2) == -3);
  CHECK(value_of("round(self)", 2.5) == 2);
  CHECK(value_of("round(self)", -3.5) == -4);
  CHECK(value_of("self & other", 12, 10) == 8);
  CHECK(value_of("self ^ other", 12, 10) == 6);
  CHECK(value_of("self << other", 3, 4) == 48);
  CHECK(std::isnan(value_of("maximum(self, nan)", 1)));
  CHECK(value_of("fmax(self, nan)", 1) == 1);
  CHECK(value_of("pow(self, other)", 0, 0) == 1);
  CHECK(value_of("erfinv(erf(self))", 0.7) == Approx(0.7));
  CHECK(value_of("digamma(self)", 1) == Approx(-0.5772156649015329));
  CHECK(value_of("digamma(self)", -1.5) == Approx(0.7031566406452432));
}

TEST_CASE("operators expand to the documented functions", "[expr][functions]") {
  CHECK(value_of("silu(self)", 1) == Approx(0.7310585786300049));
  CHECK(value_of("gelu(self)", 1) == Approx(0.8413447460685429));
  CHECK(value_of("gelu_tanh(self)", 1) == Approx(0.8411919906082768));
  CHECK(value_of("softplus(self, 1, 20)", 100) == 100);
  CHECK(value_of("logsigmoid(self)", -1000) == -1000);
  CHECK(value_of("mish(self)", 1) == Approx(0.8650983882673103));
  CHECK(value_of("hardswish(self)", 1) == Approx(2. / 3));
  CHECK(value_of("clamp(self, 5, 2)", 3) == 2);
  CHECK(std::isnan(value_of("clamp(self, 0, 1)", NAN)));
  CHECK(std::isnan(value_of("relu6(self)", NAN)));
  CHECK(value_of("xlogy(self, other)", 0, 0) == 0);
  CHECK(std::isnan(value_of("xlogy(self, other)", 0, NAN)));
  CHECK(value_of("logaddexp(self, other)", -INFINITY, -INFINITY) == -INFINITY);
  CHECK(value_of("trigamma(self)", 1) == Approx(1.6449340668482264));
  CHECK(value_of("trigamma(self)", -0.5) == Approx(8.934802200544679));
  CHECK(value_of("sinc(self)", 0) == 1);
  CHECK(value_of("signbit(self)", -0.0) == 1);
  const Functions own = {{"cube", {"x"}, "x * x * x"}};
  CHECK(parse_expression("cube(self)", kParameters, own).ok());
}

TEST_CASE("of an operator's overloads and cases the ones that fit are inlined",
          "[expr][functions]") {
  const Functions functions = {
      {.name = "pull",
       .parameters = {"self", "by"},
       .body = "self + by",
       .defaults = {"2"},
       .numbers = {false, true},
       .op = "pull.Scalar"},
      {.name = "pull",
       .parameters = {"self", "by"},
       .body = "self - by",
       .numbers = {false, false},
       .op = "pull.Tensor"},
      {.name = "half",
       .parameters = {"self"},
       .body = "",
       .cases = {{"integral", "self >> 1"}, {"floating", "self * 0.5"}},
       .op = "half"},
      {.name = "round_up", .parameters = {"self"}, .body = "round_up(self)", .op = "round_up"},
      {.name = "exp", .parameters = {"self"}, .body = "exp(self)", .op = "exp"},
      {.name = "there", .parameters = {"x"}, .body = "back(x)"},
      {.name = "back", .parameters = {"x"}, .body = "there(x + 1)"},
  };
  const auto text = [&](const std::string& call, const std::string& category = "") {
    const ParseResult result = parse_expressions({call}, kParameters, functions, category, "mine");
    if (!result.ok()) return "error: " + result.errors[0].message;
    return print_readable(result.expression.graph, result.expression.outputs[0]);
  };
  CHECK(text("pull(self, alpha)") == "self + alpha");
  CHECK(text("pull(self, other)") == "self - other");
  CHECK(text("pull(self)") == "self + 2");
  CHECK(text("pull()") == "error: 'pull' takes 1 to 2 arguments, got 0");
  CHECK(text("half(self)", "floating") == "self * 0.5");
  CHECK(text("half(self)", "integral") == "self >> 1");
  CHECK(text("half(self)") == "self * 0.5");
  CHECK(text("half(self)", "complex") == "error: 'half' has no expression for complex dtypes");
  // An operator is made of the intrinsic of its name.
  CHECK(text("exp(self)") == "exp(self)");
  CHECK(text("round_up(self)") ==
        "error: in 'round_up': 'round_up' is computed by itself: round_up -> round_up");
  CHECK(text("there(self)") ==
        "error: in 'there': in 'back': 'there' is computed by itself: there -> back -> there");
}

TEST_CASE("equal subexpressions are one node and neutral elements vanish", "[expr][graph]") {
  CHECK(readable("self + 0") == "self");
  CHECK(readable("1 * self") == "self");
  CHECK(readable("--self") == "self");
  CHECK(readable("self - -other") == "self + other");
  CHECK(readable("2 * 3 + 1") == "7");
  CHECK(readable("self * 0") == "self * 0");      // NaN and inf must survive
  CHECK(readable("self * 1.0") == "self * 1.0");  // promotes integers
  CHECK(readable("exp(self) * 1.0") == "exp(self)");
  CHECK(readable("where(!(self > 0), other, self)") == "where(self > 0, self, other)");
  CHECK(readable("pow(self, 2)") == "square(self)");
  CHECK(readable("1 / 0") == "inf");
  const ParseResult shared = parse_expressions({"self * other", "other * self"}, kParameters);
  REQUIRE(shared.ok());
  CHECK(shared.expression.outputs[0] == shared.expression.outputs[1]);
}

TEST_CASE("mistakes are reported at their place with a suggestion", "[expr][errors]") {
  ExprError error = error_of("slef + other");
  CHECK(error.offset == 0);
  CHECK(error.length == 4);
  CHECK(error.suggestion == "self");
  error = error_of("self + sigmod(other)");
  CHECK(error.offset == 7);
  CHECK(error.message == "unknown function 'sigmod'");
  CHECK(error.suggestion == "sigmoid");
  error = error_of("exp(self");
  CHECK(error.offset == 3);
  CHECK(error.message == "this '(' is never closed: expected ')'");
  error = error_of("self + other)");
  CHECK(error.offset == 12);
  error = error_of("self ** 2");
  CHECK(error.suggestion == "pow(a, b)");
  error = error_of("0 < self < 1");
  CHECK(error.message == "comparisons do not chain");
  CHECK(error.offset == 9);
  CHECK(error_of("pow(self)").message == "'pow' takes 2 arguments, got 1");
  CHECK(error_of("self(other)").message == "'self' is a value, not a function");
  CHECK(error_of("exp + 1").message == "'exp' is a function and needs arguments");
  CHECK(error_of("self + ").message == "expected a value, got the end of the text");
  CHECK(error_of("self + 1x").message == "'1x' is not a number");
  CHECK(error_of("exp(self) & 1").message == "'&' needs integers, got a floating value");
  CHECK(error_of("self @ other").message ==
        "'@' is not an operator here: tensor code calls matmul(a, b)");
  CHECK(error_of("self ? 1").message ==
        "expected ':' of 'condition ? a : b', got the end of the text");
  CHECK(error_of("loop(self)", {{"loop", {"x"}, "loop(x)"}}).offset == 0);
  CHECK(error_of(std::string(5000, '(')).message == "the expression is nested too deeply");
  const ParseResult several = parse_expressions({"slef + othr", "self +"}, kParameters);
  REQUIRE(several.errors.size() == 3);
  CHECK(several.errors[1].suggestion == "other");
  CHECK(several.errors[2].text_index == 1);
}

TEST_CASE("types follow from the expression", "[expr][infer]") {
  CHECK(types_of("self + alpha * other").promotion == Promotion::kDefault);
  CHECK(types_of("self + alpha * other").integers_allowed);
  CHECK(types_of("self / other").promotion == Promotion::kFloat);
  CHECK(types_of("sigmoid(self) > 0").promotion == Promotion::kBool);
  CHECK(types_of("sigmoid(self) > 0").computes_floating);
  CHECK(types_of("self * 0.5").promotion == Promotion::kFloat);
  CHECK_FALSE(types_of("self & other").floating_allowed);
  CHECK(types_of("self * other").complex_allowed);
  CHECK_FALSE(types_of("maximum(self, other)").complex_allowed);
  CHECK(types_of("exp(self)").cost == Cost::kTranscendental);
  CHECK(types_of("self == other").promotion == Promotion::kBool);
  using Names = std::vector<std::string>;
  const TypeInfo masked = types_of("where(self, other, alpha)");
  CHECK(masked.compute_tensors == Names{"other"});
  CHECK(masked.result_scalars == Names{"alpha"});
  const TypeInfo compared = types_of("where(self > 0, other, 0)");
  CHECK(compared.result_tensors == Names{"other"});
  CHECK(compared.compute_tensors == Names{"self", "other"});
  CHECK(types_of("self > other").result_tensors == Names{"self", "other"});
}

TEST_CASE("the parser survives arbitrary text", "[expr][fuzz]") {
  const std::vector<std::string> pieces = {
      "self", "(", ")", "+", "-", "<", ">",  "=",        "?", ":", "1.5", "where", ",",
      "exp",  ";", "t", "!", "&", "[", "\"", "\xc3\xa9", "e", "%", "0",   "/*",    " "};
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (unsigned j = random() % 12; j > 0; --j) text += pieces[random() % pieces.size()];
    const ParseResult result = parse_expression(text, kParameters, library_functions());
    REQUIRE((result.ok() ? result.expression.outputs.size() == 1 : !result.errors.empty()));
    for (const ExprError& error : result.errors) REQUIRE(error.offset <= text.size());
  }
}
