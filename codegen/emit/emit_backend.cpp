#include "codegen/emit/emit_backend.h"

#include <map>

#include "codegen/emit/emit_form.h"
#include "codegen/meaning/cpp_names.h"

namespace tenon::codegen {
namespace {

ir::Entry emit_operator(const Model& base, const BackendKernels& kernels, size_t index) {
  const Operator& op = base.operators()[index];
  const bool into = op.as<Pointwise>() || op.as<Rowwise>() || op.is<Structured>();
  ir::Entry entry;
  entry.name = op.name();
  entry.ident = cpp_identifier(op.schema);
  entry.base = op.schema.base_name();
  entry.declarations = {backend_declaration(op, kernels)};
  entry.device_kernel = {entry.declarations[0].name, into};
  for (const VariantSchema& form : base.variants(index)) {
    // Other derived forms call the functional one.
    if (form.derived && !into) continue;
    entry.forms.push_back(emit_form(op, form));
  }
  return entry;
}

}  // namespace

ir::Library emit_backend(const BackendKernels& kernels, const Model& base) {
  ir::Library library;
  const std::string& ns = kernels.cpp_namespace;
  library.name = ns;
  library.backend = {kernels.backend, ns};
  std::map<std::string, std::vector<size_t>> by_base;
  std::vector<size_t> all;
  for (const auto& supported : kernels.supported) {
    by_base[base.operators()[supported.op].base_name()].push_back(library.operators.size());
    all.push_back(library.operators.size());
    library.operators.push_back(emit_operator(base, kernels, supported.op));
  }
  for (const auto& [name, members] : by_base) {
    ir::File& file = library.files.emplace_back();
    file.path = ns + "/native/" + name + ".h";
    file.template_name = "native.h.j2";
    file.operators = members;
    file.base = name;
    file.cpp_namespace = ns;
  }
  ir::File& registration = library.files.emplace_back();
  registration.path = "backend_" + ns + ".cpp";
  registration.template_name = "backend.cpp.j2";
  registration.operators = all;
  return library;
}

}  // namespace tenon::codegen
