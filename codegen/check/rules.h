#pragma once

#include "codegen/check/calls.h"
#include "codegen/meaning/differentiability.h"
#include "codegen/model/model.h"
#include "codegen/yaml/diagnostic.h"

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

/// What a rule looks at that needs no schema, and so holds for entries without a readable one.
struct Keys {
  const Model& model;
  const Operator& op;
  DiagnosticSink& sink;
};

/// What a rule about the formulas of one set looks at.
struct FormulaContext {
  const Model& model;
  const Operator& op;
  const Derivative& derivative;
  const FormulaSet& set;
  const Differentiability& analysis;
  const CallChecker& calls;
  DiagnosticSink& sink;

  /// At a byte of the formula's text, with a note at the operator.
  void error(const Formula& formula, size_t offset, std::string message,
             std::string suggestion = {}) const;
};

using KeysRule = void (*)(const Keys& entry);
using EntryRule = void (*)(const Entry& entry);
using FamilyRule = void (*)(const Model& model, const Family& family, DiagnosticSink& sink);
using DerivativeRule = void (*)(const Model& model, const Derivative& derivative,
                                DiagnosticSink& sink);
using CallsRule = void (*)(const Model& model, const CallChecker& calls, DiagnosticSink& sink);
using FormulaRule = void (*)(const FormulaContext& context);
using ModelRule = void (*)(const Model& model, DiagnosticSink& sink);

/// Something wrong with a schema.
struct SchemaProblem {
  schema::Span span;
  std::string message;
};
/// What an out schema gets wrong about its out arguments and returns.
std::vector<SchemaProblem> out_problems(const schema::FunctionSchema& schema);

/// A word that is not in its list: upstream adds tags and dispatch keys with every release, so
/// there it is a warning.
void unknown_word(const Model& model, DiagnosticSink& sink, Location location,
                  const std::string& message, const std::string& suggestion);
/// An entry of the same base name was left out, so that rules about missing forms keep silent.
bool lacks_form(const Model& model, const Family& family);
/// An in-place name of what does not write to self, of which inplace_schema alone speaks.
bool lacks_write(const schema::FunctionSchema& schema);
/// A formula is for a name that the schema does not have, and may be meant for one that it has:
/// rules about missing formulas keep silent then.
bool has_unknown_input(const FormulaSet& set, const schema::FunctionSchema& schema);
/// "a keyword of C++" and the like of what can name no local of a composition; empty for others.
std::string why_no_local(const std::string& name);
/// The formula gives a gradient for this argument.
bool contains_input(const FormulaContext& context, std::string_view name);
/// Names that every formula of the dialect may use.
std::vector<std::string> formula_constants(const FormulaContext& context);

// words.cpp: closed lists.
void known_dispatch_key(const Keys& entry);
void known_tag(const Keys& entry);
void known_python_module(const Keys& entry);
void known_category_override(const Keys& entry);
void kernel_name(const Keys& entry);
void identifier_keys(const Keys& entry);
void no_default_argument(const Entry& entry);

// cpp_names.cpp, cpp_types.cpp: what the C++ compiler would not take.
/// Of several results of `pointwise`, those that it has no expression for.
std::vector<std::string> results_without_expression(const Operator& op);
void reserved_argument_name(const Entry& entry);
void reserved_operator_name(const Entry& entry);
void generated_name(const Entry& entry);
void output_parameter(const Entry& entry);
void cpp_type(const Entry& entry);
void distinct_overloads(const Model& model, DiagnosticSink& sink);

// schemas.cpp: schemas that parse and yet are wrong.
void alias_sets(const Entry& entry);
void annotated_type(const Entry& entry);
void mutable_before_self(const Entry& entry);
void returned_argument(const Entry& entry);
void tensor_options(const Entry& entry);
void functional_overload(const Entry& entry);
void dunder_name(const Entry& entry);

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
void check_needs_expression(const Entry& entry);
void batched_needs_kernel(const Entry& entry);
void fuse_needs_composition(const Entry& entry);
void rowwise_keys(const Entry& entry);
void rowwise_schema(const Entry& entry);
void rowwise_expression(const Entry& entry);
void seeded_tag(const Entry& entry);

