#include "runtime/nn/set_data.h"

namespace tenon::nn::detail {

void set_data(const TensorBase& self, const TensorBase& data) {
  TENON_CHECK(!self.is_view(), "[set_data] a view's memory is its base's and cannot be replaced");
  TensorImpl& to = *self.unsafe_impl();
  const TensorImpl& from = *data.unsafe_impl();
  const uint8_t layers = to.key_set.layers;
  to.storage = from.storage;
  to.storage_offset = from.storage_offset;
  to.dtype = from.dtype;
  to.device = from.device;
  to.key_set = DispatchKeySet(layers, from.key_set.backends);
  to.set_sizes_and_strides(from.sizes, from.strides);
  to.refresh_data();
  to.bump_version();
}

}  // namespace tenon::nn::detail
