#pragma once

#include <functional>
#include <initializer_list>

#include "tenon/tensor.h"

/// What generated code has for `cat({f(x), g(y)}, d)` of fused kernels, which write to the parts of
/// one tensor.
namespace tenon::native {

/// The tensors that the kernel of a part reads, which are broadcast to its shape.
using PartOperands = std::initializer_list<std::reference_wrapper<const Tensor>>;

/// Whether kernels may write the parts in their places: they have one dtype, no gradient is
/// recorded, and no layer but the profiler's sees the calls.
TENON_API bool can_fill_parts(std::initializer_list<PartOperands> parts);
/// Computes part `part` into `out` from its operands `in`, or some rows of it from theirs.
using FillPart = std::function<void(size_t part, Tensor& out, const Tensor* in)>;
/// The tensor of the parts along a dimension. Some rows of all parts are computed at a time, since
/// parts often read the same memory. Errors are those of `cat`.
TENON_API Tensor filled_parts(std::initializer_list<PartOperands> parts, int64_t dim,
                              const FillPart& fill);

}  // namespace tenon::native
