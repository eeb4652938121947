#include "aten/iterator/plan.h"

#include <algorithm>

namespace tenon::native {
namespace {

/// What a dtype of higher priority becomes when one of lower priority joins it.
ScalarType lift(ScalarType high, ScalarType low) {
  if (high == ScalarType::Undefined) return low;
  if (low == ScalarType::Undefined || is_complex(high)) return high;
  if (is_complex(low)) return is_floating_point(high) ? to_complex(high) : low;
  if (is_floating_point(high)) return high;
  if (high == ScalarType::Bool || is_floating_point(low)) return promote_types(high, low);
  return high;
}

ScalarType number_type(const Scalar& s) {
  if (s.is_floating_point()) return get_default_dtype();
  if (s.is_complex()) return to_complex(get_default_dtype());
  return s.type();
}

/// Dimension d of `shape` seen from `t`: its stride in elements, 0 where it broadcasts.
int64_t stride_in(const TensorBase& t, IntArrayRef shape, size_t d) {
  const size_t missing = shape.size() - t.sizes().size();
  if (d < missing) return 0;
  const int64_t size = t.sizes()[d - missing];
  return size == 1 && shape[d] != 1 ? 0 : t.strides()[d - missing];
}

/// Strides of up to kMaxOperands tensors along the dimensions of one shape.
struct StrideTable {
  int count = 0;
  int64_t strides[kMaxOperands][kMaxPlanDims];

  void add(const TensorBase& t, IntArrayRef shape) {
    for (size_t d = 0; d < shape.size(); ++d) strides[count][d] = stride_in(t, shape, d);
    ++count;
  }

  /// Negative if dimension a runs faster than b, positive if slower, 0 if no operand can tell.
  int compare(IntArrayRef shape, int a, int b) const {
    for (int k = 0; k < count; ++k) {
      const int64_t sa = strides[k][a], sb = strides[k][b];
      if (sa == 0 || sb == 0) continue;
      if (sa != sb) return sa < sb ? -1 : 1;
      if (shape[a] > shape[b]) return 1;
    }
    return 0;
  }

  /// Dimensions, fastest first. Insertion sort, because "cannot tell" makes the order partial.
  void sort(IntArrayRef shape, int* order) const {
    const int n = static_cast<int>(shape.size());
    for (int i = 0; i < n; ++i) order[i] = n - 1 - i;
    for (int i = 1; i < n; ++i) {
      for (int at = i, before = i - 1; before >= 0; --before) {
        const int c = compare(shape, order[before], order[at]);
        if (c < 0) break;
        if (c > 0) {
          std::swap(order[before], order[at]);
          at = before;
        }
      }
    }
  }
};

/// Whether all tensors have this shape and lie in memory in that format.
bool all_contiguous(IntArrayRef shape, ArrayRef<const TensorBase*> tensors, MemoryFormat format) {
  return std::all_of(tensors.begin(), tensors.end(), [&](const TensorBase* t) {
    return t->sizes() == shape && t->is_contiguous(format);
  });
}

void check_dims(size_t ndim) {
  TENON_CHECK(ndim <= kMaxPlanDims, "tensors of at most ", kMaxPlanDims,
              " dimensions are supported here, got ", ndim);
}

/// Strides of a dense tensor whose dimensions lie in the order in which they do in the inputs, the
/// earlier input deciding where they differ.
DimVector dense_strides(IntArrayRef shape, ArrayRef<const TensorBase*> inputs) {
  check_dims(shape.size());
  StrideTable table;
  for (const TensorBase* t : inputs) table.add(*t, shape);
  int order[kMaxPlanDims];
  table.sort(shape, order);
  DimVector strides(shape.size());
  int64_t stride = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    strides[order[i]] = stride;
    stride *= std::max<int64_t>(shape[order[i]], 1);
  }
  return strides;
}

}  // namespace

DimVector broadcast_shape(ArrayRef<const TensorBase*> tensors) {
  DimVector shape(tensors[0]->sizes());
  for (size_t k = 1; k < tensors.size(); ++k) {
    const IntArrayRef other = tensors[k]->sizes();
    if (other == IntArrayRef(shape)) continue;
    if (other.size() > shape.size()) {
      DimVector wider(other.size() - shape.size(), 1);
      wider.append(shape.begin(), shape.end());
      shape = wider;
    }
    const size_t missing = shape.size() - other.size();
    for (size_t d = missing; d < shape.size(); ++d) {
      const int64_t b = other[d - missing];
      TENON_CHECK(shape[d] == b || shape[d] == 1 || b == 1, "The size of tensor a (", shape[d],
                  ") must match the size of tensor b (", b, ") at non-singleton dimension ", d);
      if (shape[d] == 1) shape[d] = b;
    }
  }
  return shape;
}

