// What is said about mistakes that come from other languages, or from what YAML makes of a text:
// one message, which says what to write.

#include <string>

#include <catch2/catch.hpp>

#include "codegen/check/check.h"
#include "codegen/load/loader.h"

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
  CHECK(of_expression("&self + x") ==
        "n:2:14: YAML takes `&self` for an anchor: a text that begins with `&` needs quotes\n");
  CHECK(of_expression("{self + x}") ==
        "n:2:14: the expression of `pointwise` must be a text, and one that begins with `{` needs "
        "quotes\n");
  CHECK(of_expression(">\n  self + x") ==
        "n:2:14: the text of `>` stands below it, indented deeper than its key\n");
  CHECK(of_expression(std::string(3000, '[')).find("lists and maps are nested too deeply\n") !=
        std::string::npos);
  // A comment hides the rest of the text.
  CHECK(of_expression("self #+ x") == "n:1:31: no expression reads the tensor `x`\n");
}

TEST_CASE("what a quote without its other one takes in is no text", "[check][messages]") {
  const std::string said = "n:2:14: this quote is never closed\n";
  const std::string more = "\n- func: g(Tensor self) -> Tensor\n  pointwise: ";
  for (const char* quote : {"\"", "'"}) {
    CAPTURE(quote);
    const std::string open = quote + std::string("self + x");
    CHECK(of_expression(open) == said);
    CHECK(of_expression(open + more + "-self") == said);
    CHECK(of_expression(open + more + quote + "-self" + quote) == said);
    CHECK(of_expression(open + quote + more + quote + "-self") ==
          "n:4:14: this quote is never closed\n");
    CHECK(of_expression(open + "\n    + 1" + quote + more + "-self") == "");
  }
  CHECK(diagnose("- func: \"f(Tensor self) -> Tensor\n  pointwise: -self\n") ==
        "n:1:9: this quote is never closed\n");
}

TEST_CASE("what stands beside the list of entries belongs to one", "[check][messages]") {
  const std::string entry = "- func: f(Tensor self) -> Tensor\n", key = "pointwise: -self\n";
  const std::string said =
      "n:2:1: `pointwise` belongs to no entry: indent it below the key above it\n";
  CHECK(diagnose(entry + key) == said);
  CHECK(diagnose(entry + key + "- func: g(Tensor self) -> Tensor\n  pointwise: -self\n") == said);
  const std::string dash = ": a `-` that begins an entry needs a space behind it\n";
  const std::string close = "-func: f(Tensor self) -> Tensor\n";
  CHECK(diagnose(close) == "n:1:1" + dash);
  CHECK(diagnose(close + "  pointwise: -self\n") == "n:1:1" + dash);
  CHECK(diagnose(entry + "  " + key + close + "  " + key) == "n:3:1" + dash);
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
        at("23", "'and' is not an operator here; did you mean '&&'?"));
  CHECK(of_expression("not self or x") ==
        at("14", "'not' is not an operator here; did you mean '!'?") +
            at("23", "'or' is not an operator here; did you mean '||'?"));
  CHECK(of_expression("self if x > 0 else x") ==
        at("19", "a choice is written 'condition ? a : b'"));
  CHECK(of_expression("x.exp + self") ==
        at("15", "expressions have functions, no members; did you mean 'exp(x)'?"));
  CHECK(of_expression("x.expp() + self") ==
        at("16", "unknown function 'expp'; did you mean 'exp'?"));
  CHECK(of_expression("torch.exp(x) + self") ==
        at("14", "names in expressions have no module; did you mean 'exp'?"));
  CHECK(of_expression("math.PI * x + self") ==
        at("14", "names in expressions have no module; did you mean 'pi'?"));
  CHECK(of_expression("x.T + self") == at("15", "expressions have functions, no members"));
  CHECK(of_expression("INFINITY * x + self") ==
        at("14", "unknown name 'INFINITY'; did you mean 'inf'?"));
  CHECK(of_expression("NaN * x + self") == at("14", "unknown name 'NaN'; did you mean 'nan'?"));
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

