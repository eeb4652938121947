#include "tenon/native/aminmax.h"

namespace tenon {

/// Both ends of what is there along `dim`, by default of all elements.
std::tuple<Tensor, Tensor> native::aminmax(const Tensor& self, std::optional<int64_t> dim,
                                           bool keepdim) {
  TENON_CHECK(dim || self.numel() > 0,
              "[aminmax] cannot compute aminmax over an empty dimension as the operation has no "
              "identity, got sizes ",
              self.sizes());
  const DimVector dims = dim ? DimVector{*dim} : DimVector();
  return {self.amin(dims, keepdim), self.amax(dims, keepdim)};
}

}  // namespace tenon