// expressions.cpp: what the expressions of `pointwise` say.
void pointwise_expression(const Entry& entry);
void pointwise_arguments(const Entry& entry);
void pointwise_dtypes(const Entry& entry);
void pointwise_outputs(const Entry& entry);
void random_expression(const Entry& entry);
void derivable_expression(const Entry& entry);

// update.cpp: `pointwise` of a schema that writes arguments.
void update_schema(const Entry& entry);
void update_expression(const Entry& entry);

// compositions.cpp: `composite` as an expression.
void composition(const Model& model, const CallChecker& calls, DiagnosticSink& sink);

// other_names.cpp: `alias`.
void alias_target(const Entry& entry);

// definitions.cpp: functions of expressions.
void definition(const Model& model, DiagnosticSink& sink);

// tables.cpp: keys with a language of their own.
void precomputed_lines(const Entry& entry);
void ufunc_loops(const Entry& entry);
void manual_registration(const Entry& entry);

// upstream.cpp: conventions of upstream's files alone.
void structured_out(const Entry& entry);
void delegated_kernel(const Entry& entry);
void redundant_dispatch(const Entry& entry);
void explicit_factory(const Entry& entry);
void foreach_device_check(const Entry& entry);
void structured_family(const Model& model, const Family& family, DiagnosticSink& sink);
void view_copies(const Model& model, DiagnosticSink& sink);

// differentiation.cpp: how an entry is differentiated.
void differentiated(const Entry& entry);
void differentiated_once(const Entry& entry);

// families.cpp: operators that are forms of one another.
void one_form_per_kind(const Model& model, const Family& family, DiagnosticSink& sink);
void autogen(const Model& model, const Family& family, DiagnosticSink& sink);
void functional_form(const Model& model, const Family& family, DiagnosticSink& sink);
void inplace_view(const Entry& entry);

// derivatives.cpp: entries of derivatives.yaml.
void derivative_argument(const Model& model, const Derivative& derivative, DiagnosticSink& sink);
void derivative_type(const Model& model, const Derivative& derivative, DiagnosticSink& sink);
void derivative_once(const Model& model, const Derivative& derivative, DiagnosticSink& sink);
void derivative_missing(const Model& model, const Derivative& derivative, DiagnosticSink& sink);
void derivative_empty(const Model& model, const Derivative& derivative, DiagnosticSink& sink);
void derivative_kind(const Model& model, const Derivative& derivative, DiagnosticSink& sink);
void derivative_key(const Model& model, const Derivative& derivative, DiagnosticSink& sink);
void derivative_outputs(const Model& model, const Derivative& derivative, DiagnosticSink& sink);
void derivative_condition(const Model& model, const Derivative& derivative, DiagnosticSink& sink);
void derivative_results(const FormulaContext& context);
void derivative_of_out(const Model& model, const Derivative& derivative, DiagnosticSink& sink);
void inplace_differentiability(const Model& model, const Derivative& derivative,
                               DiagnosticSink& sink);
void derivative_two_meanings(const Model& model, const Derivative& derivative,
                             DiagnosticSink& sink);

// formulas.cpp: what formulas say.
void derivative_shadowed(const Entry& entry);
void formula_syntax(const FormulaContext& context);
void formula_names(const FormulaContext& context);
void gradient_names(const FormulaContext& context);
void gradient_mask(const FormulaContext& context);
void forward_names(const FormulaContext& context);
void forward_automatic(const FormulaContext& context);
void forward_inplace(const FormulaContext& context);
void formula_calls(const FormulaContext& context);

// upstream_formulas.cpp: conventions of upstream's formulas alone.
void upstream_calls(const FormulaContext& context);
void symbolic_sizes(const FormulaContext& context);
void strides_of_input(const FormulaContext& context);
void decomposing_derivative(const FormulaContext& context);
void output_condition(const Model& model, const Derivative& derivative, DiagnosticSink& sink);

// uniqueness.cpp: the model as a whole.
void unique_operators(const Model& model, DiagnosticSink& sink);
void unique_cpp_names(const Model& model, DiagnosticSink& sink);
void distinct_headers(const Model& model, DiagnosticSink& sink);
void unique_derivatives(const Model& model, DiagnosticSink& sink);

}  // namespace tenon::codegen::rules
