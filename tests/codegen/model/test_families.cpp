// Families, generated forms and inherited derivatives on small files; test_upstream.cpp compares
// them with torchgen's on all of upstream's.

#include <algorithm>

#include <catch2/catch.hpp>

#include "codegen/model/signature.h"
#include "codegen/schema/parser.h"
#include "codegen/schema/printer.h"
#include "tests/codegen/model/read_text.h"

namespace tenon::codegen {
namespace {

using Names = std::vector<std::string>;

schema::FunctionSchema parse(const std::string& text) {
  const schema::ParseResult result = schema::parse_schema(text);
  REQUIRE(result.ok());
  return *result.schema;
}

std::string signature_text(const std::string& text) {
  return schema::to_string(signature(parse(text)));
}

TEST_CASE("forms of one operator have one signature", "[model][family]") {
  const std::string wanted = "f(Tensor self, Tensor other, *, int n) -> Tensor";
  for (const char* form :
       {"f.Tensor(Tensor self, Tensor other, *, int n=1) -> Tensor",
        "f_.Tensor(Tensor(a!) self, Tensor other, *, int n=2) -> Tensor(a!)",
        "f.out(Tensor self, Tensor other, *, int n=1, Tensor(a!) out) -> Tensor(a!)",
        "f_functional(Tensor self, Tensor other, *, int n) -> Tensor values"}) {
    CHECK(signature_text(form) == wanted);
  }
  // What is written and not returned is a result all the same.
  CHECK(signature_text("g(Tensor self, Tensor(a!) state) -> Tensor") ==
        "g(Tensor self, Tensor state) -> (Tensor, Tensor)");
  CHECK(signature_text("h_(Tensor(a!)[] self) -> ()") == "h(Tensor[] self) -> Tensor[]");
  CHECK(signature_text("make(int n, *, ScalarType? dtype=None, Layout? layout=None, Device? "
                       "device=None, bool? pin_memory=None) -> Tensor") ==
        signature_text("make.out(int n, *, Tensor(a!) out) -> Tensor(a!)"));
  CHECK(signature_text("__iand__(Tensor(a!) self, Tensor other) -> Tensor(a!)") ==
        signature_text("__and__(Tensor self, Tensor other) -> Tensor"));
  CHECK(signature_text("and(Tensor self, Tensor other) -> Tensor") !=
        signature_text("__and__(Tensor self, Tensor other) -> Tensor"));
  CHECK(schema::to_string(view_signature(parse("select_copy.int(Tensor self, int i) -> Tensor"))) ==
        signature_text("select.int(Tensor(a) self, int i) -> Tensor(a)"));
}

TEST_CASE("forms that autogen makes", "[model][family]") {
  const auto functional = [](const char* text) {
    return schema::to_string(autogen_functional(parse(text)));
  };
  const auto out = [](const char* text) {
    const auto made = autogen_out(parse(text));
    return made ? schema::to_string(*made) : "none";
  };
  CHECK(functional("f_.x(Tensor(a!) self, int n=1) -> Tensor(a!)") ==
        "f.x(Tensor self, int n=1) -> Tensor");
  CHECK(functional("f(Tensor self, Tensor(a!) mean, Tensor(b!) var) -> (Tensor output, Tensor)") ==
        "f_functional(Tensor self, Tensor mean, Tensor var) -> (Tensor output, Tensor, Tensor "
        "mean_out, Tensor var_out)");
  CHECK(out("f_.x(Tensor(a!) self, int n=1) -> Tensor(a!)") ==
        "f.x_out(Tensor self, int n=1, *, Tensor(a!) out) -> Tensor(a!)");
  CHECK(out("f(Tensor self, Tensor(a!) mean) -> (Tensor, Tensor)") ==
        "f.out(Tensor self, Tensor(a!) mean, *, Tensor(b!) out0, Tensor(c!) out1) -> (Tensor(b!), "
        "Tensor(c!))");
  CHECK(out("f(Tensor self) -> (Tensor values, int n)") ==
        "f.out(Tensor self, *, Tensor(a!) out0) -> int n");
  CHECK(out("f(Tensor self) -> Tensor[]") == "f.out(Tensor self, *, Tensor(a!)[] out) -> ()");
  CHECK(out("f(Tensor self) -> int") == "none");
}

// Forms of the family of the first entry: "name", "name (variant)", "name (generated)".
Names first_family(const Model& model) {
  Names names;
  for (const Form& form : model.families().at(0).forms) {
    names.push_back(form.schema.qualified_name());
    if (form.origin == Form::Origin::kVariant) names.back() += " (variant)";
    if (form.origin == Form::Origin::kGenerated) names.back() += " (generated)";
  }
  return names;
}

TEST_CASE("families hold entries, variants and generated forms", "[model][family]") {
  Read read = read_text("- func: f.Tensor(Tensor self, Tensor other) -> Tensor\n"
                        "  variants: function, method, inplace, out\n  pointwise: self + other\n"
                        "- func: g(Tensor self) -> Tensor\n  composite: implicit\n");
  CHECK(read.messages == "");
  CHECK(read.model.families().size() == 2);
  CHECK(first_family(read.model) ==
        Names{"f.Tensor", "f_.Tensor (variant)", "f.Tensor_out (variant)"});

  read = read_text("- func: f_(Tensor(a!) self) -> Tensor(a!)\n  dispatch: {CPU: f_cpu_}\n"
                   "  autogen: f, f.out\n  non_differentiable: True\n");
  CHECK(read.messages == "");
  CHECK(first_family(read.model) == Names{"f_", "f", "f.out (variant)"});
}

TEST_CASE("autogen asks for the functional form of what writes", "[model][family]") {
  const auto forms = [](const std::string& schema, const std::string& autogen) {
    const Read read =
        read_text("- func: " + schema + "\n  dispatch: {CPU: kernel_cpu}\n  autogen: " + autogen +
                  "\n  non_differentiable: True\n");
    Names made = {read.messages};
    for (size_t i = 1; i < read.model.operators().size(); ++i) {
      const Operator& op = read.model.operators()[i];
      for (const VariantSchema& form : read.model.variants(i))
        made.push_back(schema::to_string(form.schema));
      made.push_back(op.composition()->text.text);
      CHECK(op.has_tag("generated"));
    }
    return made;
  };
  CHECK(forms("f_.x(Tensor(a!) self, Tensor? w) -> Tensor(a!)", "f.x") ==
        Names{"", "f.x(Tensor self, Tensor? w) -> Tensor",
              "[&]() { auto self_copy_ = self.clone(); const auto results_ = f_(self_copy_, w); "
              "return results_; }()"});
  CHECK(forms("f(Tensor x, Tensor(a!) mean, Tensor(b!) var, float p) -> Tensor", "f_functional") ==
        Names{"",
              "f_functional(Tensor x, Tensor mean, Tensor var, float p) -> (Tensor, Tensor "
              "mean_out, Tensor var_out)",
              "[&]() { auto mean_copy_ = mean.clone(); auto var_copy_ = var.clone(); "
              "const auto results_ = f(x, mean_copy_, var_copy_, p); "
              "return std::make_tuple(results_, mean_copy_, var_copy_); }()"});
  CHECK(forms("f(Tensor x, Tensor(a!) y) -> (Tensor, Tensor)", "f_functional")[2] ==
        "[&]() { auto y_copy_ = y.clone(); const auto results_ = f(x, y_copy_); return "
        "std::make_tuple(std::get<0>(results_), std::get<1>(results_), y_copy_); }()");
  CHECK(forms("f(Tensor(a!) x, Tensor(b!) y) -> ()", "f_functional")[2] ==
        "[&]() { auto x_copy_ = x.clone(); auto y_copy_ = y.clone(); f(x_copy_, "
        "y_copy_); return std::make_tuple(x_copy_, y_copy_); }()");
  // There would be nothing to return.
  CHECK(forms("f(Tensor x, Tensor(a!)? y) -> Tensor", "f_functional").size() == 1);
  CHECK(forms("f(Tensor x, Tensor(a!)? y) -> Tensor", "f_functional")[0] != "");
}

TEST_CASE("autogen asks for the out form of what returns new tensors", "[model][family]") {
  const Read read = read_text("- func: f.x(Tensor self) -> Tensor\n  dispatch: {CPU: f_cpu}\n"
                              "  autogen: f.x_out\n  non_differentiable: True\n");
  CHECK(read.messages == "");
  CHECK(first_family(read.model) == Names{"f.x", "f.x_out (variant)"});
}

TEST_CASE("views have a form that copies", "[model][family]") {
  const Read read =
      read_text("- func: v.x(Tensor(a) self, int n=1) -> Tensor(a)\n  dispatch: {CPU: v_cpu}\n"
                "  non_differentiable: True\n"
                "- func: w(Tensor(a -> *) self) -> Tensor(a)[]\n  composite: explicit\n"
                "  non_differentiable: True\n"
                "- func: w_copy(Tensor self) -> Tensor[]\n  composite: explicit\n"
                "  non_differentiable: True\n"
                "- func: made(Tensor(a) self) -> Tensor(a)\n  composite: implicit\n");
  CHECK(read.messages == "");
  Names schemas;
  for (const Operator& op : read.model.operators()) schemas.push_back(schema::to_string(op.schema));
  CHECK(schemas == Names{"v.x(Tensor(a) self, int n=1) -> Tensor(a)",
                         "w(Tensor(a -> *) self) -> Tensor(a)[]", "w_copy(Tensor self) -> Tensor[]",
                         "made(Tensor(a) self) -> Tensor(a)",
                         "v_copy.x(Tensor self, int n=1) -> Tensor"});
  CHECK(read.model.operators().back().has_tag("view_copy"));
}

TEST_CASE("who inherits which derivative", "[model][family]") {
  const Read read =
      read_text("- func: f(Tensor self) -> Tensor\n  dispatch:\n    CPU: f\n"
                "- func: f_(Tensor(a!) self) -> Tensor(a!)\n  dispatch:\n    CPU: f_\n"
                "- func: _foreach_f(Tensor[] self) -> Tensor[]\n  dispatch:\n    CPU: ff\n"
                "  device_check: NoCheck\n"
                "- func: v(Tensor(a) self) -> Tensor(a)\n  dispatch:\n    CPU: v\n"
                "- func: v_copy(Tensor self) -> Tensor\n  dispatch:\n    CPU: v\n"
                "  tags: view_copy\n",
                "- name: f(Tensor self) -> Tensor\n  self: grad\n"
                "- name: v(Tensor(a) self) -> Tensor(a)\n  self: grad\n",
                Dialect::kUpstream);
  CHECK(read.messages == "");
  Names inherited;
  for (const InheritedDerivative& one : read.model.inherited()) {
    inherited.push_back(one.form->schema.name + " from " + one.derivative->schema.name);
  }
  std::sort(inherited.begin(), inherited.end());
  CHECK(inherited == Names{"_foreach_f from f", "f_ from f", "v_copy from v"});
}

}  // namespace
}  // namespace tenon::codegen
