#include "aten/common/index_plan.h"

#include <algorithm>

#include "aten/common/check_device.h"
#include "aten/iterator/plan.h"
#include "tenon/ops/nonzero.h"
#include "tenon/ops/select.h"
#include "tenon/ops/to.h"

namespace tenon::native {
namespace {

bool is_mask(const TensorBase& index) {
  return index.scalar_type() == kBool || index.scalar_type() == kByte;
}

/// `t` with stride 0 where it is repeated to make up `sizes`, to which it broadcasts.
TensorBase expanded(const TensorBase& t, IntArrayRef sizes) {
  if (t.sizes() == sizes) return t;
  DimVector strides(sizes.size());
  const size_t missing = sizes.size() - t.sizes().size();
  for (size_t i = 0; i < sizes.size(); ++i) {
    strides[i] = i < missing || t.sizes()[i - missing] == 1 ? 0 : t.strides()[i - missing];
  }
  return make_view(t, sizes, strides, t.storage_offset());
}

/// One index as int64 tensors on self's device, a mask as those of the places where it is set.
void add_index(const char* op, const TensorBase& self, const Tensor& index, size_t place,
               IndexPlan& plan, int64_t& dim) {
  const ScalarType dtype = index.scalar_type();
  TENON_CHECK_INDEX(dtype == kLong || dtype == kInt || is_mask(index), "[", op,
                    "] tensors used as indices must be long, int, byte or bool tensors, got ",
                    dtype, " at index ", place);
  TENON_CHECK(index.device() == self.device() || index.device().is_cpu(), "[", op,
              "] indices should be either on cpu or on the same device as the indexed tensor (",
              self.device(), "), got ", index.device(), " at index ", place);
  const auto add = [&](const Tensor& at) {
    const bool counts = dim < self.dim();
    plan.indices.push_back({at.to(TensorOptions(self.device()).dtype(kLong)), dim,
                            counts ? self.sizes()[dim] : 0, counts ? self.strides()[dim] : 0});
    ++dim;
  };
  if (!is_mask(index)) return add(index);
  for (int64_t i = 0; i < index.dim() && dim + i < self.dim(); ++i) {
    TENON_CHECK_INDEX(index.sizes()[i] == self.sizes()[dim + i], "[", op,
                      "] The shape of the mask ", index.sizes(), " at index ", i,
                      " does not match the shape of the indexed tensor ", self.sizes(),
                      " at index ", dim + i);
  }
  if (index.is_meta()) {
    detail::raise<NotImplementedError>(
        "[", op,
        "] the number of elements that a mask chooses is not known on the meta device, got a mask "
        "of shape ",
        index.sizes());
  }
  // Other devices than these two need not know `nonzero`.
  const Tensor mask = index.is_cpu() || index.is_cuda() ? index : index.to(TensorOptions(kCPU));
  const Tensor places = ops::nonzero::call(mask);
  for (int64_t i = 0; i < index.dim(); ++i) add(ops::select_int::call(places, 1, i));
}

/// The shape that all indices broadcast to.
DimVector block_shape(const char* op, const std::vector<IndexPlan::Index>& indices) {
  DimVector shape;
  bool fits = true;
  for (const auto& index : indices) {
    const IntArrayRef sizes = index.at.sizes();
    if (sizes.size() > shape.size()) {
      DimVector longer(sizes.size());
      const size_t more = sizes.size() - shape.size();
      for (size_t i = 0; i < sizes.size(); ++i) longer[i] = i < more ? 1 : shape[i - more];
      shape = longer;
    }
    for (size_t i = 0; i < sizes.size(); ++i) {
      int64_t& size = shape[shape.size() - 1 - i];
      const int64_t other = sizes[sizes.size() - 1 - i];
      fits = fits && (size == other || size == 1 || other == 1);
      if (size == 1) size = other;
    }
  }
  if (!fits) {
    std::string shapes;
    for (const auto& index : indices) {
      shapes += detail::concat(shapes.empty() ? "" : ", ", index.at.sizes());
    }
    detail::raise<IndexError>("[", op,
                              "] shape mismatch: indexing tensors could not be broadcast together "
                              "with shapes ",
                              shapes);
  }
  return shape;
}

}  // namespace

IndexPlan plan_index(const char* op, const TensorBase& self,
                     ArrayRef<std::optional<Tensor>> indices) {
  IndexPlan plan;
  int64_t dim = 0;
  size_t given = 0;
  for (size_t k = 0; k < indices.size(); ++k) {
    if (!indices[k] || !indices[k]->defined()) {
      ++dim;
      continue;
    }
    ++given;
    add_index(op, self, *indices[k], k, plan, dim);
  }
  TENON_CHECK_INDEX(dim <= self.dim(), "[", op, "] too many indices for tensor of dimension ",
                    self.dim(), " (got ", dim, ")");
  TENON_CHECK_INDEX(!plan.indices.empty(), "[", op, "] at least one index must be provided");
  const size_t first = static_cast<size_t>(plan.indices.front().dim);
  const size_t last = static_cast<size_t>(plan.indices.back().dim);
  const bool adjacent = last - first + 1 == plan.indices.size();
  const DimVector block = block_shape(op, plan.indices);
  for (const auto& index : plan.indices) {
    TENON_CHECK_INDEX(index.length > 0 || numel_of(block) == 0, "[", op,
                      "] index is out of bounds for dimension with size 0");
  }
  plan.before = adjacent ? first : 0;
  plan.block = block.size();
  // A single mask names every place once, and so does every single element.
  const auto single = std::find_if(indices.begin(), indices.end(),
                                   [](const auto& index) { return index && index->defined(); });
  plan.distinct = (given == 1 && is_mask(**single)) || numel_of(block) <= 1;

  size_t next = 0;
  bool placed = false;
  const auto place_block = [&] {
    for (const int64_t size : block) {
      plan.sizes.push_back(size);
      plan.strides.push_back(0);
    }
    placed = true;
  };
  if (!adjacent) place_block();
  for (size_t d = 0; d < self.sizes().size(); ++d) {
    if (next < plan.indices.size() && plan.indices[next].dim == static_cast<int64_t>(d)) {
      ++next;
      if (!placed) place_block();
      continue;
    }
    plan.sizes.push_back(self.sizes()[d]);
    plan.strides.push_back(self.strides()[d]);
    if (self.strides()[d] == 0 && self.sizes()[d] > 1) plan.distinct = false;
  }
  for (auto& index : plan.indices) {
    if (index.step == 0 && index.length > 1) plan.distinct = false;
    index.at = expanded(index.at, block);
  }
  return plan;
}

DimVector IndexPlan::result_strides(const TensorBase& self) const {
  if (numel_of(sizes) == 0) return {};
  // As if self and the indices were the operands of a pointwise operator.
  const TensorBase shown = make_view(self, sizes, strides, self.storage_offset());
  std::vector<TensorBase> shaped;
  DimVector of_index(sizes.size()), with_ones(sizes.size());
  for (const Index& index : indices) {
    for (size_t i = 0; i < sizes.size(); ++i) {
      const bool inside = i >= before && i < before + block;
      with_ones[i] = inside ? sizes[i] : 1;
      of_index[i] = inside ? index.at.strides()[i - before] : 0;
    }
    shaped.push_back(make_view(index.at, with_ones, of_index, index.at.storage_offset()));
  }
  SmallVector<const TensorBase*, 8> operands;
  operands.push_back(&shown);
  for (const TensorBase& t : shaped) operands.push_back(&t);
  DimVector result = output_strides(sizes, operands);
  return IntArrayRef(result) == IntArrayRef(contiguous_strides(sizes)) ? DimVector() : result;
}

TensorBase index_put_values(const IndexPlan& plan, const TensorBase& self, const Tensor& values) {
  const bool moves = values.device() != self.device() && values.is_cpu() && values.dim() == 0;
  if (!moves) meta::check_same_device("index_put_", "self", self, "values", values);
  const IntArrayRef sizes = values.sizes();
  bool fits = sizes.size() <= plan.sizes.size();
  for (size_t i = 1; fits && i <= sizes.size(); ++i) {
    const int64_t size = sizes[sizes.size() - i];
    fits = size == 1 || size == plan.sizes[plan.sizes.size() - i];
  }
  TENON_CHECK(fits, "[index_put_] shape mismatch: value tensor of shape ", sizes,
              " cannot be broadcast to indexing result of shape ", IntArrayRef(plan.sizes));
  TENON_CHECK(values.scalar_type() == self.scalar_type(),
              "[index_put_] Index put requires the source and destination dtypes match, got ",
              self.scalar_type(), " for the destination and ", values.scalar_type(),
              " for the source.");
  const bool shared = values.has_storage() && self.has_storage() && values.is_alias_of(self);
  return expanded(moves ? values.to(self.device()) : shared ? values.clone() : values, plan.sizes);
}

void throw_index_out_of_bounds(const char* op, int64_t at, int64_t dim, int64_t length) {
  detail::raise<IndexError>("[", op, "] index ", at, " is out of bounds for dimension ", dim,
                            " with size ", length);
}

}  // namespace tenon::native
