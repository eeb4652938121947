#pragma once

#include "aten/core/tensor_base.h"
#include "aten/iterator/pointwise_op.h"

namespace tenon::native {

inline constexpr int kMaxOperands = 12;
inline constexpr int kMaxPlanDims = 16;

/// Where every element of every operand lies: the outputs, then the inputs, all brought to one
/// shape. Dimensions are sorted fastest first and merged where all operands allow it.
struct PointwisePlan {
  struct Operand {
    void* data;  ///< first element; null for an output that is not wanted
    ScalarType dtype;
    /// The dtype that values are rounded to between memory and computing: the promoted dtype for an
    /// input, the result's dtype for an output. Undefined if rounding cannot change a value.
    ScalarType round_to;
    bool cpu_scalar;                ///< one value in CPU memory, whatever the plan's device
    int64_t strides[kMaxPlanDims];  ///< in bytes; 0 along broadcast dimensions
  };

  int num_outputs = 0;
  int num_inputs = 0;
  int ndim = 0;
  int64_t numel = 0;
  ScalarType common = ScalarType::Undefined;  ///< promoted dtype of the operands
  ComputeType compute = ComputeType::F32;
  Device device = kCPU;
  int64_t sizes[kMaxPlanDims];
  Operand operands[kMaxOperands];

  int num_operands() const { return num_outputs + num_inputs; }
};

/// Shape all operands broadcast to. Error "The size of tensor a (2) must match the size of tensor b
/// (3) at non-singleton dimension 0".
TENON_API DimVector broadcast_shape(ArrayRef<const TensorBase*> tensors);

/// PyTorch's promoted dtype: tensors with dimensions decide, 0-dim tensors and then plain numbers
/// only lift the category (bool < integer < float < complex). Bit k of a mask lets operand k count.
TENON_API ScalarType result_type(ArrayRef<const TensorBase*> tensors,
                                 ArrayRef<const Scalar*> scalars, uint32_t tensor_mask = ~0u,
                                 uint32_t scalar_mask = ~0u);

/// The type a dtype is computed in.
TENON_API ComputeType compute_type(ScalarType dtype);

/// The operator's promoted dtype, after its own rule for integers, and the dtype of its outputs.
struct ResultTypes {
  ScalarType common;
  ScalarType output;
};
TENON_API ResultTypes result_types(const PointwiseOp& op, ArrayRef<const TensorBase*> inputs,
                                   ArrayRef<const Scalar*> scalars);

/// Strides, in elements, of a new output of this shape: dense, in the order in which the inputs lie
/// in memory, the earlier input deciding where they differ. PyTorch's rule, dimensions of one
/// element included, which a format decides where the inputs have one.
TENON_API DimVector output_strides(IntArrayRef shape, ArrayRef<const TensorBase*> inputs);

/// Strides of a new tensor like this one (empty if they are row-major): its own if it is dense, and
/// otherwise without gaps, in the order in which it lies in memory.
TENON_API DimVector preserved_strides(const TensorBase& tensor);

/// The one device of all tensors; 0-dim CPU tensors go along with any. Error otherwise.
TENON_API Device common_device(ArrayRef<const TensorBase*> tensors);

/// Errors "unsupported operation: more than one element of the written-to tensor refers to a single
/// memory location. ..." and "unsupported operation: some elements of the input tensor and the
/// written-to tensor refer to a single memory location. ...".
TENON_API void check_no_internal_overlap(const TensorBase& out);
TENON_API void check_no_partial_overlap(const TensorBase& out, const TensorBase& input);

/// Lays out a plan over tensors that broadcast to `shape`. Outputs may be null; those that are not
/// have that shape.
TENON_API void make_plan(PointwisePlan& plan, IntArrayRef shape,
                         ArrayRef<const TensorBase*> outputs, ArrayRef<const TensorBase*> inputs);

}  // namespace tenon::native