ScalarType result_type(ArrayRef<const TensorBase*> tensors, ArrayRef<const Scalar*> scalars,
                       uint32_t tensor_mask, uint32_t scalar_mask) {
  ScalarType with_dims = ScalarType::Undefined;
  ScalarType zero_dim = ScalarType::Undefined;
  ScalarType number = ScalarType::Undefined;
  for (size_t k = 0; k < tensors.size(); ++k) {
    if (((tensor_mask >> k) & 1) == 0) continue;
    const TensorBase& t = *tensors[k];
    ScalarType type = t.scalar_type();
    if (t.is_wrapped_number()) {
      if (is_complex(type)) type = to_complex(get_default_dtype());
      if (is_floating_point(type)) type = get_default_dtype();
      number = promote_types(number, type);
    } else if (t.dim() == 0) {
      zero_dim = promote_types(zero_dim, type);
    } else {
      with_dims = promote_types(with_dims, type);
    }
  }
  for (size_t k = 0; k < scalars.size(); ++k) {
    if ((scalar_mask >> k) & 1) number = promote_types(number, number_type(*scalars[k]));
  }
  return lift(with_dims, lift(zero_dim, number));
}

ComputeType compute_type(ScalarType dtype) {
  TENON_CHECK_NOT_IMPLEMENTED(!is_storage_only(dtype), "computing with ", dtype,
                              " is not implemented: its tensors can be stored, viewed and copied");
  switch (dtype) {
  case ScalarType::Half:
  case ScalarType::BFloat16:
  case ScalarType::Float: return ComputeType::F32;
  case ScalarType::Double: return ComputeType::F64;
  case ScalarType::Long: return ComputeType::I64;
  case ScalarType::ComplexFloat: return ComputeType::C64;
  case ScalarType::ComplexDouble: return ComputeType::C128;
  case ScalarType::Bool: return ComputeType::Bool;
  default: return ComputeType::I32;
  }
}

ResultTypes result_types(const PointwiseOp& op, ArrayRef<const TensorBase*> inputs,
                         ArrayRef<const Scalar*> scalars) {
  ScalarType common = result_type(inputs, scalars, op.promoting_inputs, op.promoting_scalars);
  // Tensors that are conditions alone choose among numbers of the expression.
  if (common == ScalarType::Undefined) common = ScalarType::Long;
  if (schema::makes_floating(op.promotion) && is_integral(common, true)) {
    common = get_default_dtype();
  }
  if (op.promotion == Promotion::kBoolToLong && common == ScalarType::Bool)
    common = ScalarType::Long;
  ScalarType output = common;
  if (schema::gives_bool(op.promotion)) output = ScalarType::Bool;
  if (op.promotion == Promotion::kComplexToFloat) output = to_real(common);
  return {common, output};
}

DimVector output_strides(IntArrayRef shape, ArrayRef<const TensorBase*> inputs) {
  for (const MemoryFormat format : {MemoryFormat::Contiguous, MemoryFormat::ChannelsLast}) {
    if (all_contiguous(shape, inputs, format)) return strides_of_format(shape, format);
  }
  const bool same_strides = std::all_of(inputs.begin(), inputs.end(), [&](const TensorBase* t) {
    return t->sizes() == shape && t->strides() == inputs[0]->strides();
  });
  if (same_strides && inputs[0]->is_non_overlapping_and_dense()) {
    return DimVector(inputs[0]->strides());
  }
  return dense_strides(shape, inputs);
}

DimVector preserved_strides(const TensorBase& tensor) {
  if (!tensor.is_non_overlapping_and_dense()) return dense_strides(tensor.sizes(), {&tensor});
  const DimVector row_major = contiguous_strides(tensor.sizes());
  return tensor.strides() == IntArrayRef(row_major) ? DimVector() : DimVector(tensor.strides());
}

