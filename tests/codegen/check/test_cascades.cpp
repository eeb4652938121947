// Many mistakes in one pair of files: each is reported once, where it is, and nothing else is.

#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "codegen/check/check.h"
#include "codegen/load/loader.h"

namespace tenon::codegen {
namespace {

// An entry with one mistake, and part of the message about it; what is correct has none. The entry
// of derivatives.yaml that goes with it may be what is wrong.
struct Entry {
  std::string native;
  std::string derivative;
  std::string native_message;
  std::string derivative_message;
};

const std::vector<Entry> kEntries = {
    {"- func: right(Tensor self) -> Tensor\n  dispatch: {CPU: right_cpu}\n",
     "- name: right\n  self: grad * self\n", "", ""},
    // The type is wrong, and so the schema: what refers to the operator is not.
    {"- func: a(Tensro self) -> Tensor\n  dispatch: {CPU: a_cpu}\n", "- name: a\n  self: grad\n",
     "unknown type `Tensro`; did you mean 'Tensor'?", ""},
    {"- func: b(Tensor self, int dim=zero) -> Tensor\n  dispatch: {CPU: b_cpu}\n",
     "- name: b\n  self: grad\n", "the default of `int` must be an integer, got `zero`", ""},
    {"- func: c(Tensor self, Tensor self) -> Tensor\n  dispatch: {CPU: c_cpu}\n",
     "- name: c\n  self: grad\n", "argument `self` is declared twice", ""},
    // A key is misspelt, and so none says how the operator is computed.
    {"- func: d(Tensor self) -> Tensor\n  dispach: {CPU: d_cpu}\n", "- name: d\n  self: grad\n",
     "unknown key `dispach`; did you mean 'dispatch'?", ""},
    {"- func: e(Tensor self) -> Tensor\n  dispatch: {CPV: e_cpu}\n", "- name: e\n  self: grad\n",
     "unknown dispatch key `CPV`; did you mean 'CPU'?", ""},
    {"- func: f(Tensor self) -> Tensor\n  dispatch: {CPU: f_cpu}\n  tags: pointwize\n",
     "- name: f\n  self: grad\n", "unknown tag `pointwize`; did you mean 'pointwise'?", ""},
    {"- func: g(Tensor self) -> Tensor\n  dispatch: {CPU: g_cpu}\n  python_module: linlag\n",
     "- name: g\n  self: grad\n", "did you mean 'linalg'?", ""},
    {"- func: h(Tensor self) -> Tensor\n  dispatch: {CPU: h_cpu}\n  variants: function, methot\n",
     "- name: h\n  self: grad\n", "did you mean 'method'?", ""},
    {"- func: i_(Tensor self) -> Tensor\n  dispatch: {CPU: i_cpu_}\n", "- name: i_\n  self: grad\n",
     "in-place `i_` must write to self", ""},
    {"- func: ip_(Tensor self, Tensor grad) -> Tensor\n  pointwise: self - grad\n", "",
     "in-place `ip_` must write to self", ""},
    {"- func: iv_(Tensor(a) self) -> Tensor(a)\n  pointwise: self * 2\n", "",
     "in-place `iv_` must write to self", ""},
    {"- func: ir_(Tensor(a!) self, Tensor(b!) m) -> Tensor(a!)\n  over: -1\n"
     "  rowwise: {self: self * 2, m: m + self}\n  non_differentiable: True\n",
     "", "`rowwise` belongs to the functional schema", ""},
    {"- func: iw(Tensor(a!) self, Tensor other) -> Tensor(a!)\n  pointwise: self + other\n"
     "  non_differentiable: True\n",
     "", "`iw` writes to self, so its name must end in `_`", ""},
    {"- func: j(Tensor self) -> Tensor\n  dispatch: {CPU: j_cpu}\n", "- name: jj\n  self: grad\n",
     "`j` does not say how it is differentiated", "unknown operator `jj`"},
    {"- func: jk(Tensor self) -> Tensor\n  dispatch: {CPU: jk_cpu}\n",
     "- name: jjk\n  self: grad\n", "", "unknown operator `jjk`; did you mean 'jk'?"},
    {"- func: jl(Tensor self) -> Tensor\n  dispatch: {CPU: jl_cpu}\n", "- func: jl\n  self: grad\n",
     "", "unknown key `func`; did you mean 'name'?"},
    {"- function: jm(Tensor self) -> Tensor\n  dispatch: {CPU: jm_cpu}\n", "",
     "unknown key `function`; did you mean 'func'?", ""},
    {"- func: k(Tensor self) -> Tensor\n  dispatch: {CPU: k_cpu}\n", "- name: k\n  slef: grad\n",
     "", "`k` has no argument named `slef`; did you mean 'self'?"},
    {"- func: l(Tensor self) -> Tensor\n  dispatch: {CPU: l_cpu}\n",
     "- name: l\n  self: grad * (self + 1\n", "", "this '(' is never closed"},
    {"- func: m(Tensor self) -> Tensor\n  dispatch: {CPU: m_cpu}\n",
     "- name: m\n  self: grad * slef\n", "", "unknown name 'slef'; did you mean 'self'?"},
    {"- func: n(Tensor self) -> Tensor\n  dispatch: {CPU: n_cpu}\n",
     "- name: n\n  self: grad\n  output_differentiability: [True, False]\n", "",
     "`output_differentiability` must have one value per output, 1, got 2"},
    {"- func: o(Tensor self) -> Tensor\n  dispatch: {CPU: o_cpu}\n",
     "- name: o\n  dispatch:\n    AutogradCPV:\n      self: grad\n", "",
     "unknown autograd key `AutogradCPV`; did you mean 'AutogradCPU'?"},
    {"- func: p(Tensor self, Tensor other) -> Tensor\n  structured_delegate: q\n",
     "- name: p\n  self, other: p_backward(grad)\n", "`q` is not structured",
     "unknown function 'p_backward'"},
    {"- func: q(Tensor self, int n) -> Tensor\n  composite: implict\n", "",
     "`composite` must be implicit or explicit, got `implict`; did you mean 'implicit'?", ""},
    {"- func: r(Tensor self) -> Tensor\n  dispatch: {CPU: r_cpu}\n  structured: yes\n",
     "- name: r\n  self: grad\n", "`structured` must be True or False, got `yes`", ""},
    {"- func: s(Tensor self) -> Tensor\n  composite: implicit\n  non_differentiable: True\n"
     "  autogen: s.t_out\n",
     "", "`s.t_out` is not generated from this family of operators: no form is", ""},
};

size_t lines(const std::string& text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

// What is reported within lines [first, last] of a file.
std::vector<std::string> messages(const std::vector<Diagnostic>& diagnostics,
                                  const std::string& path, size_t first, size_t last) {
  std::vector<std::string> found;
  for (const Diagnostic& d : diagnostics) {
    const bool here = d.location.valid() && d.location.file->path() == path &&
                      d.location.line >= first && d.location.line <= last;
    const std::string suggestion =
        d.suggestion.empty() ? "" : "; did you mean '" + d.suggestion + "'?";
    if (here) found.push_back(d.message + suggestion);
  }
  return found;
}

TEST_CASE("each of many mistakes is reported once and nothing else is", "[check]") {
  std::string native, derivatives;
  for (const Entry& entry : kEntries) {
    native += entry.native;
    derivatives += entry.derivative;
  }
  DiagnosticSink sink;
  Sources sources;
  sources.native.push_back(sink.sources().add("native.yaml", native));
  sources.derivatives.push_back(sink.sources().add("derivatives.yaml", derivatives));
  sources.tags = sink.sources().add("tags.yaml", "- tag: pointwise\n  desc: one\n");
  const Model model = load(sources, Dialect::kTenon, sink);
  run_checks(model, sink);
  const std::vector<Diagnostic> diagnostics = sink.sorted();

  size_t expected = 0, native_line = 1, derivative_line = 1;
  const auto check = [&](const std::string& path, const std::string& text, size_t& line,
                         const std::string& message) {
    CAPTURE(text);
    const auto found = messages(diagnostics, path, line, line + lines(text) - 1);
    line += lines(text);
    if (message.empty()) {
      CHECK(found == std::vector<std::string>{});
      return;
    }
    ++expected;
    CHECK(found.size() == 1);
    if (!found.empty() && found[0].find(message) == std::string::npos) FAIL_CHECK(found[0]);
  };
  for (const Entry& entry : kEntries) {
    check("native.yaml", entry.native, native_line, entry.native_message);
    if (!entry.derivative.empty()) {
      check("derivatives.yaml", entry.derivative, derivative_line, entry.derivative_message);
    }
  }
  CHECK(diagnostics.size() == expected);
}

TEST_CASE("what is wrong in derivatives.yaml is noted at the operator", "[check]") {
  DiagnosticSink sink;
  Sources sources;
  sources.native.push_back(
      sink.sources().add("native.yaml", "- func: f(Tensor self, int n) -> (Tensor values, Tensor "
                                        "order)\n  dispatch: {CPU: f_cpu}\n"));
  sources.derivatives.push_back(
      sink.sources().add("derivatives.yaml", "- name: f\n"
                                             "  output_differentiability: [True]\n"
                                             "  self: grad * slef + grads[2] + grad_input_mask\n"
                                             "  n: grad\n"
                                             "  othre: grad\n"
                                             "  values: self_t + self\n"
                                             "  order: auto_linear\n"));
  const Model model = load(sources, Dialect::kTenon, sink);
  run_checks(model, sink);
  CHECK(sink.sorted().size() > 6);
  for (const Diagnostic& d : sink.sorted()) {
    CAPTURE(d.message);
    CHECK(d.location.to_string().starts_with("derivatives.yaml:"));
    REQUIRE(!d.notes.empty());
    CHECK(d.notes.back().location.to_string() == "native.yaml:1:3");
  }
}

}  // namespace
}  // namespace tenon::codegen
