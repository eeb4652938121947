#pragma once

#include "codegen/model/diagnostic.h"
#include "codegen/model/model.h"

/// One rule per function. A rule reports every violation at the place of the mistake and says what
/// is required; tests/codegen/bad holds a failing file and the expected message for each.
namespace tenon::codegen::rules {

/// What a rule about one entry looks at.
struct Entry {
  const Model& model;
  size_t index;
  const Operator& op;
  DiagnosticSink& sink;

  const schema::FunctionSchema& schema() const { return op.schema; }
  schema::SchemaKind kind() const { return op.schema.kind(); }
  bool has(std::string_view key) const { return op.has_key(key); }
  /// Place of a key, or of the entry where the key is absent.
  Location at_key(std::string_view key) const;
  /// A key that nobody knows may be a misspelt one: rules about missing keys keep silent then.
  bool has_unknown_key() const;
};

// words.cpp: closed lists.
void known_dispatch_key(const Entry& entry);
void known_tag(const Entry& entry);
void known_python_module(const Entry& entry);
void known_category_override(const Entry& entry);
void kernel_name(const Entry& entry);
void reserved_argument_name(const Entry& entry);
void no_default_argument(const Entry& entry);

// aliases.cpp: annotations, in-place and out schemas.
void inplace_schema(const Entry& entry);
void mutable_self(const Entry& entry);
void out_schema(const Entry& entry);
void out_base_name(const Entry& entry);
void mutable_returns(const Entry& entry);
void view_annotation(const Entry& entry);

// variants.cpp: the forms an entry asks for.
void method_needs_self(const Entry& entry);
void method_of_module(const Entry& entry);
void derivable_inplace(const Entry& entry);
void derivable_out(const Entry& entry);
void out_name_needs_out(const Entry& entry);
void out_function_only(const Entry& entry);

// computation.cpp: how an entry is computed.
void computed(const Entry& entry);
void computed_once(const Entry& entry);
void structured_schema(const Entry& entry);
void structured_dispatch(const Entry& entry);
void structured_only(const Entry& entry);
void structured_delegate(const Entry& entry);
void one_composite_key(const Entry& entry);
void pointwise_schema(const Entry& entry);
void pointwise_cases(const Entry& entry);
void promote_needs_pointwise(const Entry& entry);
void seeded_tag(const Entry& entry);

// differentiation.cpp: how an entry is differentiated.
void differentiated(const Entry& entry);
void differentiated_once(const Entry& entry);

// derivatives.cpp: entries of derivatives.yaml.
void derivative_argument(const Model& model, const Derivative& derivative, DiagnosticSink& sink);
void derivative_type(const Model& model, const Derivative& derivative, DiagnosticSink& sink);
void derivative_once(const Model& model, const Derivative& derivative, DiagnosticSink& sink);
void derivative_empty(const Model& model, const Derivative& derivative, DiagnosticSink& sink);
void derivative_kind(const Model& model, const Derivative& derivative, DiagnosticSink& sink);
void derivative_key(const Model& model, const Derivative& derivative, DiagnosticSink& sink);
void derivative_outputs(const Model& model, const Derivative& derivative, DiagnosticSink& sink);
void derivative_condition(const Model& model, const Derivative& derivative, DiagnosticSink& sink);
void derivative_of_out(const Model& model, const Derivative& derivative, DiagnosticSink& sink);

// families.cpp: operators that are forms of one another.
void one_form_per_kind(const Model& model, const Family& family, DiagnosticSink& sink);
void autogen(const Model& model, const Family& family, DiagnosticSink& sink);

// uniqueness.cpp: the model as a whole.
void unique_operators(const Model& model, DiagnosticSink& sink);
void unique_cpp_names(const Model& model, DiagnosticSink& sink);
void unique_derivatives(const Model& model, DiagnosticSink& sink);

}  // namespace tenon::codegen::rules
