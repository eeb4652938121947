#include "tenon/native/prelu.h"

#include "tenon/ops/_prelu_kernel.h"

namespace tenon {

/// x where it is positive, else weight x; one weight, or one per channel (dimension 1).
Tensor native::prelu(const Tensor& self, const Tensor& weight) {
  TENON_CHECK(self.scalar_type() == weight.scalar_type(),
              "[prelu] Type promoting not supported. Got ", self.scalar_type(), " and ",
              weight.scalar_type());
  TENON_CHECK(
      weight.dim() <= 1,
      "[prelu] Expected `weight` to be a scalar or 1D tensor, but got: ndim = ", weight.dim());
  TENON_CHECK(weight.numel() == 1 || self.dim() > 0,
              "[prelu] Not allow zero-dim input tensor with ", weight.numel(), " weights.");
  const int64_t channels = self.dim() > 1 ? self.size(1) : 1;
  TENON_CHECK(weight.numel() == 1 || weight.numel() == channels,
              "[prelu] Mismatch of parameter numbers and input channel size. Found parameter "
              "numbers = ",
              weight.numel(), " and channel size = ", channels);
  DimVector sizes(static_cast<size_t>(self.dim()), 1);
  if (self.dim() > 1) sizes[1] = weight.numel();
  return _prelu_kernel(self, weight.reshape(sizes));
}

}  // namespace tenon