Device common_device(ArrayRef<const TensorBase*> tensors) {
  const TensorBase* first = nullptr;
  for (const TensorBase* t : tensors) {
    if (t->is_cpu() && t->dim() == 0) continue;
    if (!first) first = t;
    TENON_CHECK(t->device() == first->device(),
                "Expected all tensors to be on the same device, but found at least two devices, ",
                first->device(), " and ", t->device(), "!");
  }
  return first ? first->device() : Device(kCPU);
}

void check_no_internal_overlap(const TensorBase& out) {
  if (out.is_contiguous()) return;
  for (size_t d = 0; d < out.sizes().size(); ++d) {
    TENON_CHECK(
        out.sizes()[d] <= 1 || out.strides()[d] != 0 || out.numel() == 0,
        "unsupported operation: more than one element of the written-to tensor refers to a "
        "single memory location. Please clone() the tensor before performing the operation.");
  }
}

void check_no_partial_overlap(const TensorBase& out, const TensorBase& input) {
  if (out.is_same(input) || !out.is_alias_of(input)) return;
  if (out.numel() == 0 || input.numel() == 0) return;
  // Tensors with gaps would need integer programming; like PyTorch, trust the caller there.
  if (!out.is_non_overlapping_and_dense() || !input.is_non_overlapping_and_dense()) return;
  const char* a = static_cast<const char*>(out.const_data_ptr());
  const char* b = static_cast<const char*>(input.const_data_ptr());
  if (!a || a >= b + input.nbytes() || b >= a + out.nbytes()) return;
  const bool same = a == b && out.nbytes() == input.nbytes() && out.sizes() == input.sizes() &&
                    out.strides() == input.strides();
  TENON_CHECK(same,
              "unsupported operation: some elements of the input tensor and the written-to tensor "
              "refer to a single memory location. Please clone() the tensor before performing the "
              "operation.");
}

void make_plan(PointwisePlan& plan, IntArrayRef shape, ArrayRef<const TensorBase*> outputs,
               ArrayRef<const TensorBase*> inputs) {
  const int ndim = static_cast<int>(shape.size());
  check_dims(shape.size());
  TENON_CHECK(outputs.size() + inputs.size() <= kMaxOperands, "at most ", kMaxOperands,
              " operands are supported, got ", outputs.size() + inputs.size());
  plan.num_outputs = static_cast<int>(outputs.size());
  plan.num_inputs = static_cast<int>(inputs.size());
  plan.numel = 1;
  for (int64_t s : shape) plan.numel *= s;

  StrideTable table;
  int row_of[kMaxOperands];
  for (int k = 0; k < plan.num_operands(); ++k) {
    const TensorBase* t = k < plan.num_outputs ? outputs[k] : inputs[k - plan.num_outputs];
    PointwisePlan::Operand& operand = plan.operands[k];
    row_of[k] = -1;
    if (!t) {
      operand = {};
      operand.round_to = ScalarType::Undefined;
      continue;
    }
    operand.data = t->data_ptr();
    operand.dtype = t->scalar_type();
    operand.round_to = ScalarType::Undefined;
    operand.cpu_scalar = t->is_cpu() && t->dim() == 0;
    row_of[k] = table.count;
    table.add(*t, shape);
  }
  int order[kMaxPlanDims];
  table.sort(shape, order);

  // Merge a dimension into the one below it where every operand steps over both as over one.
  int out = -1;
  for (int i = 0; i < ndim; ++i) {
    const int64_t size = shape[order[i]];
    if (size == 1) continue;
    const auto continues = [&](int k) {
      const PointwisePlan::Operand& operand = plan.operands[k];
      return row_of[k] < 0 || operand.strides[out] * plan.sizes[out] ==
                                  table.strides[row_of[k]][order[i]] *
                                      static_cast<int64_t>(element_size(operand.dtype));
    };
    bool merges = out >= 0;
    for (int k = 0; merges && k < plan.num_operands(); ++k) merges = continues(k);
    if (merges) {
      plan.sizes[out] *= size;
      continue;
    }
    plan.sizes[++out] = size;
    for (int k = 0; k < plan.num_operands(); ++k) {
      PointwisePlan::Operand& operand = plan.operands[k];
      operand.strides[out] = row_of[k] < 0 ? 0
                                           : table.strides[row_of[k]][order[i]] *
                                                 static_cast<int64_t>(element_size(operand.dtype));
    }
  }
  plan.ndim = out + 1;
}

}  // namespace tenon::native
