#include "tenon/native/_resample.h"

#include "aten/meta/checks.h"

namespace tenon {

/// A linear map along dimension dim: element i of the result is the sum over starts[i] <= e <
/// starts[i + 1] of weights[e] times element indices[e]. starts [size + 1], indices and weights
/// [count]. The back_ arguments are the transposed map, which gradients go through.
TensorSpec native::_resample_meta(const Tensor& self, int64_t dim, const Tensor& starts,
                                  const Tensor& indices, const Tensor& weights,
                                  const Tensor& back_starts, const Tensor& back_indices,
                                  const Tensor& back_weights) {
  const int64_t d = wrap_dim(dim, self.dim());
  TENON_CHECK(self.dim() > 0 && is_floating_point(self.scalar_type()),
              "[_resample] expected a floating-point tensor with dimensions, got ",
              self.scalar_type(), " of sizes ", self.sizes());
  const auto check_map = [&](const Tensor& s, const Tensor& i, const Tensor& w) {
    meta::check_same_device("_resample", "self", self, "starts", s);
    meta::check_same_device("_resample", "self", self, "indices", i);
    meta::check_same("_resample", "self", self, "weights", w);
    TENON_CHECK(s.scalar_type() == kLong && i.scalar_type() == kLong && s.dim() == 1 &&
                    s.numel() > 0 && i.dim() == 1 && w.sizes() == i.sizes(),
                "[_resample] expected starts, indices and as many weights as vectors, the first "
                "two of int64, got ",
                s.scalar_type(), " of sizes ", s.sizes(), ", ", i.scalar_type(), " of sizes ",
                i.sizes(), " and weights of sizes ", w.sizes());
  };
  check_map(starts, indices, weights);
  check_map(back_starts, back_indices, back_weights);
  TENON_CHECK(back_starts.numel() == self.sizes()[d] + 1,
              "[_resample] back_starts must have one element more than dimension ", d,
              " of self, got ", back_starts.numel(), " and sizes ", self.sizes());
  DimVector sizes(self.sizes());
  sizes[d] = starts.numel() - 1;
  return TensorSpec(sizes, self).kept_apart();
}

}  // namespace tenon
