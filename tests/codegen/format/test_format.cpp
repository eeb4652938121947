// `tenonc fmt`: what it writes, that it changes no meaning and no comment, and that it settles.

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "codegen/diff/compare.h"
#include "codegen/emit/emit_library.h"
#include "codegen/format/canonical.h"
#include "codegen/format/formatter.h"
#include "codegen/ir/print.h"
#include "codegen/load/loader.h"
#include "codegen/model/keys.h"
#include "codegen/model/vocabulary.h"
#include "tests/codegen/upstream.h"

namespace tenon::codegen {
namespace {

const std::string kRoot = TENON_SOURCE_DIR "/";

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

struct Formatted {
  std::optional<std::string> text;
  std::string messages;
};

Formatted format(const std::string& text, Dialect dialect = Dialect::kTenon) {
  DiagnosticSink sink;
  const SourceFile* file = sink.sources().add("f.yaml", text);
  Formatted result;
  result.text = format_yaml(*file, dialect, sink);
  std::ostringstream messages;
  sink.print(messages);
  result.messages = messages.str();
  return result;
}

/// The formatted text, which must not change when it is formatted again.
std::string formatted(const std::string& text, Dialect dialect = Dialect::kTenon) {
  const Formatted once = format(text, dialect);
  INFO(once.messages);
  REQUIRE(once.text);
  CHECK(format(*once.text, dialect).text == once.text);
  return *once.text;
}

TEST_CASE("an entry has one form", "[format]") {
  CHECK(formatted(R"(


-   dispatch: {"CPU":foo_cpu,  'CUDA' : foo_cuda}
    variants:   method,function
    structured:   true
    func:  "foo( Tensor self,int[2] x=[0, 1] )->Tensor"


- {func: bar(Tensor self) -> Tensor, composite: implicit, tags: [ core,"pointwise" ]}
-
  composite: explicit
  func: >-
    baz(Tensor self,
        int n)
    -> Tensor
)") == R"(- func: foo(Tensor self, int[2] x=[0,1]) -> Tensor
  variants: method, function
  structured: CPU, CUDA

- func: bar(Tensor self) -> Tensor
  composite: implicit
  tags: [core, pointwise]

- func: baz(Tensor self, int n) -> Tensor
  composite: explicit
)");
}

// Each entry says what it said before; the loader's side is
// tests/codegen/model/test_short_forms.cpp.
TEST_CASE("entries are said as shortly as they can be", "[format]") {
  CHECK(formatted(R"(- func: a(Tensor self) -> Tensor
  variants: function, method, inplace, out
  pointwise:
    integral: -self
    floating: -self

- func: b(Tensor self) -> Tensor
  variants: function
  pointwise:
    floating: nextafter(self, self)
  non_differentiable: True

- func: c(Tensor self, Tensor other) -> Tensor
  variants: function, method
  pointwise:
    bool: self < other
    integral: self < other
  non_differentiable: True

- func: d(Tensor self) -> Tensor
  variants: function, method, out
  structured: True
  dispatch: {CPU: d_cpu, CUDA: d_cuda}

- func: e(Tensor self) -> Tensor
  variants: function, method
  structured: True
  dispatch: {CPU: another_cpu}

- func: f(int n, *, Generator? generator, ScalarType? dtype=long, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor
  dispatch: {CompositeExplicit: f}
  non_differentiable: True
  tags: nondeterministic_seeded

- func: g(Tensor self) -> Tensor
  variants: function, method
  dispatch: {CPU: g_cpu, Meta: g_meta}

- func: special_h(Tensor self) -> Tensor
  variants: function, out
  pointwise: exp(self)
  python_module: special
)") == R"(- func: a(Tensor self) -> Tensor
  pointwise: -self
  dtypes: integral, floating

- func: b(Tensor self) -> Tensor
  variants: function
  pointwise: nextafter(self, self)
  non_differentiable: True

- func: c(Tensor self, Tensor other) -> Tensor
  variants: function, method
  pointwise: self < other
  dtypes: bool, integral

- func: d(Tensor self) -> Tensor
  structured: CPU, CUDA

- func: e(Tensor self) -> Tensor
  variants: function, method
  structured: True
  dispatch: {CPU: another_cpu}

- func: f(int n, *, Generator? generator, TensorOptions(dtype=long)) -> Tensor
  composite: explicit

- func: g(Tensor self) -> Tensor
  dispatch: CPU, Meta

- func: special_h(Tensor self) -> Tensor
  pointwise: exp(self)
)");
  // In upstream's dialect there are no such words.
  const std::string upstream =
      "- func: d(Tensor self) -> Tensor\n  structured: True\n  dispatch: {CPU: d_cpu}\n";
  CHECK(formatted(upstream, Dialect::kUpstream) == upstream);
}

TEST_CASE("entries that differ by Tensor or Scalar become one", "[format]") {
  CHECK(formatted(R"(- func: a.Tensor(Tensor self, Tensor other) -> Tensor
  variants: function
  check: a_check
  pointwise: self * other
  out_name: out
- func: a.Scalar(Tensor self, Scalar other) -> Tensor
  variants: function
  pointwise: self * other

- func: b(Tensor self, Tensor other) -> Tensor
  pointwise: self / other

- func: b.Scalar(Tensor self, Scalar other) -> Tensor
  pointwise: self / other

- func: b.Scalar_Tensor(Scalar self, Tensor other) -> Tensor
  pointwise: self / other

# A comment keeps them apart.
- func: b.int(Tensor self, int other) -> Tensor
  pointwise: self / other

- func: c.Tensor(Tensor self, Tensor other) -> Tensor
  pointwise: self - other

# So does this.
- func: c.Scalar(Tensor self, Scalar other) -> Tensor
  pointwise: self - other

- func: d.Tensor(Tensor self, Tensor other) -> Tensor
  pointwise: self - other

- func: d.Scalar(Tensor self, Scalar other) -> Tensor
  pointwise: other - self
)") == R"(- func: a.Tensor|Scalar(Tensor self, Tensor|Scalar other) -> Tensor
  variants: function
  check: a_check|
  pointwise: self * other
  out_name: out|

- func: b.|Scalar|Scalar_Tensor(Tensor|Tensor|Scalar self, Tensor|Scalar|Tensor other) -> Tensor
  pointwise: self / other

# A comment keeps them apart.
- func: b.int(Tensor self, int other) -> Tensor
  pointwise: self / other

- func: c.Tensor(Tensor self, Tensor other) -> Tensor
  pointwise: self - other

# So does this.
- func: c.Scalar(Tensor self, Scalar other) -> Tensor
  pointwise: self - other

- func: d.Tensor(Tensor self, Tensor other) -> Tensor
  pointwise: self - other

- func: d.Scalar(Tensor self, Scalar other) -> Tensor
  pointwise: other - self
)");
}

TEST_CASE("comments stay with what they are about", "[format]") {
  CHECK(formatted(R"(# First
#   of two lines

# Section



# About foo
- func: foo(Tensor self) -> Tensor # on the line
  # About tags,
    #  two lines
  tags: core#no   # 'tags'
  # About variants

  variants: function
  # At the end
# Below
- func: bar(Tensor self) -> Tensor
  dispatch:   # all of them
    # First
    CPU: a   # a
    CUDA: b
    # Last of dispatch
  # After dispatch
  tags: core

# The end
)",
                  Dialect::kUpstream) == R"(# First
#   of two lines

# Section

# About foo
- func: foo(Tensor self) -> Tensor  # on the line
  # About variants
  variants: function
  # About tags,
  #  two lines
  tags: core#no  # 'tags'
  # At the end

# Below
- func: bar(Tensor self) -> Tensor
  dispatch:  # all of them
    # First
    CPU: a  # a
    CUDA: b
    # Last of dispatch
  # After dispatch
  tags: core

# The end
)");
}

TEST_CASE("texts of several lines, anchors and comments in brackets are left alone", "[format]") {
  const std::string same = R"(- name: foo
  self: |
    grad *
      other  # not a comment
  other: grad
    .sum()
  third: "a
    b"

- name: bar
  output_differentiability: [True,
    # not this one
    False]
  self: &formula grad
  other: *formula
)";
  CHECK(formatted(same) == same);
  CHECK(formatted("  - name: foo\n    self: |\n      a\n\n       b\n    other: b\n") ==
        "- name: foo\n  self: |\n    a\n\n     b\n  other: b\n");
}

TEST_CASE("derivatives and tags", "[format]") {
  CHECK(formatted("- self,other: grad\n  output_differentiability: [true, False]\n"
                  "  name: foo(Tensor self,Tensor other)->Tensor\n  'result': auto_linear\n"
                  "- name:   bar\n  self: \"a: b\"\n  n: '1'\n  b: \"x\"\n") ==
        "- name: foo(Tensor self, Tensor other) -> Tensor\n"
        "  output_differentiability: [True, False]\n"
        "  self, other: grad\n  result: auto_linear\n\n"
        "- name: bar\n  self: \"a: b\"\n  n: '1'\n  b: x\n");
  CHECK(formatted("- desc: >\n    Some\n    text.\n  tag: core\n") ==
        "- tag: core\n  desc: >\n    Some\n    text.\n");
}

TEST_CASE("an empty text of several lines is left alone", "[format]") {
  const std::string text = "- name: foo\n  self: |\n  # a comment\n  # another\n  other: b\n";
  CHECK(formatted("  " + text.substr(0, text.find("\n") + 1) +
                  "    self: |\n    # a comment\n    # another\n"
                  "    other: b\n") == text);
}

TEST_CASE("lists of a backend's kernels", "[format]") {
  CHECK(formatted("# toy\n\n\nsupported:   # all\n    - add.Tensor\n    # a note\n    -   mm\n\n\n"
                  "cpp_namespace:   \"toy\"\n# which\nbackend: PrivateUse1  # this\n# end\n") ==
        "# toy\n\n# which\nbackend: PrivateUse1  # this\ncpp_namespace: toy\nsupported:  # all\n"
        "  - add.Tensor\n  # a note\n  - mm\n# end\n");
  CHECK(formatted("{backend: PrivateUse1, cpp_namespace: toy, supported: [ mm,neg ]}\n") ==
        "backend: PrivateUse1\ncpp_namespace: toy\nsupported: [mm, neg]\n");
  CHECK(formatted(read(kRoot + "examples/custom_backend/toy.yaml")) ==
        read(kRoot + "examples/custom_backend/toy.yaml"));
}

TEST_CASE("quotes go where no YAML reader needs them", "[format]") {
  for (const char* text : {"foo", "foo_cpu", "at::foo(a, b)", "a ? b : c", "x #", "f(x)[0]"}) {
    CAPTURE(text);
    CHECK(plain_scalar(text, false).has_value() ==
          (std::string(text) != "a ? b : c" && std::string(text) != "x #"));
  }
  for (const char* text : {"", "yes", "No", "null", "True", "1", "-x", "!self", "*x", "a: b",
                           "a:", "a ", "\xC3\xA9", "y"}) {
    CAPTURE(text);
    CHECK(!plain_scalar(text, false));
  }
  CHECK(!plain_scalar("a, b", true));
  CHECK(quoted_scalar("a: b") == "\"a: b\"");
  CHECK(quoted_scalar("a: \"b\" 'c'") == "'a: \"b\" ''c'''");
}

TEST_CASE("files with mistakes are refused", "[format]") {
  for (const char* text :
       {"- func: foo(Tensr self) -> Tensor\n", "- func: foo(Tensor self) -> Tensor\n  tgas: core\n",
        "- func: foo(Tensor self) -> Tensor\n  tags: a\n  tags: b\n", "- name: foo(\n", "a: 1\n",
        "- foo\n", "", "- func: [\n", "- tag: a\n", "- name: foo\n  self: a\n  self,\n",
        "- name: two words\n  self: a\n", "- name: foo\n  se lf: a\n",
        "backend: CPU\ncpp_namespace: a\nsupported: [b]\n", "backend: PrivateUse1\n",
        "backend: PrivateUse1\ncpp_namespace: a\nsupported: [b, b]\n",
        "- name: foo\n  a, b: x\n  a,b: y\n"}) {
    CAPTURE(text);
    const Formatted result = format(text);
    CHECK(!result.text);
    CHECK(!result.messages.empty());
  }
}

TEST_CASE("the table of keys is that of the checker", "[format]") {
  std::vector<std::string> listed;
  for (const KeyInfo& key : entry_keys(FileKind::kOperators)) {
    listed.emplace_back(key.name);
    CHECK(!key.description.empty());
    CHECK((key.form == ValueForm::kWord) == (key.words != nullptr));
  }
  std::vector<std::string> known = operator_keys(Dialect::kTenon);
  std::sort(listed.begin(), listed.end());
  std::sort(known.begin(), known.end());
  CHECK(listed == known);
}

using Json = nlohmann::ordered_json;

void drop_places(Json& value) {
  if (value.is_object()) {
    for (const char* key : {"line", "file", "source"}) value.erase(key);
  }
  for (auto& item : value) {
    if (item.is_structured()) drop_places(item);
  }
}

// The library's own files lead to the same code.
TEST_CASE("formatting changes nothing that is generated", "[format]") {
  const auto ir = [](const std::string& native, const std::string& derivatives) {
    DiagnosticSink sink;
    Sources sources;
    sources.native = {sink.sources().add("n", native)};
    sources.derivatives = {sink.sources().add("d", derivatives)};
    const Model model = load(sources, Dialect::kTenon, sink);
    EmitOptions options;
    options.targets.cuda = true;
    Json result = Json::parse(ir::print(emit_library(model, options, sink)));
    REQUIRE(!sink.has_errors());
    drop_places(result);
    return result;
  };
  const std::string native = read(kRoot + "native_functions.yaml");
  const std::string derivatives = read(kRoot + "derivatives.yaml");
  CHECK(ir(native, derivatives) == ir(formatted(native), formatted(derivatives)));
}

// Everything that the model holds of an entry, without places.
std::string describe(const Operator& op) {
  std::ostringstream out;
  out << op.schema_text.text << op.variants.function << op.variants.method << op.is<Structured>()
      << op.upstream.device_guard << static_cast<int>(op.upstream.device_check)
      << op.manual_cpp_binding << op.upstream.manual_kernel_registration
      << op.upstream.use_const_ref_for_mutable_tensors;
  const auto names = [&](const std::vector<LocatedName>& list) {
    for (const LocatedName& name : list) out << "\n- " << name.text;
  };
  const Delegate* delegate = op.as<Delegate>();
  out << "\n" << (delegate != nullptr ? delegate->of.text : "");
  for (const auto* one :
       {&op.upstream.structured_inherits, &op.python_module, &op.upstream.category_override}) {
    out << "\n" << (*one ? (*one)->text : "");
  }
  for (const DispatchEntry& kernel : op.dispatch) {
    out << "\n" << kernel.key << ":" << kernel.kernel_namespace << "::" << kernel.kernel;
  }
  names(op.tags);
  names(op.autogen);
  names(op.cpp_no_default_args);
  for (const SourceString& line : op.upstream.precomputed) out << "\n" << line.text;
  for (const UfuncInnerLoop& loop : op.upstream.ufunc_inner_loop)
    out << loop.key << loop.value.text;
  return out.str();
}

std::string describe(const Derivative& derivative) {
  std::ostringstream out;
  out << derivative.name.text << derivative.target;
  for (const bool output : derivative.output_differentiability) out << output;
  if (derivative.output_condition) out << derivative.output_condition->text;
  for (const FormulaSet& set : derivative.sets) {
    out << "\n" << set.key.text;
    for (const auto* formulas : {&set.backward, &set.forward}) {
      for (const Formula& formula : *formulas) {
        for (const LocatedName& name : formula.names) out << "\n" << name.text;
        out << ": " << formula.text.text;
      }
    }
  }
  return out.str();
}

TEST_CASE("upstream's files keep their meaning", "[.][upstream]") {
  DiagnosticSink sink;
  const auto model = [&](const auto& text) {
    Sources sources;
    sources.native = {sink.sources().add("n", text(read(upstream_file("native_functions.yaml"))))};
    sources.derivatives = {sink.sources().add("d", text(read(upstream_file("derivatives.yaml"))))};
    return load(sources, Dialect::kUpstream, sink);
  };
  const Model before = model([](const std::string& text) { return text; });
  const Model after =
      model([](const std::string& text) { return formatted(text, Dialect::kUpstream); });
  REQUIRE(after.operators().size() == 2590);
  REQUIRE(after.derivatives().size() == 688);
  for (size_t i = 0; i < before.operators().size(); ++i) {
    if (describe(before.operators()[i]) != describe(after.operators()[i])) {
      FAIL_CHECK(before.operators()[i].name());
    }
  }
  for (size_t i = 0; i < before.derivatives().size(); ++i) {
    if (describe(before.derivatives()[i]) != describe(after.derivatives()[i])) {
      FAIL_CHECK(before.derivatives()[i].name.text);
    }
  }
}

}  // namespace
}  // namespace tenon::codegen
