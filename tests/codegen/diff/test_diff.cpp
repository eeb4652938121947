// One small change at a time, and what it breaks.

#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "codegen/check/check.h"
#include "codegen/diff/compare.h"
#include "codegen/diff/compare_schema.h"
#include "codegen/diff/diff_report.h"
#include "codegen/load/loader.h"
#include "codegen/schema/parser.h"
#include "tests/codegen/upstream.h"

namespace tenon::codegen {
namespace {

Model read(DiagnosticSink& sink, const std::string& native, const std::string& derivatives,
           Dialect dialect) {
  Sources sources;
  sources.native = {sink.sources().add("n.yaml", native)};
  if (!derivatives.empty()) sources.derivatives = {sink.sources().add("d.yaml", derivatives)};
  Model model = load(sources, dialect, sink);
  std::ostringstream messages;
  sink.print(messages);
  INFO(messages.str());
  REQUIRE(!sink.has_errors());
  return model;
}

/// "CS removed-argument: add: message" for each change, C where callers break and S where saved
/// programs do, "-" where neither.
std::string changes(const std::string& before, const std::string& after,
                    const std::string& before_derivatives = "",
                    const std::string& after_derivatives = "", Dialect dialect = Dialect::kTenon) {
  DiagnosticSink sink;
  const Model a = read(sink, before, before_derivatives, dialect);
  const Model b = read(sink, after, after_derivatives, dialect);
  std::string text;
  for (const Change& change :
       compare_models(a, b, !before_derivatives.empty() && !after_derivatives.empty())) {
    text += change.breaks.callers ? "C" : "";
    text += change.breaks.serialized ? "S" : "";
    text += change.breaks.any() ? " " : "- ";
    text += std::string(change.kind) + ": " + change.op + ": " + change.message + "\n";
  }
  return text;
}

std::string entry(const std::string& schema, const std::string& keys = "composite: implicit") {
  return "- {func: '" + schema + "', " + keys + "}\n";
}

/// From one schema to another, of an operator that is computed the same way.
std::string schema_changes(const std::string& before, const std::string& after) {
  const std::string keys = "composite: implicit, variants: function";
  return changes(entry(before, keys), entry(after, keys));
}

TEST_CASE("equal versions have no changes", "[diff]") {
  const std::string op = "f(Tensor self, int n=1) -> Tensor";
  CHECK(schema_changes(op, op) == "");
  // Spelling, order of keys and of entries do not matter.
  CHECK(changes("- func: f(Tensor self, int[2] n=[0, 1])->Tensor\n  composite: implicit\n" +
                    entry("g(Tensor x) -> ()"),
                entry("g(Tensor x) -> ()") +
                    "- composite: implicit\n  func: f(Tensor self, int[2] n=[0,1]) -> Tensor\n") ==
        "");
}

TEST_CASE("operators, overloads and forms come and go", "[diff]") {
  const std::string f = entry("f(Tensor self) -> Tensor");
  const std::string fx = entry("f.x(Tensor self, int n) -> Tensor");
  CHECK(changes(f + entry("g(Tensor a) -> Tensor"), f) ==
        "CS removed-operator: g: the operator is gone\n");
  CHECK(changes(f, f + entry("g(Tensor a) -> Tensor")) ==
        "- added-operator: g: the operator is new\n");
  CHECK(changes(f + fx, f) == "CS removed-overload: f.x: the overload is gone\n");
  CHECK(changes(f, f + fx) == "- added-overload: f.x: the overload is new\n");
  CHECK(changes(f + fx, f + entry("f.y(Tensor self, int n) -> Tensor")) ==
        "S renamed-overload: f.x: the overload is now `f.y`\n"
        "- added-overload: f.y: the overload is new\n");
  CHECK(changes(f, entry("ns::f(Tensor self) -> Tensor")) ==
        "CS removed-operator: f: the operator is gone\n"
        "- added-operator: ns::f: the operator is new\n");
}

TEST_CASE("variants", "[diff]") {
  const auto with = [](const std::string& variants) {
    return entry("f(Tensor self) -> Tensor", "composite: explicit, variants: '" + variants + "'");
  };
  CHECK(changes(with("function, method"), with("function")) ==
        "C removed-variant: f: is no longer a method\n");
  CHECK(changes(with("function, method"), with("method")) ==
        "C removed-variant: f: is no longer a function\n");
  CHECK(changes(with("function"), with("function, method")) ==
        "- added-variant: f: is now a method\n");
  CHECK(changes(with("function, inplace, out"), with("function")) ==
        "CS removed-variant: f.out: the out form is gone\n"
        "CS removed-variant: f_: the in-place form is gone\n");
  CHECK(changes(with("function"), with("function, inplace")) ==
        "- added-variant: f_: the in-place form is new\n");
  // Written or derived, a form is the same to its users.
  CHECK(changes(with("function, out"),
                with("function") + entry("f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
                                         "composite: explicit")) == "");
}

TEST_CASE("arguments", "[diff]") {
  CHECK(schema_changes("f(Tensor a, int n) -> Tensor", "f(Tensor a) -> Tensor") ==
        "CS removed-argument: f: argument `n` is gone\n");
  CHECK(schema_changes("f(Tensor a) -> Tensor", "f(Tensor a, int n) -> Tensor") ==
        "CS added-required-argument: f: argument `n` is new and has no default\n");
  CHECK(schema_changes("f(Tensor a) -> Tensor", "f(Tensor a, *, int n) -> Tensor") ==
        "CS added-required-argument: f: argument `n` is new and has no default\n");
  CHECK(schema_changes("f(Tensor a) -> Tensor", "f(Tensor a, int n=1) -> Tensor") ==
        "- added-argument: f: argument `n` is new, with the default `1`\n");
  CHECK(schema_changes("f(Tensor a, *, int k=0) -> Tensor",
                       "f(Tensor a, *, int n=1, int k=0) -> Tensor") ==
        "- added-argument: f: argument `n` is new, with the default `1`\n");
  CHECK(
      schema_changes("f(Tensor a, int k=0) -> Tensor", "f(Tensor a, int n=1, int k=0) -> Tensor") ==
      "CS inserted-argument: f: argument `n` is new and stands before arguments that are given "
      "by position\n");
  CHECK(schema_changes("f(Tensor a, Tensor b) -> Tensor", "f(Tensor b, Tensor a) -> Tensor") ==
        "CS argument-order: f: argument `b` has another position\n");
  CHECK(schema_changes("f(Tensor a, *, int k=0, int n=0) -> Tensor",
                       "f(Tensor a, *, int n=0, int k=0) -> Tensor") == "");
  CHECK(schema_changes("f(Tensor a, int n) -> Tensor", "f(Tensor a, int count) -> Tensor") ==
        "CS renamed-argument: f: argument `n` is now `count`\n");
  CHECK(schema_changes("f(Tensor a, int n=0) -> Tensor", "f(Tensor a, *, int n=0) -> Tensor") ==
        "CS argument-keyword-only: f: argument `n` is now keyword-only\n");
  CHECK(schema_changes("f(Tensor a, *, int n=0) -> Tensor", "f(Tensor a, int n=0) -> Tensor") ==
        "- argument-positional: f: argument `n` may now be given by position\n");
}

TEST_CASE("defaults", "[diff]") {
  const std::string none = "f(Tensor a, int n) -> Tensor";
  const std::string one = "f(Tensor a, int n=1) -> Tensor";
  const std::string two = "f(Tensor a, int n=2) -> Tensor";
  CHECK(schema_changes(one, none) ==
        "CS removed-default: f: argument `n` no longer has a default\n");
  CHECK(schema_changes(none, one) == "- added-default: f: argument `n` now has the default `1`\n");
  CHECK(schema_changes(one, two) ==
        "CS changed-default: f: argument `n` now defaults to `2`, was `1`\n");
}

TEST_CASE("types of arguments", "[diff]") {
  CHECK(schema_changes("f(Tensor a, int n) -> Tensor", "f(Tensor a, int? n) -> Tensor") ==
        "- widened-argument: f: argument `n` is now `int?`, was `int`\n");
  CHECK(schema_changes("f(Tensor a, int? n) -> Tensor", "f(Tensor a, int n) -> Tensor") ==
        "CS argument-type: f: argument `n` is now `int`, was `int?`\n");
  const auto wider = [](const char* before, const char* after) {
    std::vector<schema::ParseError> errors;
    return accepts(*schema::parse_type(before, errors), *schema::parse_type(after, errors));
  };
  for (const auto& [before, after] :
       std::vector<std::pair<const char*, const char*>>{{"Tensor", "Tensor?"},
                                                        {"Tensor[]", "Tensor?[]"},
                                                        {"Tensor[]", "Tensor[]?"},
                                                        {"int", "SymInt"},
                                                        {"int", "float"},
                                                        {"int", "Scalar"},
                                                        {"float", "Scalar"},
                                                        {"bool", "Scalar"},
                                                        {"int", "int[2]"},
                                                        {"int[2]", "int[]"},
                                                        {"int[2]", "SymInt[2]?"},
                                                        {"int?", "SymInt?"}}) {
    CAPTURE(before, after);
    CHECK(wider(before, after));
    CHECK(!wider(after, before));
  }
  for (const auto& [before, after] : std::vector<std::pair<const char*, const char*>>{
           {"int", "str"},
           {"int", "Tensor"},
           {"int", "int[]"},
           {"int[2]", "int[3]"},
           {"Tensor", "Tensor[]"},
           {"__torch__.torch.classes.a.B", "__torch__.torch.classes.a.C"}}) {
    CAPTURE(before, after);
    CHECK(!wider(before, after));
    CHECK(!wider(after, before));
  }
}

TEST_CASE("returns", "[diff]") {
  CHECK(schema_changes("f(Tensor a) -> Tensor", "f(Tensor a) -> (Tensor, Tensor)") ==
        "CS returns: f: returns `(Tensor, Tensor)`, was `Tensor`\n");
  CHECK(schema_changes("f(Tensor a) -> Tensor", "f(Tensor a) -> ()") ==
        "CS returns: f: returns `()`, was `Tensor`\n");
  CHECK(schema_changes("f(Tensor a) -> Tensor", "f(Tensor a) -> int") ==
        "CS return-type: f: return 0 is now `int`, was `Tensor`\n");
  CHECK(schema_changes("f(Tensor a) -> float", "f(Tensor a) -> int") ==
        "- return-type: f: return 0 is now `int`, was `float`\n");
  const std::string named = "f(Tensor a) -> (Tensor values, Tensor indices)";
  const std::string unnamed = "f(Tensor a) -> (Tensor, Tensor indices)";
  CHECK(schema_changes(named, unnamed) ==
        "C return-name: f: return 0 no longer has the name `values`\n");
  CHECK(schema_changes(unnamed, named) == "- named-return: f: return 0 is now named `values`\n");
  CHECK(schema_changes(named, "f(Tensor a) -> (Tensor vals, Tensor indices)") ==
        "C return-name: f: return 0 is now named `vals`, was `values`\n");
}

TEST_CASE("annotations", "[diff]") {
  const std::string fresh = "f(Tensor self, Tensor b) -> Tensor";
  CHECK(schema_changes(fresh, "f(Tensor(a) self, Tensor b) -> Tensor(a)") ==
        "CS alias: f: argument `self` may share other memory: annotation `(a)`, was none\n"
        "CS alias: f: return 0 may share other memory: annotation `(a)`, was none\n");
  CHECK(schema_changes(fresh, "f(Tensor self, Tensor(a!) b) -> Tensor") ==
        "CS alias: f: argument `b` is now written to: annotation `(a!)`, was none\n");
  CHECK(schema_changes("f(Tensor self, Tensor(a!) b) -> Tensor", fresh) ==
        "CS alias: f: argument `b` is no longer written to: annotation none, was `(a!)`\n");
  // Only the letter.
  CHECK(schema_changes("f(Tensor(a) self) -> Tensor(a)", "f(Tensor(c) self) -> Tensor(c)") == "");
}

TEST_CASE("backends", "[diff]") {
  const std::string f = "f(Tensor self) -> Tensor";
  const auto with = [&](const std::string& keys) {
    return entry(f, keys + ", variants: function, non_differentiable: True");
  };
  const std::string both = with("dispatch: {CPU: f_cpu, CUDA: f_cuda}");
  CHECK(changes(both, with("dispatch: {CPU: f_cpu}")) ==
        "CS removed-dispatch: f: has no kernel any more for `CUDA`\n");
  CHECK(changes(with("dispatch: {CPU: f_cpu}"), both) ==
        "- added-dispatch: f: now has a kernel for `CUDA`\n");
  CHECK(changes(both, with("dispatch: {'CPU, CUDA': other}")) == "");
  CHECK(changes(with("composite: explicit"), both) ==
        "CS removed-dispatch: f: is now computed by kernels for `CPU`, `CUDA` alone, was on every "
        "backend\n");
  CHECK(changes(both, with("composite: explicit")) ==
        "- added-dispatch: f: is now computed on every backend\n");
  CHECK(changes(both, entry(f, "structured: True, dispatch: {CPU: f_cpu, CUDA: f_cuda}, "
                               "non_differentiable: True")) ==
        "- added-dispatch: f: now has a kernel for `Meta`\n");
}

TEST_CASE("derivatives", "[diff]") {
  const std::string native =
      entry("f(Tensor a, Tensor b) -> (Tensor, Tensor)", "dispatch: {CPU: f_cpu}");
  const std::string both = "- {name: f, a: grad, b: grad * a}\n";
  CHECK(changes(native, native, both, "- {name: f, a: grad}\n") ==
        "C removed-derivative: f: is no longer differentiable in argument `b`\n"
        "- formula: f: its derivative has other formulas\n");
  CHECK(changes(native, native, "- {name: f, a: grad}\n", both) ==
        "- added-derivative: f: is now differentiable in argument `b`\n"
        "- formula: f: its derivative has other formulas\n");
  CHECK(changes(native, native, both, "- {name: f, a: grad, b: grad * b}\n") ==
        "- formula: f: its derivative has other formulas\n");
  CHECK(changes(native, native, both,
                "- {name: f, a: grad, b: grad * a, output_differentiability: [True, False]}\n") ==
        "C removed-derivative: f: its output `result1` is no longer differentiable\n");
  CHECK(changes(native, native, both, "- {name: f, a: grad, b: not_implemented(\"f\")}\n") ==
        "C removed-derivative: f: is no longer differentiable in argument `b`\n"
        "- formula: f: its derivative has other formulas\n");
  const std::string one = entry("f(Tensor self) -> Tensor", "dispatch: {CPU: f_cpu}");
  CHECK(changes(one, one, "- {name: f, self: grad, result: auto_linear}\n",
                "- {name: f, self: grad}\n") ==
        "C removed-forward-derivative: f: no longer has a forward formula for `result`\n"
        "- formula: f: its derivative has other formulas\n");
  CHECK(
      changes(entry("f(Tensor self) -> Tensor"),
              entry("f(Tensor self) -> Tensor", "composite: explicit, non_differentiable: True")) ==
      "C removed-derivative: f: is no longer differentiable in argument `self`\n");
}

TEST_CASE("other keys", "[diff]") {
  const std::string f = "f(Tensor self) -> Tensor";
  CHECK(changes(entry(f, "composite: implicit, variants: function, python_module: nn"),
                entry(f, "composite: implicit, variants: function")) ==
        "C python-module: f: its Python module is none, was `nn`\n");
  CHECK(changes(entry(f, "composite: implicit, tags: core"),
                entry(f, "composite: implicit, tags: pointwise")) ==
        "- tags: f: no longer has the tags `core`\n"
        "- tags: f: now has the tags `pointwise`\n");
  CHECK(
      changes(entry(f, "pointwise: exp(self), promote: float"), entry(f, "pointwise: exp(self)")) ==
      "CS promotion: f: its dtype rule is `default`, was `float`\n");
  CHECK(changes(entry(f, "pointwise: self * 2"), entry(f, "pointwise: self + self")) ==
        "- expression: f: its expression is another\n");
  const std::string g = "f(Tensor self, int n=0) -> Tensor";
  CHECK(changes(entry(g), entry(g, "composite: implicit, cpp_no_default_args: [n]")) ==
        "C cpp-default: f: `n` no longer has a default in C++\n");
}

TEST_CASE("a derived form changes with its entry, which is reported once", "[diff]") {
  const std::string keys = "pointwise: self * n, variants: 'function, inplace, out'";
  CHECK(changes(entry("f(Tensor self, Scalar n) -> Tensor", keys),
                entry("f(Tensor self, Scalar n=2) -> Tensor", keys)) ==
        "- added-default: f: argument `n` now has the default `2`\n");
}

TEST_CASE("upstream's files are compatible with themselves", "[.][upstream]") {
  DiagnosticSink sink;
  const auto model = [&] {
    return load({upstream_file("native_functions.yaml")}, {upstream_file("derivatives.yaml")},
                upstream_file("tags.yaml"), Dialect::kUpstream, sink);
  };
  const Model a = model();
  CHECK(compare_models(a, model(), true).empty());
}

TEST_CASE("changes are printed with their places and counted", "[diff]") {
  DiagnosticSink sink;
  const Model a = read(sink, entry("f(Tensor a) -> Tensor") + entry("g(Tensor a) -> Tensor"), "",
                       Dialect::kTenon);
  const Model b = read(sink, "\n" + entry("f(Tensor b, int n=0) -> Tensor"), "", Dialect::kTenon);
  const std::vector<Change> found = compare_models(a, b, false);
  std::ostringstream text, json;
  print_changes(found, text);
  CHECK(text.str() ==
        "n.yaml:2:4: breaks callers and saved programs: f: argument `a` is now `b` "
        "[renamed-argument]\n"
        "n.yaml:2:4: breaks callers and saved programs: g: the operator is gone "
        "[removed-operator]\n"
        "n.yaml:2:4: compatible: f: argument `n` is new, with the default `0` [added-argument]\n"
        "3 changes: 2 for callers, 2 for saved programs, 1 compatible\n");
  print_changes_json({found[1]}, json);
  CHECK(json.str() == R"({
 "version": 1,
 "compatible": false,
 "changes": [
  {
   "kind": "removed-operator",
   "operator": "g",
   "breaks": [
    "callers",
    "serialized"
   ],
   "message": "the operator is gone",
   "file": "n.yaml",
   "line": 2,
   "column": 4
  }
 ]
}
)");
}

}  // namespace
}  // namespace tenon::codegen
