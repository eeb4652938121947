#include "codegen/meaning/backend_kernels.h"

#include "codegen/meaning/cpp_names.h"

namespace tenon::codegen {

KernelDeclaration backend_declaration(const Operator& op, const BackendKernels& kernels) {
  KernelDeclaration declaration;
  declaration.name = cpp_identifier(op.schema) + "_" + kernels.cpp_namespace;
  declaration.backend = kernels.backend;
  if (op.as<Pointwise>() || op.as<Rowwise>() || op.is<Structured>()) {
    declaration.kind = DeclarationKind::kStructured;
    declaration.outputs = output_names(op.schema);
  }
  declaration.signature = kernel_signature(op.schema, declaration);
  return declaration;
}

}  // namespace tenon::codegen
