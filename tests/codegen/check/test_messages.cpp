// What is said about mistakes that come from other languages, or from what YAML makes of a text:
// one message, which says what to write.

#include <string>

#include <catch2/catch.hpp>

#include "codegen/check/check.h"
#include "codegen/model/loader.h"

namespace tenon::codegen {
namespace {

std::string diagnose(const std::string& native, const std::string& derivatives = {},
                     Dialect dialect = Dialect::kTenon) {
  DiagnosticSink sink;
  Sources sources;
  sources.native.push_back(sink.sources().add("n", native));
  sources.derivatives.push_back(sink.sources().add("d", derivatives));
  const Model model = load(sources, dialect, sink);
  run_checks(model, sink);
  std::string said;
  for (const Diagnostic& d : sink.sorted()) {
    said += d.location.to_string() + ": " + d.message;
    if (!d.suggestion.empty()) said += "; did you mean '" + d.suggestion + "'?";
    said += "\n";
  }
  return said;
}

// About `pointwise: TEXT`, which begins at column 14 of the second line.
std::string of_expression(const std::string& text) {
  return diagnose("- func: f(Tensor self, Tensor x) -> Tensor\n  pointwise: " + text + "\n");
}

TEST_CASE("what YAML makes of a text is said as such", "[check][messages]") {
  CHECK(of_expression("!self + x") ==
        "n:2:14: YAML takes `!self` for a tag: a text that begins with `!` needs quotes\n");
  CHECK(of_expression("*self").find("a text that begins with `*` needs quotes\n") !=
        std::string::npos);
  CHECK(of_expression("self > 0 ? x : self")
            .find("a text with a colon and a space in it needs quotes\n") != std::string::npos);
  CHECK(diagnose("- func: f(Tensor x: Tensor) -> Tensor\n")
            .find("a text with a colon and a space in it needs quotes\n") != std::string::npos);
  CHECK(of_expression("{floating: where(x > 0, x, 0) + self}") ==
        "n:2:25: inside braces YAML ends a text at its comma: put it in quotes; did you mean "
        "'\"where(x > 0, x, 0) + self\"'?\n");
  CHECK(of_expression("{floating: self + x, integral: \"where(x > 0, x, self)\"}") == "");
  // A comment hides the rest of the text.
  CHECK(of_expression("self #+ x") == "n:1:31: no expression reads the tensor `x`\n");
}

TEST_CASE("words of other languages lead to ours", "[check][messages]") {
  const auto at = [](const char* place, const std::string& message) {
    return "n:2:" + std::string(place) + ": " + message + "\n";
  };
  CHECK(of_expression("max(self, x)") ==
        at("14", "unknown function 'max'; did you mean 'maximum'?"));
  CHECK(of_expression("min(self, x)") ==
        at("14", "unknown function 'min'; did you mean 'minimum'?"));
  CHECK(of_expression("ln(self) + x") == at("14", "unknown function 'ln'; did you mean 'log'?"));
  CHECK(of_expression("swish(self) + x") ==
        at("14", "unknown function 'swish'; did you mean 'silu'?"));
  CHECK(of_expression("clip(self, 0, 1) + x") ==
        at("14", "unknown function 'clip'; did you mean 'clamp'?"));
  CHECK(of_expression("self - mean(x)") ==
        at("21", "unknown function 'mean': it reduces, and an expression is of one element each"));
  CHECK(of_expression("self > 0 and x > 0") ==
        at("23", "'and' is written '&&'; did you mean '&&'?"));
  CHECK(of_expression("not self or x") == at("14", "'not' is written '!'; did you mean '!'?") +
                                              at("23", "'or' is written '||'; did you mean '||'?"));
  CHECK(of_expression("self if x > 0 else x") ==
        at("19", "a choice is written 'condition ? a : b'"));
  CHECK(of_expression("x.exp + self") ==
        at("15", "expressions have functions, no members; did you mean 'exp(x)'?"));
  CHECK(of_expression("x.expp() + self") ==
        at("16", "unknown function 'expp'; did you mean 'exp'?"));
  CHECK(of_expression("torch.exp(x) + self") ==
        at("14", "functions of expressions have no module: 'exp' alone; did you mean 'exp'?"));
  CHECK(of_expression("clamp(self, None, x)") ==
        at("26", "there is no None: an operator takes {} for what is absent, and an element is "
                 "always a number"));
  CHECK(of_expression("self * 1.0f + x") ==
        at("21", "'1.0f' is not a number; did you mean '1.0'?"));
  CHECK(of_expression("self^2 + x") ==
        at("18", "`^` is exclusive or, for integers alone (then under `integral`); a power is "
                 "`pow(self, 2)`"));
  CHECK(of_expression("{float: self + x, int: self - x}") ==
        at("15",
           "`float` selects no case of `pointwise`; expected result, bool, integral, floating, "
           "complex, cpu or cuda; did you mean 'floating'?") +
            at("32", "`int` selects no case of `pointwise`; expected result, bool, integral, "
                     "floating, complex, cpu or cuda; did you mean 'integral'?"));
}

TEST_CASE("a name says that it is random by a word of its own", "[check][messages]") {
  const auto of_name = [](const std::string& name) {
    DiagnosticSink sink;
    Sources sources;
    sources.native.push_back(sink.sources().add(
        "n", "- func: " + name + "(Tensor self) -> Tensor\n  pointwise: self * 2\n"));
    sources.tags = sink.sources().add("t", "- tag: nondeterministic_seeded\n  desc: random\n");
    const Model model = load(sources, Dialect::kTenon, sink);
    return model.operators()[0].has_tag("nondeterministic_seeded");
  };
  for (const char* name : {"rand", "randn_like", "scaled_rand", "feature_dropout"}) {
    CAPTURE(name);
    CHECK(of_name(name));
  }
  for (const char* name : {"operand_scale", "grand_total", "brands"}) {
    CAPTURE(name);
    CHECK_FALSE(of_name(name));
  }
}

TEST_CASE("a backend that is not here is a warning", "[check][messages]") {
  CHECK(diagnose("- func: f(Tensor self) -> Tensor\n  dispatch: {CPU: f_cpu, XPU: f_xpu}\n"
                 "  non_differentiable: True\n") ==
        "n:2:26: Tenon has no backend `XPU`: nothing calls `f_xpu`\n");
}

// What follows from a file that cannot be read is not said of the other.
TEST_CASE("a file that is no YAML is the only mistake", "[check][messages]") {
  const std::string native = "- func: f(Tensor self) -> Tensor\n  dispatch: {CPU: f_cpu}\n",
                    derivatives = "- name: f\n  self: grad\n",
                    own = "- func: g(Tensor self, bool? b=None) -> Tensor\n"
                          "  pointwise: \"self * ((b ?? true) ? 2 : 1)\"\n";
  REQUIRE(diagnose(native, derivatives) == "");
  const std::string one =
      ": this is not YAML: illegal map value; a text with a colon and a space in "
      "it needs quotes\n";
  const std::string broken = diagnose(native + "  tags: a ? b : c\n", derivatives);
  CHECK(broken.substr(broken.find(": this")) == one);
  REQUIRE(diagnose(own).find("add an entry to derivatives.yaml") != std::string::npos);
  const std::string formulas = diagnose(own, "- name: g\n  self: grad ? b : c\n");
  CHECK(formulas.substr(formulas.find(": this")) == one);
}

// Mistakes of PyTorch's files, each said once.
TEST_CASE("one mistake of upstream's files gives one message", "[check][messages]") {
  const std::string add =
      "- func: add(Tensor self, Tensor other) -> Tensor\n  dispatch:\n    CPU: add\n"
      "  autogen: add.out\n";
  const std::string derivative =
      "- name: add(Tensor self, Tensor other) -> Tensor\n  self: grad\n  other: grad\n"
      "  result: auto_linear\n";
  const auto with = [](std::string text, const std::string& from, const std::string& to) {
    return text.replace(text.find(from), from.size(), to);
  };
  const auto upstream = [](const std::string& native, const std::string& derivatives) {
    return diagnose(native, derivatives, Dialect::kUpstream);
  };
  CHECK(upstream(add, derivative) == "");
  CHECK(upstream(add, with(derivative, "  self: grad", "  slef: grad")) ==
        "d:2:3: `add` has no argument named `slef`; did you mean 'self'?\n");
  CHECK(upstream(add, with(derivative, "  self: grad", "  output_differentiabilty: [True]")) ==
        "d:2:3: unknown key `output_differentiabilty`; did you mean 'output_differentiability'?\n");
  CHECK(upstream(add + add, derivative) == "n:5:3: operator `add` is declared twice\n");
  const std::string inplace =
      "- func: add_(Tensor(a!) self, Tensor other) -> Tensor(a!)\n  dispatch:\n    CPU: add_\n";
  CHECK(upstream(with(add, "Tensor self", "Tensr self") + inplace, "") ==
        "n:1:13: unknown type `Tensr`; did you mean 'Tensor'?\n");
}

}  // namespace
}  // namespace tenon::codegen
