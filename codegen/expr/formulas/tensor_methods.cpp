#include "codegen/expr/formulas/tensor_methods.h"

#include <algorithm>
#include <iterator>

namespace tenon::codegen::expr {
namespace {

// clang-format off
constexpr TensorMethod kMethods[] = {
    {"reset", "", "", ""},
    {"defined", "bool", "defined", "bool"},
    {"unsafe_impl", "", "", ""},
    {"impl", "", "", ""},
    {"is_same", "bool", "", ""},
    {"use_count", "int", "", ""},
    {"unsafeGetTensorImpl", "", "", ""},
    {"dim", "int", "dim", "int64_t"},
    {"ndimension", "int", "dim", "int64_t"},
    {"numel", "int", "numel", "int64_t"},
    {"sizes", "int[]", "sizes", "DimVector"},
    {"strides", "int[]", "strides", "DimVector"},
    {"size", "int", "", ""},
    {"stride", "int", "", ""},
    {"storage_offset", "int", "storage_offset", "int64_t"},
    {"scalar_type", "ScalarType", "scalar_type", "ScalarType"},
    {"dtype", "ScalarType", "scalar_type", "ScalarType"},
    {"device", "Device", "device", "Device"},
    {"layout", "Layout", "layout", "Layout"},
    {"options", "TensorOptions", "options", "TensorOptions"},
    {"element_size", "int", "", ""},
    {"itemsize", "int", "", ""},
    {"get_device", "int", "", ""},
    {"is_signed", "bool", "", ""},
    {"nbytes", "int", "", ""},
    {"is_cpu", "bool", "", ""},
    {"is_cuda", "bool", "", ""},
    {"is_meta", "bool", "", ""},
    {"is_floating_point", "bool", "is_floating_point", "bool"},
    {"is_complex", "bool", "is_complex", "bool"},
    {"is_sparse", "bool", "is_sparse", "bool"},
    {"is_sparse_csr", "bool", "", ""},
    {"is_wrapped_number", "bool", "", ""},
    {"key_set", "", "", ""},
    {"is_contiguous", "bool", "is_contiguous", "bool"},
    {"is_non_overlapping_and_dense", "bool", "", ""},
    {"suggest_memory_format", "MemoryFormat", "suggest_memory_format", "MemoryFormat"},
    {"storage", "", "", ""},
    {"has_storage", "bool", "", ""},
    {"is_alias_of", "bool", "", ""},
    {"data_ptr", "", "", ""},
    {"mutable_data_ptr", "", "", ""},
    {"const_data_ptr", "", "", ""},
    {"_version", "int", "", ""},
    {"is_view", "bool", "", ""},
    {"requires_grad", "bool", "", ""},
    {"backward", "", "", ""},
    {"grad", "Tensor", "", ""},
    {"mutable_grad", "", "", ""},
    {"requires_grad_", "", "", ""},
    {"set_requires_grad", "", "", ""},
    {"grad_fn", "", "", ""},
    {"is_inference", "bool", "", ""},
    {"is_leaf", "bool", "", ""},
    {"output_nr", "int", "", ""},
    {"retain_grad", "", "", ""},
    {"retains_grad", "bool", "", ""},
    {"detach", "Tensor", "", ""},
    {"detach_", "", "", ""},
    {"data", "Tensor", "", ""},
    {"tensor_data", "Tensor", "", ""},
    {"variable_data", "Tensor", "", ""},
    {"set_data", "", "", ""},
    {"_base", "", "", ""},
    {"register_hook", "", "", ""},
    {"remove_hook", "", "", ""},
    {"cpu", "Tensor", "", ""},
    {"toType", "Tensor", "", ""},
    {"cuda", "Tensor", "", ""},
    {"item", "Scalar", "", ""},
    {"toString", "", "", ""},
    {"sym_sizes", "", "sizes", "DimVector", false},
    {"sym_strides", "", "strides", "DimVector", false},
    {"sym_numel", "", "numel", "int64_t", false},
    {"sym_storage_offset", "", "storage_offset", "int64_t", false},
    {"sym_blocksize", "", "blocksize", "DimVector", false},
    {"is_conj", "bool", "is_conj", "bool"},
    {"is_neg", "bool", "is_neg", "bool"},
};
// clang-format on

}  // namespace

std::span<const TensorMethod> tensor_methods() { return kMethods; }

const TensorMethod* find_tensor_method(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(kMethods), std::end(kMethods),
                   [&](const TensorMethod& method) { return method.name == name; });
  return found == std::end(kMethods) ? nullptr : found;
}

}  // namespace tenon::codegen::expr
