#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/model/operator.h"

namespace tenon::codegen {

/// A schema that an entry gives rise to.
struct VariantSchema {
  schema::FunctionSchema schema;
  schema::SchemaKind kind = schema::SchemaKind::kFunctional;
  bool derived = false;  // false: it is the schema of the entry itself
  bool method = false;   // also a method of Tensor
  bool function = true;  // also a function of the namespace
};

/// The entry's own schema first, then the derived in-place and out forms it asks for. A derived
/// in-place form is a function, and a method where self is a Tensor, a derived out form a function.
/// Forms that cannot be derived (no self, returns that are no tensors) are left out; codegen/check
/// reports them.
std::vector<VariantSchema> variant_schemas(const Operator& op);

/// `foo_(Tensor(a!) self, ...) -> Tensor(a!)` of a functional `foo(Tensor self, ...) -> Tensor`,
/// `__iand__` of `__and__`. Empty where the schema has no such form.
std::optional<schema::FunctionSchema> derive_inplace(const schema::FunctionSchema& functional);

/// Out form: one more keyword-only argument for each return, `out` for a sole unnamed return, else
/// the names of the returns, else out0, out1, ...; `overload` names it. Where a return
/// is a list of tensors nothing is returned. Empty where a return holds no tensor.
std::optional<schema::FunctionSchema> derive_out(const schema::FunctionSchema& functional,
                                                 const std::string& overload);

/// Overload name of the derived out form: `out_name`, else "out" for an empty overload, else
/// "<overload>_out".
std::string out_overload(const Operator& op);

}  // namespace tenon::codegen
