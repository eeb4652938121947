#pragma once

#include <string>
#include <vector>

#include "codegen/model/operator.h"
#include "codegen/schema/fields.h"

namespace tenon::codegen {

/// Backends for which kernels are generated and declared, in the order of their table slots.
struct Targets {
  bool cuda = false;
};

/// Whether a `dispatch` key is one of a target.
bool is_target(const std::string& key, const Targets& targets);

enum class DeclarationKind : uint8_t {
  kFunction,    ///< has the form's signature
  kMeta,        ///< gives the shapes of a structured operator's results
  kStructured,  ///< computes into given outputs
  kCheck        ///< checks the values of the arguments
};

/// A hand-written function that an entry expects, to be declared for its author.
struct KernelDeclaration {
  std::string name;
  DeclarationKind kind = DeclarationKind::kFunction;
  std::string backend;
  std::string result;                ///< kMeta: C++ type
  std::vector<std::string> outputs;  ///< kStructured: names of the outputs
  /// How it is defined: "void native::mm_cpu(const Tensor& self, ...)", as it is written in the
  /// operator's namespace.
  std::string signature;
  TENON_FIELDS(name, kind, backend, result, outputs, signature)
};

/// Those of the entry, each name once.
std::vector<KernelDeclaration> kernel_declarations(const Operator& op, const Targets& targets);

/// "mm_meta", of a structured operator.
std::string meta_name(const Operator& op);

/// The function of an operator that is made of others.
std::string composite_name(const Operator& op);

/// Names of the output parameters of a kernel that computes into given tensors.
std::vector<std::string> output_names(const schema::FunctionSchema& schema);

/// The signature of a declaration that has all else; `schema` is the entry's own.
std::string kernel_signature(const schema::FunctionSchema& schema,
                             const KernelDeclaration& declaration);

}  // namespace tenon::codegen
