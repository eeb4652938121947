#include "tenon/native/meshgrid.h"

#include <algorithm>

#include "aten/iterator/plan.h"
#include "tenon/native/broadcast_tensors.h"
#include "tenon/native/cartesian_prod.h"
#include "tenon/ops/meshgrid.h"
#include "tenon/ops/stack.h"

namespace tenon {

/// Every tensor as a view of the shape that all broadcast to.
std::vector<Tensor> native::broadcast_tensors(TensorList tensors) {
  if (tensors.empty()) return {};
  std::vector<const TensorBase*> bases;
  for (const Tensor& tensor : tensors) bases.push_back(&tensor);
  const DimVector sizes = broadcast_shape(bases);
  std::vector<Tensor> views;
  for (const Tensor& tensor : tensors) views.push_back(tensor.expand(sizes));
  return views;
}

/// Result i is tensor i along dimension i of the grid, and the same along all others.
std::vector<Tensor> native::meshgrid(TensorList tensors) {
  TENON_CHECK(!tensors.empty(), "[meshgrid] meshgrid expects a non-empty TensorList");
  DimVector sizes;
  for (const Tensor& tensor : tensors) {
    TENON_CHECK(tensor.dim() <= 1,
                "[meshgrid] Expected 0D or 1D tensor in the tensor list but got shape ",
                tensor.sizes());
    TENON_CHECK(tensor.scalar_type() == tensors[0].scalar_type(),
                "[meshgrid] meshgrid expects all tensors to have the same dtype, got ",
                tensors[0].scalar_type(), " and ", tensor.scalar_type());
    TENON_CHECK(tensor.device() == tensors[0].device(),
                "[meshgrid] meshgrid expects all tensors to have the same device, got ",
                tensors[0].device(), " and ", tensor.device());
    sizes.push_back(tensor.numel());
  }
  std::vector<Tensor> views;
  for (size_t i = 0; i < tensors.size(); ++i) {
    DimVector own(tensors.size(), 1);
    own[i] = sizes[i];
    views.push_back(tensors[i].reshape(own).expand(sizes));
  }
  return views;
}

/// "ij" as above; "xy" exchanges the first two dimensions of the grid.
std::vector<Tensor> native::meshgrid_indexing(TensorList tensors, std::string_view indexing) {
  TENON_CHECK(indexing == "ij" || indexing == "xy",
              "[meshgrid] torch.meshgrid: indexing must be one of \"xy\" or \"ij\", but received: ",
              indexing);
  if (indexing == "ij" || tensors.size() < 2) return tenon::meshgrid(tensors);
  std::vector<Tensor> given(tensors.begin(), tensors.end());
  std::swap(given[0], given[1]);
  std::vector<Tensor> views = tenon::meshgrid(given);
  std::swap(views[0], views[1]);
  return views;
}

/// Every combination of the vectors' elements, a row each, the last changing fastest.
Tensor native::cartesian_prod(TensorList tensors) {
  TENON_CHECK(!tensors.empty(), "[cartesian_prod] expects a non-empty TensorList");
  for (const Tensor& tensor : tensors) {
    TENON_CHECK(tensor.dim() == 1, "[cartesian_prod] Expect a 1D vector, but got shape ",
                tensor.sizes());
  }
  if (tensors.size() == 1) return tensors[0];
  std::vector<Tensor> columns = tenon::meshgrid(tensors);
  for (Tensor& column : columns) column = column.flatten();
  return stack(columns, 1);
}

}  // namespace tenon
