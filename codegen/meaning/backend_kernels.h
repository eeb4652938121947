#pragma once

#include <string>
#include <vector>

#include "codegen/meaning/kernel_declarations.h"

namespace tenon::codegen {

/// A file that names operators, of a library that exists, for which a backend outside it has
/// kernels:
///     backend: PrivateUse1
///     cpp_namespace: toy
///     supported: [add.Tensor, mm]
struct BackendKernels {
  struct Supported {
    LocatedName name;
    size_t op;  ///< index into the base model's operators()
  };
  std::string file;
  std::string backend;
  std::string cpp_namespace;
  std::vector<Supported> supported;
};

/// Its kernel of an operator. Of a pointwise or structured one it computes into given tensors; of
/// others it is a function of the operator's own type.
KernelDeclaration backend_declaration(const Operator& op, const BackendKernels& kernels);

}  // namespace tenon::codegen
