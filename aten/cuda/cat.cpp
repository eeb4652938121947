#include "tenon/native/cat.h"

#include "aten/cuda/copy.h"

namespace tenon {

/// One copy for each tensor, converted where its dtype is another.
void native::cat_cuda(TensorList tensors, int64_t dim, const Tensor& out) {
  if (out.numel() == 0) return;
  const int64_t d = wrap_dim(dim, out.dim());
  int64_t at = 0;
  for (const Tensor& t : tensors) {
    if (t.numel() == 0) continue;
    const TensorBase part = make_detached(out);
    TensorImpl& p = *part.unsafe_impl();
    DimVector sizes(out.sizes());
    sizes[static_cast<size_t>(d)] = t.size(d);
    p.storage_offset += at * out.stride(d);
    p.set_sizes_and_strides(sizes, out.strides());
    p.refresh_data();
    cuda::copy(part, t);
    at += t.size(d);
  }
}

}  // namespace tenon
