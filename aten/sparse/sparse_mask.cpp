#include "tenon/native/sparse_mask.h"

#include "aten/sparse/sparse_tensor.h"
#include "tenon/native/sparse_constructor_values_backward.h"
#include "tenon/native/sparse_mask_backward.h"
#include "tenon/native/values_backward.h"
#include "tenon/ops/_sparse_compressed_tensor_unsafe.h"
#include "tenon/ops/_sparse_coo_tensor_unsafe.h"
#include "tenon/ops/coalesce.h"
#include "tenon/ops/reshape.h"
#include "tenon/ops/sparse_mask.h"

namespace tenon {

/// The elements of self at the places of the mask.
Tensor native::sparse_mask(const Tensor& self, const Tensor& mask) {
  TENON_CHECK_NOT_IMPLEMENTED(mask.layout() != kStrided,
                              "[sparse_mask] mask must be sparse, got a strided tensor");
  TENON_CHECK(self.sizes() == mask.sizes(),
              "sparse_mask(): operands have incompatible sizes; self has size ", self.sizes(),
              " but mask has size ", mask.sizes());
  const bool coo = mask.layout() == kSparse;
  const Tensor places = sparse::indices_of(coo ? mask : sparse::coo_of_compressed(mask));
  const Tensor elements = sparse::elements_at(self, places);
  return sparse::with_values(
      mask, coo ? elements : ops::reshape::call(elements, sparse::values_of(mask).sizes()));
}

Tensor native::sparse_mask_backward(const Tensor& grad, const Tensor& self, const Tensor& mask) {
  // A place that the mask has several times got the element as often.
  const Tensor masked = mask.layout() == kSparse && !sparse::content_of(mask).coalesced
                            ? ops::sparse_mask::call(grad, mask)
                            : grad;
  if (self.layout() == kStrided) return masked.to_dense();
  return ops::sparse_mask::call(masked,
                                self.layout() == kSparse ? ops::coalesce::call(self) : self);
}

Tensor native::values_backward(const Tensor& grad, const Tensor& self) {
  if (self.layout() == kSparse)
    return ops::_sparse_coo_tensor_unsafe::call(sparse::indices_of(self), grad, self.sizes(),
                                                std::nullopt, std::nullopt, std::nullopt,
                                                std::nullopt, sparse::content_of(self).coalesced);
  return ops::_sparse_compressed_tensor_unsafe::call(
      sparse::compressed_of(self), sparse::plain_of(self), grad, self.sizes(), std::nullopt,
      self.layout(), std::nullopt, std::nullopt);
}

Tensor native::sparse_constructor_values_backward(const Tensor& grad, const Tensor& indices) {
  return sparse::elements_at(grad, indices);
}

}  // namespace tenon
