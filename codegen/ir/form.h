#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "codegen/ir/place.h"
#include "codegen/ir/python.h"
#include "codegen/schema/fields.h"
#include "codegen/schema/function_schema.h"

namespace tenon::codegen::ir {

/// An argument with its C++ types.
struct Argument {
  std::string name;
  std::string type;   ///< of the parameter
  std::string owned;  ///< holds the value
  std::string default_text;
  std::string schema_type;
  bool is_tensor = false;
  bool is_optional_tensor = false;
  bool is_tensor_list = false;
  bool is_mutable = false;
  bool kwarg_only = false;
  TENON_FIELDS(name, type, owned, default_text, schema_type, is_tensor, is_optional_tensor,
               is_tensor_list, is_mutable, kwarg_only)
};

struct Parameter {
  std::string name;
  std::string type;
  std::string default_text;
  TENON_FIELDS(name, type, default_text)
};

/// The public function: outputs first, TensorOptions folded.
struct Api {
  std::vector<Parameter> parameters;
  std::vector<std::string> call;  ///< the arguments of `ops::X::call` in terms of these
  bool has_options = false;
  TENON_FIELDS(parameters, call, has_options)
};

struct Return {
  std::string name;
  bool is_tensor = false;
  bool is_tensor_list = false;
  bool is_mutable = false;
  TENON_FIELDS(name, is_tensor, is_tensor_list, is_mutable)
};

enum class ThunkKind : uint8_t {
  kPointwise,
  kPointwiseMixed,
  kUpdate,
  kUpdateComposed,
  kRowwise,
  kRowwiseComposed,
  kComposition,
  kForeach,
  kStructured,
  kDirect,
  kInplaceFromFunctional,
  kOutFromFunctional
};

/// A function of the operators' source file that runs a form on some backends.
struct Thunk {
  std::string symbol;
  ThunkKind kind = ThunkKind::kDirect;
  std::string kernel;        ///< kDirect, kStructured: hand-written; of the latter empty for Meta
  std::string meta;          ///< kStructured: gives the shapes
  std::string functional;    ///< what a derived form calls
  bool owns_result = false;  ///< kDirect, kComposition: the result is no view of what was given
  bool like_out = false;     ///< kOutFromFunctional: dtype and device are out's, if none are given
  bool any_shape = false;  ///< kOutFromFunctional: out keeps its shape, if it has as many elements
  TENON_FIELDS(symbol, kind, kernel, meta, functional, owns_result, like_out, any_shape)
};

struct Dispatch {
  std::vector<Thunk> thunks;
  std::vector<std::pair<std::string, std::string>> table;  ///< slot and symbol
  TENON_FIELDS(thunks, table)
};

/// How a form is recorded.
struct Autograd {
  schema::SchemaKind kind = schema::SchemaKind::kFunctional;  ///< or kInplace, kOut
  bool differentiable = false;
  bool changes_geometry = false;  ///< kInplace: of its memory, not its elements
  std::string constant;           ///< kInplace: the node that gives zeros, or empty
  TENON_FIELDS(kind, differentiable, changes_geometry, constant)
};

/// The form that an alias's form calls.
struct FormName {
  std::string ident;
  std::string name;
  TENON_FIELDS(ident, name)
};

/// One schema, an entry's own or derived from it.
struct Form {
  std::string ident, name, base, overload;
  std::string schema_namespace;  ///< `aten` unless the schema has one
  std::string error_name;        ///< what errors call it: `add_`, `mine::add_`
  std::string schema;
  Place place;
  schema::SchemaKind kind = schema::SchemaKind::kFunctional;
  bool derived = false;
  bool method = false;
  bool function = false;
  std::vector<Argument> arguments;
  Api api;
  std::vector<std::string> outs;
  std::vector<Return> returns;
  std::string return_type;
  std::vector<std::string> keys;  ///< C++ expressions whose key sets decide the dispatch
  bool is_view = false;
  std::string group, group_name;  ///< `fft` and `ifft` of fft_ifft: C++ also has fft::ifft

  // Not in a document of a device's kernels.
  std::optional<FormName> of;
  Dispatch dispatch;
  std::optional<Autograd> autograd;     ///< empty: calls pass the layer by
  std::optional<std::string> batching;  ///< how it runs on batched tensors (emit_batching.h)
  std::string cpp_namespace;
  std::optional<PythonCall> python;  ///< not in the document: files of Python's module have it
  TENON_FIELDS(ident, name, base, overload, schema_namespace, error_name, schema, place, kind,
               derived, method, function, arguments, api, outs, returns, return_type, keys, is_view,
               group, group_name, of, dispatch, autograd, batching, cpp_namespace)
};

}  // namespace tenon::codegen::ir
