// A mistake is said in the same words at the same place of the text, whatever the text is for.

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "codegen/check/check.h"
#include "codegen/load/loader.h"

namespace tenon::codegen {
namespace {

/// What is said of the files: places in the text, messages, suggestions. The text begins with a
/// quote at `line` of the file `name`.
std::string diagnose(const std::string& native, const std::string& derivatives,
                     const std::string& name, size_t line) {
  DiagnosticSink sink;
  Sources sources;
  sources.native.push_back(sink.sources().add("native", native));
  sources.derivatives.push_back(sink.sources().add("derivatives", derivatives));
  const Model model = load(sources, Dialect::kTenon, sink);
  run_checks(model, sink);
  const std::string& file = name == "native" ? native : derivatives;
  size_t begin = 0;
  for (size_t i = 1; i < line; ++i) begin = file.find('\n', begin) + 1;
  const size_t text = file.find('\'', begin) - begin + 2;  // columns begin at 1
  std::string said;
  for (const Diagnostic& d : sink.sorted()) {
    const std::string place = name + ":" + std::to_string(line) + ":";
    const std::string at = d.location.to_string();
    if (at.starts_with(place)) {
      said += std::to_string(std::stoul(at.substr(place.size())) - text);
    } else {
      said += at;
    }
    said += ": " + d.message;
    if (!d.suggestion.empty()) said += "; " + d.suggestion;
    said += "\n";
  }
  return said;
}

struct Mistake {
  std::string text;
  std::string said;
};

const std::vector<Mistake> kMistakes = {
    {"(self + x", "0: this '(' is never closed: expected ')'\n"},
    {"self + x)", "8: this ')' closes nothing\n"},
    {"exp(self] + x", "8: expected ')', got ']'\n"},
    {"exp(self x)", "9: expected ')', got 'x'\n"},
    {"self + x +", "10: expected a value, got the end of the text\n"},
    {"self + & x", "7: expected a value, got '&'\n"},
    {"self x", "5: expected an operator or the end of the text, got 'x'\n"},
    {"self += x", "5: a text has locals, 'name = expression;', which nothing changes, and then its "
                  "result\n"},
    {"self.", "5: expected a member's name after '.', got the end of the text\n"},
    {"self ? x", "8: expected ':' of 'condition ? a : b', got the end of the text\n"},
    {"self @ x", "5: '@' is not an operator here: tensor code calls matmul(a, b)\n"},
    {"self × x", "5: unexpected character '×'; *\n"},
    {"self $ x", "5: unexpected character '$'\n"},
    {"self + größe * x", "9: a name has ASCII letters, digits and _, got 'öß'\n"},
    {"self + \"x", "7: this string is not closed; \"\n"},
    {"self + x /* more", "9: this comment is not closed; */\n"},
    {"self + 1x", "7: '1x' is not a number\n"},
    {"self * 1.0f + x", "7: '1.0f' is not a number; 1.0\n"},
    {"self ** 2 + x", "5: '**' is not an operator here; pow(a, b)\n"},
    {"self // x", "5: '//' is not an operator here; floor_divide(a, b)\n"},
    {"0 < self < x", "9: comparisons do not chain; a < b && b < c\n"},
    {"self * 1e400 + x", "7: '1e400' is beyond the range of a double\n"},
    {"self * 1..2 + x", "7: '1..2' is not a number\n"},
    {"self * 1ef + x", "7: '1ef' is not a number\n"},
    {"true = self + x; true", "0: 'true' has its value already\n"},
    {"self and x", "5: 'and' is not an operator here; &&\n"},
    {"not self or x", "0: 'not' is not an operator here; !\n9: 'or' is not an operator here; ||\n"},
    {"self if x else 1", "5: a choice is written 'condition ? a : b'\n"},
    {"self + (True ? x : 1)", "8: unknown name 'True'; true\n"},
    {"exp(None) + self + x",
     "4: there is no None: an operator takes {} for what is absent, and an element is always a "
     "number\n"},
    {"self; x", "4: only 'name = expression' is followed by ';'\n"},
    {"t = self + x", "0: the last expression is the result and has no name\n"},
    {"t = self x; t", "9: expected ';' after the definition of 't', got 'x'\n"},
    {"t = self + x;", "13: expected a value, got the end of the text\n"},
    {"t = self; t = x; t", "10: 't' is already defined\n"},
    {"t = self; self + x", "0: no expression reads 't'\n"},
    {"self + t; t = x", "8: only 'name = expression' is followed by ';'\n"},
    {"t = u; u = x; self + t + u", "4: unknown name 'u'\n"},
    {"self = exp(x); self", "0: 'self' is already defined\n"},
    {"slef + x", "0: unknown name 'slef'; self\n"},
    {"self + exq(x)", "7: unknown function 'exq'; exp\n"},
    {"self + torch.exp(x)", "7: names in expressions have no module; exp\n"},
    {"self + at::exp(x)", "7: names in expressions have no module; exp\n"},
    {std::string(300, '(') + "self", "100: the expression is nested too deeply\n"},
};

std::string quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "''" : std::string(1, c);
  return quoted + "'\n";
}

TEST_CASE("a mistake is the same one in every text", "[check][syntax]") {
  const std::string schema = "- func: f(Tensor self, Tensor x) -> Tensor\n";
  const std::string exp = "- func: exp(Tensor self) -> Tensor\n  pointwise: exp(self)\n";
  for (const auto& [text, said] : kMistakes) {
    const std::string value = quoted(text);
    CAPTURE(text);
    CHECK(diagnose(schema + "  pointwise: " + value + exp, "", "native", 2) == said);
    CHECK(diagnose(schema + "  over: -1\n  rowwise: " + value + exp, "", "native", 3) == said);
    CHECK(diagnose(schema + "  composite: " + value + exp, "", "native", 2) == said);
    CHECK(diagnose(schema + "  dispatch: {CPU: f_cpu}\n" + exp,
                   "- name: f\n  x: grad\n  self: " + value, "derivatives", 3) == said);
  }
}

TEST_CASE("a chain of any length ends in a message", "[check][syntax]") {
  const std::string schema = "- func: f(Tensor self, Tensor x) -> Tensor\n";
  for (const char* link : {" + x", ".exp()", " ? x : self", " ?? x"}) {
    std::string text = "self";
    for (int i = 0; i < 5000; ++i) text += link;
    CAPTURE(link);
    const std::string said = diagnose(schema + "  pointwise: " + quoted(text), "", "native", 2);
    CHECK(said.find(": the expression is nested too deeply\n") != std::string::npos);
  }
}

TEST_CASE("long texts are read", "[check][syntax]") {
  const std::string schema = "- func: f(Tensor self, Tensor x) -> Tensor\n";
  const std::string add =
      "- func: add(Tensor self, Tensor other) -> Tensor\n  pointwise: self + other\n";
  std::string text = "self";
  for (int i = 0; i < 500; ++i) text += " + x * x";
  CHECK(diagnose(schema + "  pointwise: " + quoted(text) + add, "", "native", 2) == "");
  CHECK(diagnose(schema + "  composite: " + quoted(text) + add, "", "native", 2) == "");
}

}  // namespace
}  // namespace tenon::codegen
