#include "codegen/model/vocabulary.h"

#include <algorithm>

namespace tenon::codegen {

namespace {

using Words = std::vector<std::string>;

Words concat(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

const Words& upstream_operator_keys() {
  static const Words words = {"func",
                              "variants",
                              "dispatch",
                              "structured",
                              "structured_delegate",
                              "structured_inherits",
                              "precomputed",
                              "ufunc_inner_loop",
                              "device_check",
                              "device_guard",
                              "autogen",
                              "tags",
                              "python_module",
                              "category_override",
                              "cpp_no_default_args",
                              "manual_cpp_binding",
                              "manual_kernel_registration",
                              "use_const_ref_for_mutable_tensors"};
  return words;
}

const Words& upstream_dispatch_keys() {
  static const Words words = {"CPU",
                              "CUDA",
                              "MPS",
                              "XPU",
                              "MTIA",
                              "Meta",
                              "MkldnnCPU",
                              "ZeroTensor",
                              "SparseCPU",
                              "SparseCUDA",
                              "SparseMPS",
                              "SparseXPU",
                              "SparseMeta",
                              "SparseCsrCPU",
                              "SparseCsrCUDA",
                              "SparseCsrMPS",
                              "SparseCsrXPU",
                              "SparseCsrMeta",
                              "QuantizedCPU",
                              "QuantizedCUDA",
                              "QuantizedMeta",
                              "NestedTensorCPU",
                              "NestedTensorCUDA",
                              "NestedTensorXPU",
                              "NestedTensorHPU",
                              "NestedTensorMeta",
                              "CompositeImplicitAutograd",
                              "CompositeImplicitAutogradNestedTensor",
                              "CompositeExplicitAutograd",
                              "CompositeExplicitAutogradNonFunctional"};
  return words;
}

}  // namespace

const Words& operator_keys(Dialect dialect) {
  static const Words ours =
      concat(upstream_operator_keys(),
             {"alias", "of", "define", "as", "pointwise", "dtypes", "rowwise", "over", "rows",
              "columns", "keepdim", "promote", "check", "composite", "fuse", "foreach", "batched",
              "non_differentiable", "out_name"});
  return dialect == Dialect::kUpstream ? upstream_operator_keys() : ours;
}

const Words& dispatch_keys(Dialect dialect) {
  static const Words ours =
      concat({"CompositeExplicit", "CompositeImplicit", "PrivateUse1"}, upstream_dispatch_keys());
  return dialect == Dialect::kUpstream ? upstream_dispatch_keys() : ours;
}

const Words& autograd_keys() {
  static const Words words = {"Default",
                              "AutogradCPU",
                              "AutogradCUDA",
                              "AutogradHIP",
                              "AutogradXLA",
                              "AutogradMTIA",
                              "AutogradMPS",
                              "AutogradIPU",
                              "AutogradXPU",
                              "AutogradHPU",
                              "AutogradVE",
                              "AutogradLazy",
                              "AutogradMeta",
                              "AutogradPrivateUse1",
                              "AutogradPrivateUse2",
                              "AutogradPrivateUse3",
                              "AutogradNestedTensor"};
  return words;
}

const Words& python_modules() {
  static const Words words = {"nn", "linalg", "fft", "special", "sparse", "nested"};
  return words;
}

const Words& category_overrides() {
  static const Words words = {"factory", "new", "like", "dummy"};
  return words;
}

const Words& variant_words(Dialect dialect) {
  static const Words upstream = {"function", "method"};
  static const Words ours = {"function", "method", "inplace", "out"};
  return dialect == Dialect::kUpstream ? upstream : ours;
}

const Words& promotions() {
  static const Words words(schema::kPromotions.begin(), schema::kPromotions.end());
  return words;
}

const Words& pointwise_categories() {
  static const Words words = {"bool", "integral", "floating", "complex"};
  return words;
}

const Words& pointwise_backends() {
  static const Words words = {"cpu", "cuda"};
  return words;
}

const Words& external_backends() {
  static const Words words = {"PrivateUse1"};
  return words;
}

}  // namespace tenon::codegen