TEST_CASE("words of other languages lead to ours in tensor code", "[check][messages]") {
  const auto of_composition = [](const std::string& text) {
    return diagnose("- func: f(Tensor self) -> Tensor\n  composite: " + text +
                    "\n"
                    "- func: selu(Tensor self) -> Tensor\n  pointwise: -self\n");
  };
  CHECK(of_composition("self.to(torch.float32)")
            .find("n:2:22: names in expressions have no module; did you mean 'kFloat'?\n") !=
        std::string::npos);
  CHECK(of_composition("self()") == "n:2:14: 'self' is a value, not a function\n");
  const auto of_formula = [](const std::string& text, const std::string& name = "self") {
    return diagnose("- func: f(Tensor self) -> Tensor\n  dispatch: {CPU: f_cpu}\n",
                    "- name: f\n  self: grad\n  " + name + ": " + text + "\n");
  };
  const auto of_gradient = [](const std::string& text) {
    return diagnose("- func: f(Tensor self) -> Tensor\n  dispatch: {CPU: f_cpu}\n",
                    "- name: f\n  self: " + text + "\n");
  };
  CHECK(of_gradient("grad_output * self") ==
        "d:2:9: unknown name 'grad_output'; did you mean 'grad'?\n");
  CHECK(of_gradient("non_diferentiable") ==
        "d:2:9: unknown name 'non_diferentiable'; did you mean 'non_differentiable'?\n");
  CHECK(of_gradient("not_implemented") ==
        "d:2:9: unknown name 'not_implemented'; did you mean 'not_implemented(\"why\")'?\n");
  CHECK(of_gradient("not_implemented()") == "d:2:9: `not_implemented` takes 1 argument, got 0\n");
  CHECK(of_gradient("not_implemented(f::f)") ==
        "d:2:9: `not_implemented` takes a text in quotes\n");
  CHECK(of_formula("auto_liner", "result") ==
        "d:3:11: unknown name 'auto_liner'; did you mean 'auto_linear'?\n");
}

TEST_CASE("words that rows lack lead to no near ones", "[check][messages]") {
  const auto of_row = [](const std::string& text) {
    return diagnose("- func: f(Tensor self) -> Tensor\n  over: -1\n  rowwise: " + text + "\n");
  };
  CHECK(of_row("sum(self) / len(self)") ==
        "n:3:24: unknown function 'len'; did you mean 'length()'?\n");
  CHECK(of_row("median(self)") == "n:3:12: unknown function 'median'\n");
}

TEST_CASE("names of a library are near by what follows the namespace", "[check][messages]") {
  const auto of_alias = [](const std::string& name) {
    return diagnose("- func: mine::ab(Tensor self) -> Tensor\n  pointwise: -self\n"
                    "- alias: mine::al(Tensor self) -> Tensor\n  of: " +
                    name + "\n");
  };
  const std::string said = "n:4:7: `of` names no operator of this library: `";
  CHECK(of_alias("mine::zz") == said + "mine::zz`\n");
  CHECK(of_alias("ab") == said + "ab`; did you mean 'mine::ab'?\n");
  CHECK(of_alias("mine::aab") == said + "mine::aab`; did you mean 'mine::ab'?\n");
  CHECK(diagnose("- func: mine:ab(Tensor self) -> Tensor\n  pointwise: -self\n") ==
        "n:1:13: a namespace is followed by `::`, got `:`; did you mean '::'?\n");
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

TEST_CASE("an operator of the library that is added to has its derivative", "[check][messages]") {
  DiagnosticSink sink;
  Sources sources, own;
  sources.native.push_back(
      sink.sources().add("b", "- func: exp(Tensor self) -> Tensor\n  pointwise: exp(self)\n"));
  const Model base = load(sources, Dialect::kTenon, sink);
  own.derivatives.push_back(sink.sources().add("d", "- name: exp\n  self: grad * result\n"));
  const Model model = load(own, Dialect::kTenon, sink, &base);
  REQUIRE(sink.num_errors() == 1);
  CHECK(
      sink.sorted()[0].message ==
      "`exp` is an operator of the library that is added to, which says how it is differentiated");
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
