#include "tenon/native/atleast_1d.h"

#include "tenon/native/atleast_2d.h"
#include "tenon/native/atleast_3d.h"
#include "tenon/native/block_diag.h"
#include "tenon/native/column_stack.h"
#include "tenon/ops/atleast_1d.h"
#include "tenon/ops/atleast_2d.h"
#include "tenon/ops/atleast_3d.h"
#include "tenon/ops/cat.h"
#include "tenon/ops/constant_pad_nd.h"
#include "tenon/ops/to.h"

namespace tenon {
namespace {

std::vector<Tensor> each(TensorList tensors, Tensor (*function)(const Tensor&)) {
  std::vector<Tensor> out;
  for (const Tensor& tensor : tensors) out.push_back(function(tensor));
  return out;
}

}  // namespace

std::vector<Tensor> native::atleast_1d_Sequence(TensorList tensors) {
  return each(tensors, &ops::atleast_1d::call);
}

std::vector<Tensor> native::atleast_2d_Sequence(TensorList tensors) {
  return each(tensors, &ops::atleast_2d::call);
}

std::vector<Tensor> native::atleast_3d_Sequence(TensorList tensors) {
  return each(tensors, &ops::atleast_3d::call);
}

/// Side by side; numbers and vectors are columns.
Tensor native::column_stack(TensorList tensors) {
  TENON_CHECK(!tensors.empty(), "[column_stack] column_stack expects a non-empty TensorList");
  std::vector<Tensor> parts(tensors.begin(), tensors.end());
  for (Tensor& part : parts) {
    if (part.dim() <= 1) part = part.reshape({part.numel(), 1});
  }
  return cat(parts, 1);
}

/// The matrices along the diagonal of one, zeros elsewhere; numbers and vectors are rows.
Tensor native::block_diag(TensorList tensors) {
  std::vector<Tensor> parts;
  int64_t columns = 0, before = 0;
  ScalarType dtype = tensors.empty() ? get_default_dtype() : tensors[0].scalar_type();
  for (const Tensor& tensor : tensors) {
    TENON_CHECK(tensor.dim() <= 2,
                "[block_diag] torch.block_diag: Input tensors must have 2 or fewer dimensions. "
                "Input has ",
                tensor.dim(), " dimensions");
    parts.push_back(atleast_2d(tensor));
    columns += parts.back().size(1);
    dtype = promote_types(dtype, tensor.scalar_type());
  }
  if (parts.empty()) return Tensor(tenon::empty({1, 0}, dtype, kCPU));
  for (Tensor& part : parts) {
    const int64_t own = part.size(1);
    part = constant_pad_nd(part.to(dtype), {before, columns - before - own}, 0);
    before += own;
  }
  return cat(parts, 0);
}

}  // namespace tenon
