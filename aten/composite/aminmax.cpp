#include "tenon/native/aminmax.h"

namespace tenon {

/// Both ends of what is there along `dim`, by default of all elements.
std::tuple<Tensor, Tensor> native::aminmax(const Tensor& self, std::optional<int64_t> dim,
                                           bool keepdim) {
  const DimVector dims = dim ? DimVector{*dim} : DimVector();
  return {self.amin(dims, keepdim), self.amax(dims, keepdim)};
}

}  // namespace tenon
