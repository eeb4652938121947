#include "tenon/native/_local_scalar_dense.h"

namespace tenon {

Scalar native::_local_scalar_dense_meta(const Tensor&) {
  detail::raise<NotImplementedError>("[item] Tensor.item() cannot be called on meta tensors");
}

}  // namespace tenon
