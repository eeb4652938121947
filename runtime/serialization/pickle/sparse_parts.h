#pragma once

#include "runtime/serialization/values/value.h"
#include "tenon/tensor.h"

namespace tenon::serialization {

/// The strided tensors that a sparse tensor consists of.
std::vector<Tensor> parts_of_sparse(const Tensor& t);
/// What PyTorch's _rebuild_sparse_tensor is called with: the layout, and the parts with the sizes;
/// of COO also whether it is coalesced, if `says_coalesced`.
Value sparse_arguments(const Tensor& t, bool says_coalesced);
/// The tensor of these arguments. Its elements need not have been read yet.
Tensor sparse_of_arguments(const Value& args);
/// Error for indices that lead out of the tensor's sizes.
void check_sparse(const Tensor& t);

}  // namespace tenon::serialization
