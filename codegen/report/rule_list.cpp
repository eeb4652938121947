#include "codegen/report/rule_list.h"

#include <algorithm>
#include <iterator>

namespace tenon::codegen {
namespace {

// Those of codegen/check; tests/codegen/bad/README.md lists them too.
constexpr Rule kChecks[] = {
    {"known_dispatch_key",
     "a `dispatch` key that is not in the list, or given twice; warnings: one that is not in the "
     "list of upstream's dialect, one of a backend that Tenon does not have"},
    {"known_tag", "a tag that tags.yaml lacks; a warning in upstream's dialect"},
    {"known_python_module", "a module whose operators nobody would bind"},
    {"known_category_override", "a category that is none"},
    {"kernel_name", "a kernel that is no identifier, or more than three namespaces deep"},
    {"reserved_argument_name",
     "an argument or return named as a type, an argument named as a keyword of Python or C++"},
    {"reserved_operator_name",
     "an operator, namespace or kernel named as a keyword, a macro or a name of generated code"},
    {"generated_name", "an argument named as something in generated code"},
    {"output_parameter", "an argument named as an output of its kernel or out form"},
    {"cpp_type", "a type or default that has no counterpart in C++ here"},
    {"alias_target", "an alias of nothing, of an alias, or of an operator that takes or returns "
                     "other things; a key that only operators have"},
    {"definition", "`define` of a name that exists, a parameter given twice, a wrong expression"},
    {"distinct_headers", "two operators whose names differ by case alone"},
    {"distinct_overloads", "two overloads with the same types of arguments"},
    {"identifier_keys", "`out_name`, `check`, `structured_inherits` that are no identifiers"},
    {"no_default_argument", "`cpp_no_default_args` names no argument, or one without a default"},
    {"alias_sets",
     "a written argument of several alias sets; several sets before and after the arrow"},
    {"annotated_type", "an annotation of another type than Tensor, Tensor? and Tensor[]"},
    {"mutable_before_self", "a written argument before self"},
    {"returned_argument",
     "a return that is a written argument other than self and the out arguments"},
    {"tensor_options", "dtype, layout, device, pin_memory of a schema that writes"},
    {"functional_overload", "an overload named functional of a schema that writes"},
    {"dunder_name", "`__iname__` that is no augmented assignment"},
    {"inplace_schema",
     "`foo_` that does not write to self or does not return it; a list self that is returned"},
    {"mutable_self", "`foo(Tensor(a!) self)`, which torchgen takes for functional"},
    {"out_schema", "out arguments and returns that do not correspond"},
    {"out_base_name", "a name that ends in `_out`"},
    {"mutable_returns", "written and new returns mixed; a written return of no written argument"},
    {"view_annotation", "a view of no argument, an annotation that no return has"},
    {"inplace_view", "the tag `inplace_view` without the underscore or without the view"},
    {"method_needs_self", "a method without self"},
    {"method_of_module", "an operator of a Python module that is a method"},
    {"out_function_only", "an out schema that is a method"},
    {"derivable_inplace", "`variants: inplace` where no in-place form follows"},
    {"derivable_out", "`variants: out` where no out form follows"},
    {"out_name_needs_out", "`out_name` without an out form"},
    {"computed", "silence about how an operator is computed"},
    {"computed_once", "two ways in which an operator is computed"},
    {"structured_schema", "`structured` beside anything but the functional schema"},
    {"structured_dispatch", "a structured operator without kernels of backends"},
    {"structured_only",
     "`precomputed`, `structured_inherits`, `ufunc_inner_loop` without `structured`"},
    {"structured_delegate", "a delegate that does not exist or is not structured; an out schema "
                            "that delegates; no device guard"},
    {"one_composite_key", "two composite kernels"},
    {"manual_registration", "`dispatch` beside `manual_kernel_registration`"},
    {"precomputed_lines", "lines of `precomputed` that are none"},
    {"ufunc_loops", "keys, dtypes and lines of `ufunc_inner_loop` that are none"},
    {"pointwise_schema", "`pointwise` beside a schema that it cannot compute"},
    {"pointwise_cases", "expressions that are missing or given twice"},
    {"update_schema", "`pointwise` beside a schema that writes, which it cannot compute"},
    {"update_expression",
     "expressions for written arguments that do not parse, are missing or never used"},
    {"rowwise_schema",
     "`rowwise` beside a schema that it cannot compute, or operands that fit none"},
    {"rowwise_keys", "`over`, `rows`, `columns` and `keepdim` without `rowwise`"},
    {"promote_needs_pointwise",
     "`promote` without `pointwise`, or with a rule that is not its kind's"},
    {"batched_needs_kernel", "`batched` where the rule follows from the entry, or for what writes"},
    {"fuse_needs_composition", "`fuse` of an operator that is no composition"},
    {"check_needs_expression", "`check` beside a kernel that is written in C++"},
    {"pointwise_expression", "an expression that does not parse or whose types do not fit"},
    {"pointwise_arguments", "an expression without a tensor; a tensor that no expression reads"},
    {"pointwise_dtypes", "a dtype that is asked for and for which the expression has no kernel; an "
                         "expression that has none for any"},
    {"pointwise_outputs", "outputs of one expression each whose dtypes differ"},
    {"random_expression",
     "a generator that nothing draws from; random numbers beside a case for a dtype"},
    {"rowwise_expression",
     "an expression of `rowwise` that does not parse; a name that is never used"},
    {"derivable_expression",
     "an expression that cannot be differentiated, or a second one for complex numbers, without a "
     "derivative"},
    {"composition",
     "`composite` or `foreach` as an expression that is none, names what does not exist or gives "
     "something else than the operator returns"},
    {"seeded_tag",
     "a Generator, or a name with rand or dropout, without the tag `nondeterministic_seeded`"},
    {"differentiated", "silence about how an operator is differentiated"},
    {"differentiated_once", "two ways in which it is"},
    {"structured_out", "`structured` beside another than the out schema, or without device guard"},
    {"delegated_kernel", "a kernel beside a delegate that gives it"},
    {"redundant_dispatch", "a `dispatch` that says what silence means"},
    {"explicit_factory", "`new_*`, `*_like` and factories without `dispatch`"},
    {"foreach_device_check", "`_foreach_*` without `device_check: NoCheck`"},
    {"structured_family", "forms of a structured operator that do not delegate to it"},
    {"view_copies", "a view without a form that copies, or without the tag `view_copy`"},
    {"one_form_per_kind", "two operators of equal signature and kind"},
    {"autogen", "`autogen` other than the forms that are generated"},
    {"functional_form", "an out form of no operator"},
    {"unique_operators", "a name declared twice, derived forms included"},
    {"unique_cpp_names", "two names that are one in C++"},
    {"unique_derivatives", "two derivatives of one operator"},
    {"derivative_argument", "a formula for a name that is neither argument nor output"},
    {"derivative_type", "a gradient of what is no tensor"},
    {"derivative_once", "two formulas for one name, `non_differentiable` included"},
    {"derivative_empty", "a derivative without formulas"},
    {"derivative_kind", "a forward formula for an input, `non_differentiable` for an output"},
    {"derivative_key", "an autograd key that is none; a warning in upstream's dialect"},
    {"derivative_outputs", "`output_differentiability` of another length than the outputs"},
    {"derivative_condition", "a condition in `output_differentiability`"},
    {"output_condition", "a condition for several outputs"},
    {"derivative_results", "formulas of an operator without a differentiable output, or with "
                           "results that are no tensors"},
    {"derivative_of_out", "a derivative of an out form"},
    {"inplace_differentiability",
     "an in-place operator whose output is declared not differentiable"},
    {"derivative_two_meanings", "a name that is an argument and an output"},
    {"derivative_missing", "a derivative that says nothing about an argument that is a tensor"},
    {"derivative_shadowed", "an argument named as a result or a gradient: `result`, `grad`"},
    {"formula_syntax", "a formula that is no expression"},
    {"formula_names", "a name that a backward formula does not know"},
    {"gradient_names",
     "`grad`, `grads[i]` and `grad_name` mixed; `grads[0]` alone; an index out of bounds"},
    {"gradient_mask", "`grad_input_mask` in a formula for one input; an index out of bounds"},
    {"forward_names", "`x` for `x_p` or `x_t`, and names that a forward formula does not know"},
    {"forward_automatic", "`auto_linear` and `auto_element_wise` where they have no meaning"},
    {"forward_inplace", "the value of self after it was overwritten; two forward formulas"},
    {"formula_calls", "a call in a formula that does not exist or does not take its arguments"},
    {"upstream_calls", "a call of what is nearly an operator or namespace; a warning"},
    {"symbolic_sizes", "`.sizes()`, `.size(1)`, `.strides()` instead of their symbolic forms"},
    {"strides_of_input", "strides of another tensor than the one whose gradient it is"},
    {"decomposing_derivative", "a derivative of an operator that decomposes"},
};

// Those of the loader and check-kernels; `pointwise_cases` is the loader's too.
constexpr Rule kOthers[] = {
    {"unreadable_file", "a file that does not exist or cannot be read"},
    {"yaml_syntax", "what is no YAML document in UTF-8"},
    {"value_form", "a value of another form than its key asks for"},
    {"duplicate_key", "a key given twice"},
    {"known_key", "a key that is none"},
    {"known_word", "a word that is not in the closed list of its key"},
    {"known_operator", "a derivative of no operator"},
    {"missing_key", "an entry, or a backend's file, without a key that it needs"},
    {"tag_form", "a tag declared twice, or without a description"},
    {"schema_syntax", "a schema that does not follow the grammar"},
    {"derivative_schema", "a schema in a derivative's name that is not the operator's"},
    {"derivative_of_derived", "a derivative of a form that is derived from an entry"},
    {"derivative_form", "formulas beside `dispatch`, or of no name"},
    {"backend_operators",
     "an operator of a backend's file that does not exist, is given twice or takes no kernel"},
    {"alternatives", "alternatives `a|b` of an entry that do not go together"},
    {"pointwise_switch", "a text or an absent argument that chooses no expression as it is used"},
    {"dtypes", "`dtypes` without `pointwise`, or beside expressions that say theirs"},
    {"definition_form", "`define` that is no name with parameters, or a key beside it"},
    {"optimizer_form", "an optimizer whose signature or keys have another form than theirs"},
    {"optimizer_expression", "an expression of an optimizer that cannot be read"},
    {"optimizer_name", "a name that an optimizer's expression does not know"},
    {"optimizer_call", "an update that is no call of an operator which takes its arguments"},
    {"base_operator", "beside `--base`, a function that the library has, or a method"},
    {"missing_kernel", "a kernel that an entry asks for and nobody defines"},
};

std::vector<Rule> collect() {
  std::vector<Rule> result(std::begin(kChecks), std::end(kChecks));
  result.insert(result.end(), std::begin(kOthers), std::end(kOthers));
  std::sort(result.begin(), result.end(), [](const Rule& a, const Rule& b) { return a.id < b.id; });
  return result;
}

}  // namespace

const std::vector<Rule>& all_rules() {
  static const std::vector<Rule> kRules = collect();
  return kRules;
}

}  // namespace tenon::codegen
