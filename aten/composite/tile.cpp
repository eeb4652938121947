#include "tenon/native/tile.h"

#include "tenon/ops/repeat.h"

namespace tenon {

Tensor native::tile(const Tensor& self, IntArrayRef dims) {
  DimVector repeats;
  for (int64_t i = static_cast<int64_t>(dims.size()); i < self.dim(); ++i) repeats.push_back(1);
  repeats.append(dims.begin(), dims.end());
  return ops::repeat::call(self, repeats);
}

}  // namespace tenon
