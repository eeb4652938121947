#include "codegen/emit/backend.h"

#include <map>

#include "codegen/emit/ir.h"
#include "codegen/model/cpp_types.h"
#include "codegen/model/kernel_declarations.h"
#include "codegen/schema/suggest.h"

namespace tenon::codegen {
namespace {

Json emit_operator(const Model& base, const BackendKernels& kernels, size_t index) {
  const Operator& op = base.operators()[index];
  const bool into = op.pointwise || op.rowwise || op.structured;
  const std::string kernel = cpp_identifier(op.schema) + "_" + kernels.cpp_namespace;
  Json declaration = {
      {"name", kernel}, {"kind", into ? "structured" : "function"}, {"backend", kernels.backend}};
  if (into) declaration["outputs"] = output_names(op.schema);
  Json forms = Json::array();
  for (const VariantSchema& form : base.variants(index)) {
    // Other derived forms call the functional one.
    if (form.derived && !into) continue;
    forms.push_back(emit_form(op, form));
  }
  return {{"name", op.name()},
          {"ident", cpp_identifier(op.schema)},
          {"base", op.schema.base_name()},
          {"into", into},
          {"kernel", kernel},
          {"declarations", Json::array({declaration})},
          {"node", nullptr},
          {"forms", forms}};
}

}  // namespace

Json emit_backend(const BackendKernels& kernels, const Model& base) {
  Json operators = Json::array();
  Json files = Json::array();
  std::map<std::string, std::vector<size_t>> by_base;
  std::vector<size_t> all;
  for (const auto& supported : kernels.supported) {
    by_base[base.operators()[supported.op].base_name()].push_back(operators.size());
    all.push_back(operators.size());
    operators.push_back(emit_operator(base, kernels, supported.op));
  }
  const std::string& ns = kernels.cpp_namespace;
  for (const auto& [name, members] : by_base) {
    files.push_back({{"path", ns + "/native/" + name + ".h"},
                     {"template", "native.h.j2"},
                     {"operators", members},
                     {"base", name},
                     {"namespace", ns}});
  }
  files.push_back(
      {{"path", "backend_" + ns + ".cpp"}, {"template", "backend.cpp.j2"}, {"operators", all}});
  return {{"version", kIrVersion},
          {"library", ns},
          {"in_tree", false},
          {"cuda", false},
          {"backend", {{"key", kernels.backend}, {"namespace", ns}}},
          {"operators", std::move(operators)},
          {"files", std::move(files)}};
}

void check_backend_kernels(const BackendKernels& kernels, const Json& ir,
                           const KernelSources& sources, DiagnosticSink& sink) {
  std::vector<std::string> defined;
  for (const auto& [name, place] : sources.qualified()) defined.push_back(name);
  for (size_t i = 0; i < kernels.supported.size(); ++i) {
    const Json& op = ir["operators"][i];
    const std::string name = op["kernel"];
    if (sources.qualified().contains(name)) continue;
    Diagnostic error;
    error.location = kernels.supported[i].name.location;
    error.message = "kernel '" + name + "' is not defined; expected in one of the kernel files: `" +
                    kernel_signature(op["forms"][0], op["declarations"][0]) + "`";
    if (sources.unqualified().contains(name)) {
      error.message +=
          "; it is defined without `native::`, so that its signature would not be checked";
    } else {
      error.suggestion = schema::nearest(name, defined);
    }
    sink.report(std::move(error));
  }
}

}  // namespace tenon::codegen
