#pragma once

#include <tuple>

#include "aten/composite/in_format.h"
#include "aten/composite/to_opmath_type.h"
#include "tenon/ops/gather.h"

namespace tenon {

/// What pooling returns: the elements of `self` [..., D, H, W] that `indices` name in its last
/// `dims` dimensions as one number, and the indices. They are what backward needs, so that changing
/// them before it is an error.
inline std::tuple<Tensor, Tensor> chosen_elements(const Tensor& self, const Tensor& indices,
                                                  int64_t dims, MemoryFormat format) {
  const Tensor at = in_format(indices, format);
  // Gradients of half types are sums.
  const Tensor x = self.requires_grad() ? to_opmath_type(self) : self;
  const Tensor values = x.flatten(-dims).gather(-1, at.flatten(-dims)).reshape(at.sizes());
  return {in_format(values.to(self.scalar_type()), format), at};
}

}  // namespace tenon
