#include "tenon/native/put.h"

#include "tenon/ops/index_put.h"

namespace tenon {

/// self, seen as a vector, with source's elements at the places index, or added to what is there.
Tensor native::put(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  TENON_CHECK_INDEX(index.scalar_type() == kLong,
                    "[put] Expected a long tensor for index, but got ", index.scalar_type());
  TENON_CHECK(self.scalar_type() == source.scalar_type(),
              "[put] Expected self and source to have the same dtype, but got self of ",
              self.scalar_type(), " and source of ", source.scalar_type());
  TENON_CHECK_INDEX(source.numel() == index.numel(),
                    "[put] Expected source and index to have the same number of elements, but got "
                    "source.numel() = ",
                    source.numel(), ", index.numel() = ", index.numel());
  TENON_CHECK_INDEX(self.numel() > 0 || index.numel() == 0,
                    "[put] Tried to put elements into an empty tensor");
  const std::optional<Tensor> places = index.reshape({-1});
  return tenon::index_put(self.reshape({-1}), {&places, 1}, source.reshape({-1}), accumulate)
      .view(self.sizes());
}

}  // namespace tenon
