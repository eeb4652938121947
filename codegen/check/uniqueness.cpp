#include <cctype>
#include <map>
#include <set>

#include "codegen/check/rules.h"

namespace tenon::codegen::rules {

void unique_operators(const Model& model, DiagnosticSink& sink) {
  struct Owner {
    const Operator* op;
    bool derived;
  };
  std::map<std::string, Owner> seen;
  std::set<const Operator*> repeated;  // so are the forms derived from them, without saying so
  const auto claim = [&](const Operator& op, const VariantSchema& variant) {
    const std::string name = variant.schema.qualified_name();
    const auto [before, is_new] = seen.try_emplace(name, Owner{&op, variant.derived});
    if (is_new || repeated.contains(&op)) return;
    if (!variant.derived) repeated.insert(&op);
    const auto origin = [](bool derived) { return derived ? " derived" : ""; };
    sink.report({Severity::kError,
                 variant.derived ? op.variants_location : op.location,
                 "operator `" + name + "` is declared twice",
                 {{before->second.derived ? before->second.op->variants_location
                                          : before->second.op->location,
                   std::string("the first is") + origin(before->second.derived) + " here"}},
                 {}});
  };
  // Entries claim their names before derived forms do, whatever the order of the files.
  for (const bool derived : {false, true}) {
    for (size_t i = 0; i < model.operators().size(); ++i) {
      for (const VariantSchema& variant : model.variants(i)) {
        if (variant.derived == derived) claim(model.operators()[i], variant);
      }
    }
  }
}

// Headers are found in file systems that do not tell `Add.h` from `add.h`.
void distinct_headers(const Model& model, DiagnosticSink& sink) {
  std::map<std::string, const Operator*> seen;
  for (const Operator& op : model.operators()) {
    const std::string name = op.schema.ns + "::" + op.base_name();
    std::string lower = name;
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const auto [before, is_new] = seen.try_emplace(lower, &op);
    const Operator& other = *before->second;
    if (is_new || other.schema.ns + "::" + other.base_name() == name) continue;
    sink.report({Severity::kError,
                 op.location,
                 "`" + op.name() + "` and `" + other.name() + "` differ by case alone",
                 {{other.location, "the other is here"}},
                 {}});
  }
}

// `ops::add_Tensor` of add.Tensor: a name and its overload are joined, so that `f_a.b` and `f.a_b`
// would meet.
void unique_cpp_names(const Model& model, DiagnosticSink& sink) {
  struct Owner {
    std::string name;
    const Operator* op;
  };
  std::map<std::string, Owner> seen;
  for (size_t i = 0; i < model.operators().size(); ++i) {
    const Operator& op = model.operators()[i];
    for (const VariantSchema& variant : model.variants(i)) {
      const schema::FunctionSchema& schema = variant.schema;
      const std::string name = schema.qualified_name();
      std::string cpp_name = schema.ns + "::" + schema.name;
      if (!schema.overload.empty()) cpp_name += "_" + schema.overload;
      const auto [before, is_new] = seen.try_emplace(cpp_name, Owner{name, &op});
      if (is_new || before->second.name == name) continue;
      sink.report({Severity::kError,
                   variant.derived ? op.variants_location : op.location,
                   "`" + name + "` and `" + before->second.name + "` have the same name in C++",
                   {{before->second.op->location, "the other is here"}},
                   {}});
    }
  }
}

void unique_derivatives(const Model& model, DiagnosticSink& sink) {
  std::map<std::string, const Derivative*> seen;
  for (const Derivative& derivative : model.derivatives()) {
    const std::string name = derivative.schema.qualified_name();
    const auto [before, is_new] = seen.try_emplace(name, &derivative);
    if (is_new) continue;
    sink.report({Severity::kError,
                 derivative.location,
                 "a second derivative for `" + name + "`",
                 {{before->second->location, "the first is here"}},
                 {}});
  }
}

}  // namespace tenon::codegen::rules
