#include "codegen/model/keys.h"

#include "codegen/model/vocabulary.h"

namespace tenon::codegen {
namespace {

const std::vector<KeyInfo>& operator_entry() {
  static const std::vector<std::string> device_checks = {"ExactSame", "NoCheck"};
  static const std::vector<KeyInfo> keys = {
      {"func", ValueForm::kSchema, "The operator's schema."},
      {"alias", ValueForm::kSchema, "The schema of another name for the operator `of`."},
      {"define", ValueForm::kFunction, "A function of expressions: `name(a, b)`, then `as`."},
      {"of", ValueForm::kText, "The operator that an `alias` is another name of."},
      {"as", ValueForm::kText, "The expression that a function of `define` stands for."},
      {"variants", ValueForm::kVariants,
       "The forms that users get: function, method, and the derived in-place and out forms."},
      {"cpp_no_default_args", ValueForm::kNames,
       "Arguments whose default the C++ function leaves out."},
      {"check", ValueForm::kName,
       "Hand-written function that throws where a value or dtype is not allowed."},
      {"pointwise", ValueForm::kPointwise,
       "The expression of each element: kernels, shapes and derivative follow from it."},
      {"dtypes", ValueForm::kDtypes, "The dtypes that the one expression of `pointwise` is for."},
      {"rowwise", ValueForm::kRowwise,
       "The expression of rows: kernels, shapes and derivative follow from it."},
      {"over", ValueForm::kOver,
       "What makes a row: an argument of dimensions or sizes, dimensions, or `all`."},
      {"rows", ValueForm::kNames, "Arguments of `rowwise` that have one value per row."},
      {"columns", ValueForm::kNames,
       "Arguments of `rowwise`, or of a composition that fuses, that have the shape of a row."},
      {"fuse", ValueForm::kFlag,
       "False: the operators of a composition are called one by one, without fused kernels."},
      {"keepdim", ValueForm::kFlag,
       "Results of `rowwise` that have one value per row keep the row's dimensions, with size 1."},
      {"promote", ValueForm::kWord, "The dtype rule of a pointwise or row operator.",
       &promotions()},
      {"python_module", ValueForm::kWord, "The Python module of the function.", &python_modules()},
      {"structured", ValueForm::kBackends,
       "The backends, `CPU, CUDA`, whose kernels write into given outputs; a function in aten/meta "
       "gives the shapes."},
      {"structured_delegate", ValueForm::kName, "The structured operator that computes this one."},
      {"structured_inherits", ValueForm::kName, "Base class of the structured kernel (upstream)."},
      {"precomputed", ValueForm::kTexts,
       "Arguments that the meta function replaces for the kernels (upstream)."},
      {"composite", ValueForm::kComposite,
       "An expression of other operators; or `implicit` (so is its derivative) or `explicit`, for "
       "a "
       "function in C++."},
      {"foreach", ValueForm::kText,
       "An expression of other operators, computed for each place of the lists of tensors."},
      {"dispatch", ValueForm::kDispatch,
       "The kernel of each backend, or the backends alone: `CPU, CUDA`."},
      {"batched", ValueForm::kText,
       "The operator of a batch, which is in front of each tensor: its own call with dimensions "
       "moved, `cumsum(self, dim + 1)`, or an expression of other operators."},
      {"ufunc_inner_loop", ValueForm::kLoops, "Inner loops of a ufunc (upstream)."},
      {"autogen", ValueForm::kNames, "Operators that upstream's generator adds (upstream)."},
      {"non_differentiable", ValueForm::kFlag, "The operator has no derivative."},
      {"out_name", ValueForm::kName, "Overload name of the derived out form."},
      {"device_check", ValueForm::kWord, "Whether tensors must be on one device.", &device_checks},
      {"device_guard", ValueForm::kFlag, "Whether the current device follows the arguments."},
      {"category_override", ValueForm::kWord, "Kind of the Python signature.",
       &category_overrides()},
      {"manual_cpp_binding", ValueForm::kFlag, "The C++ function is written by hand."},
      {"manual_kernel_registration", ValueForm::kFlag, "Kernels are registered by hand."},
      {"use_const_ref_for_mutable_tensors", ValueForm::kFlag,
       "Kernels take `const Tensor&` for what they write to."},
      {"tags", ValueForm::kTags, "Facts about the operator, out of tags.yaml."},
  };
  return keys;
}

const std::vector<KeyInfo>& derivative_entry() {
  static const std::vector<KeyInfo> keys = {
      {"name", ValueForm::kSchema, "The operator's name, or its exact schema.", nullptr, true},
      {"output_differentiability", ValueForm::kOutputs, "Which outputs have a gradient."},
      {"dispatch", ValueForm::kFormulas, "Formulas for each autograd key."},
  };
  return keys;
}

const std::vector<KeyInfo>& tag_entry() {
  static const std::vector<KeyInfo> keys = {
      {"tag", ValueForm::kName, "The tag's name.", nullptr, true},
      {"desc", ValueForm::kText, "What the tag says about an operator.", nullptr, true},
  };
  return keys;
}

const std::vector<KeyInfo>& backend_file() {
  static const std::vector<KeyInfo> keys = {
      {"backend", ValueForm::kWord, "The backend outside the library.", &external_backends(), true},
      {"cpp_namespace", ValueForm::kName,
       "C++ namespace of the kernels, `<namespace>::native::<operator>_<namespace>`.", nullptr,
       true},
      {"supported", ValueForm::kNames, "The operators that the backend has kernels for.", nullptr,
       true},
  };
  return keys;
}

}  // namespace

const std::vector<KeyInfo>& entry_keys(FileKind kind) {
  static const std::vector<KeyInfo> none;
  switch (kind) {
  case FileKind::kOperators: return operator_entry();
  case FileKind::kDerivatives: return derivative_entry();
  case FileKind::kTags: return tag_entry();
  case FileKind::kBackend: return backend_file();
  case FileKind::kUnknown: break;
  }
  return none;
}

const KeyInfo* find_key(FileKind kind, std::string_view name) {
  for (const KeyInfo& key : entry_keys(kind)) {
    if (key.name == name) return &key;
  }
  return nullptr;
}

}  // namespace tenon::codegen
