#include "tenon/native/stack.h"

#include "tenon/native/hstack.h"
#include "tenon/native/vstack.h"
#include "tenon/ops/cat.h"
#include "tenon/ops/reshape.h"
#include "tenon/ops/unsqueeze.h"

namespace tenon {

Tensor native::stack(TensorList tensors, int64_t dim) {
  TENON_CHECK(!tensors.empty(), "[stack] stack expects a non-empty TensorList");
  const int64_t d = wrap_dim(dim, tensors[0].dim() + 1);
  std::vector<Tensor> rows;
  rows.reserve(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    TENON_CHECK(tensors[i].sizes() == tensors[0].sizes(),
                "[stack] stack expects each tensor to be equal size, but got ", tensors[0].sizes(),
                " at entry 0 and ", tensors[i].sizes(), " at entry ", i);
    rows.push_back(ops::unsqueeze::call(tensors[i], d));
  }
  return ops::cat::call(rows, d);
}

Tensor native::hstack(TensorList tensors) {
  TENON_CHECK(!tensors.empty(), "[hstack] hstack expects a non-empty TensorList");
  std::vector<Tensor> parts(tensors.begin(), tensors.end());
  for (Tensor& part : parts) {
    if (part.dim() == 0) part = ops::reshape::call(part, {1});
  }
  return ops::cat::call(parts, parts[0].dim() == 1 ? 0 : 1);
}

Tensor native::vstack(TensorList tensors) {
  TENON_CHECK(!tensors.empty(), "[vstack] vstack expects a non-empty TensorList");
  std::vector<Tensor> parts(tensors.begin(), tensors.end());
  for (Tensor& part : parts) {
    if (part.dim() < 2) part = ops::reshape::call(part, {1, part.numel()});
  }
  return ops::cat::call(parts, 0);
}

}  // namespace tenon
