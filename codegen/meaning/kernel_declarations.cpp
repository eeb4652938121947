#include "codegen/meaning/kernel_declarations.h"

#include <algorithm>

#include "codegen/meaning/cpp_names.h"
#include "codegen/meaning/defaults.h"

namespace tenon::codegen {
namespace {

void replace_all(std::string& text, const std::string& what, const std::string& with) {
  for (size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

}  // namespace

bool is_target(const std::string& key, const Targets& targets) {
  if (key == "CUDA") return targets.cuda;
  return key == "CPU" || key == "Meta" || key == "PrivateUse1";
}

std::string meta_name(const Operator& op) { return cpp_identifier(op.schema) + "_meta"; }

std::string composite_name(const Operator& op) {
  if (const DispatchEntry* entry = op.find_dispatch("CompositeExplicit")) return entry->kernel;
  if (const DispatchEntry* entry = op.find_dispatch("CompositeImplicit")) return entry->kernel;
  return kernel_name(op.schema, "Composite");
}

std::vector<std::string> output_names(const schema::FunctionSchema& schema) {
  std::vector<std::string> names;
  for (size_t i = 0; i < schema.returns.size(); ++i) {
    const std::string& name = schema.returns[i].name;
    names.push_back(!name.empty()                ? name
                    : schema.returns.size() == 1 ? "out"
                                                 : "out" + std::to_string(i));
  }
  return names;
}

std::vector<KernelDeclaration> kernel_declarations(const Operator& op, const Targets& targets) {
  std::vector<KernelDeclaration> declarations;
  const auto add = [&](KernelDeclaration declaration) {
    const bool seen =
        std::any_of(declarations.begin(), declarations.end(),
                    [&](const KernelDeclaration& one) { return one.name == declaration.name; });
    if (seen) return;
    declaration.signature = kernel_signature(op.schema, declaration);
    declarations.push_back(std::move(declaration));
  };
  const bool generated =
      op.as<Pointwise>() || op.as<Update>() || op.as<Rowwise>() || op.overload_set();
  if (op.check && (generated || op.composition()))
    add({op.check->text, DeclarationKind::kCheck, "Meta", {}, {}, {}});
  if (generated) return declarations;
  if (op.is<Structured>()) {
    const size_t n = op.schema.returns.size();
    const std::string result =
        n == 1 ? "tenon::TensorSpec" : "std::array<tenon::TensorSpec, " + std::to_string(n) + ">";
    add({meta_name(op), DeclarationKind::kMeta, "Meta", result, {}, {}});
  } else if (op.is_composite() && !op.composition()) {
    add({composite_name(op), DeclarationKind::kFunction, "composite", {}, {}, {}});
  }
  for (const DispatchEntry& entry : op.dispatch) {
    if (!is_target(entry.key, targets)) continue;
    if (op.is<Structured>()) {
      add({entry.kernel, DeclarationKind::kStructured, entry.key, {}, output_names(op.schema), {}});
    } else {
      add({entry.kernel, DeclarationKind::kFunction, entry.key, {}, {}, {}});
    }
  }
  return declarations;
}

std::string kernel_signature(const schema::FunctionSchema& schema,
                             const KernelDeclaration& declaration) {
  std::string text;
  switch (declaration.kind) {
  case DeclarationKind::kMeta: text = declaration.result; break;
  case DeclarationKind::kFunction: text = cpp_return_type(schema); break;
  case DeclarationKind::kStructured:
  case DeclarationKind::kCheck: text = "void"; break;
  }
  text += " native::" + declaration.name + "(";
  const char* comma = "";
  for (const schema::Argument& argument : schema.args) {
    text += comma + cpp_parameter_type(argument) + " " + argument.name;
    comma = ", ";
  }
  for (const std::string& out : declaration.outputs) text += ", const tenon::Tensor& " + out;
  text += ")";
  replace_all(text, "::std::", "std::");
  if (schema.ns.empty() || schema.ns == "aten") replace_all(text, "tenon::", "");
  return text;
}

}  // namespace tenon::codegen
