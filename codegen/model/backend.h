#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/model/diagnostic.h"
#include "codegen/model/kernel_declarations.h"
#include "codegen/model/model.h"
#include "codegen/model/yaml.h"

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

/// Reads the file; what is wrong with it is reported in `sink`: keys, a backend other than
/// PrivateUse1, operators that do not exist, that are given twice, that are composite.
std::optional<BackendKernels> load_backend(const std::string& path, const Model& base,
                                           DiagnosticSink& sink);

/// Its kernel of an operator. Of a pointwise or structured one it computes into given tensors; of
/// others it is a function of the operator's own type.
KernelDeclaration backend_declaration(const Operator& op, const BackendKernels& kernels);

/// Mistakes of such a file that are none of its operators.
void check_backend_form(const YamlNode& root, DiagnosticSink& sink);

}  // namespace tenon::codegen
