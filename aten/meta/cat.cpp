#include "tenon/native/cat.h"

#include "aten/meta/tensor_spec.h"

namespace tenon {
namespace {

/// Tensors of sizes [0] may join any others: what empty lists come as.
bool skipped(const Tensor& t) { return t.dim() == 1 && t.sizes()[0] == 0; }

/// Promotion of all operands: tensors with dimensions first, 0-dim ones only lift the category.
/// There are none of the latter here.
ScalarType promoted(TensorList tensors) {
  ScalarType type = tensors[0].scalar_type();
  for (const Tensor& t : tensors) type = promote_types(type, t.scalar_type());
  return type;
}

}  // namespace

/// Tensors of the same sizes but for dimension dim, which adds up. The dtypes are promoted.
TensorSpec native::cat_meta(TensorList tensors, int64_t dim) {
  TENON_CHECK_VALUE(!tensors.empty(), "[cat] expected a non-empty list of Tensors");
  const Tensor* first = nullptr;
  for (size_t i = 0; i < tensors.size(); ++i) {
    TENON_CHECK(tensors[i].dim() > 0, "[cat] zero-dimensional tensor (at position ", i,
                ") cannot be concatenated");
    TENON_CHECK(tensors[i].device() == tensors[0].device(),
                "[cat] Expected all tensors to be on the same device, but found at least two "
                "devices, ",
                tensors[0].device(), " and ", tensors[i].device(), "!");
    if (!first && !skipped(tensors[i])) first = &tensors[i];
  }
  if (!first) first = &tensors[0];
  // Where all are skipped, nothing is joined along any dimension.
  const int64_t d = skipped(*first) ? 0 : wrap_dim(dim, first->dim());
  DimVector sizes(first->sizes());
  sizes[d] = 0;
  bool channels_last = true;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& t = tensors[i];
    if (skipped(t)) continue;
    TENON_CHECK(t.dim() == first->dim(), "[cat] Tensors must have same number of dimensions: got ",
                first->dim(), " and ", t.dim());
    for (int64_t j = 0; j < t.dim(); ++j) {
      TENON_CHECK(j == d || t.sizes()[j] == sizes[j],
                  "[cat] Sizes of tensors must match except in dimension ", d, ". Expected size ",
                  sizes[j], " but got size ", t.sizes()[j], " for tensor number ", i,
                  " in the list.");
    }
    channels_last &= t.suggest_memory_format() == MemoryFormat::ChannelsLast;
    sizes[d] += t.sizes()[d];
  }
  TensorSpec spec(sizes, promoted(tensors), first->device());
  spec.casts = spec.apart = true;
  if (channels_last && sizes.size() == 4)
    spec.strides = strides_of_format(sizes, MemoryFormat::ChannelsLast);
  return spec;
}

}  // namespace tenon
