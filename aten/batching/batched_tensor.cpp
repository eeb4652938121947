#include "aten/batching/batched_tensor.h"

#include "tenon/ops/expand.h"
#include "tenon/ops/movedim.h"

namespace tenon {

void destroy_batched_value(BatchedValue* value) noexcept { delete value; }

namespace batching {

const Level& level_of(const TensorBase& t) { return t.unsafe_impl()->batched->level; }

Tensor value_of(const TensorBase& t) { return Tensor(t.unsafe_impl()->batched->value); }

Tensor value_of_all_levels(const Tensor& t) {
  Tensor value = t;
  while (is_batched(value)) value = value_of(value);
  return value;
}

void refresh_geometry(const TensorBase& t) {
  TensorImpl& impl = *t.unsafe_impl();
  const TensorImpl& value = *impl.batched->value;
  impl.set_sizes_and_strides(IntArrayRef(value.sizes).slice(1),
                             IntArrayRef(value.strides).slice(1));
}

Tensor make_batched(const TensorBase& value, const Level& level) {
  TENON_ASSERT(value.dim() > 0 && value.size(0) == level->size, "a batch of ", level->size,
               " in a tensor of shape ", value.sizes());
  const TensorImpl& of = *value.unsafe_impl();
  Tensor t{IntrusivePtr<TensorImpl>::adopt(TensorImpl::create(of.dtype, of.device))};
  TensorImpl& impl = *t.unsafe_impl();
  impl.batched = new BatchedValue{value.impl(), level};
  impl.has_memory = false;
  impl.is_inference = of.is_inference;
  // Only the value is resolved: a batched tensor has no memory.
  impl.is_conj = of.is_conj;
  impl.is_neg = of.is_neg;
  impl.key_set = impl.key_set.add(DispatchLayer::Batched);
  refresh_geometry(t);
  return t;
}

Tensor add_batch_dim(const Tensor& t, int64_t dim, const Level& level) {
  return make_batched(dim == 0 ? t : movedim(t, dim, 0), level);
}

Tensor remove_batch_dim(const Tensor& t, const Level& level, int64_t out_dim) {
  const Tensor all = batch_in_front(t, *level);
  out_dim = wrap_dim(out_dim, all.dim());
  return out_dim == 0 ? all : movedim(all, 0, out_dim);
}

Tensor batch_in_front(const Tensor& t, const BatchLevel& level) {
  if (is_batched_at(t, level)) return value_of(t);
  DimVector sizes;
  sizes.push_back(level.size);
  for (const int64_t size : t.sizes()) sizes.push_back(size);
  return t.expand(sizes);
}

Tensor on_values(const std::vector<Tensor>& tensors,
                 const std::function<Tensor(const std::vector<Tensor>& values)>& f) {
  Level highest;
  for (const Tensor& t : tensors) {
    if (is_batched(t) && (!highest || level_of(t)->number > highest->number)) highest = level_of(t);
  }
  std::vector<Tensor> values;
  for (const Tensor& t : tensors) values.push_back(batch_in_front(t, *highest));
  const BelowLevel below(*highest);
  const Tensor result = f(values);
  return result.defined() ? make_batched(result, highest) : result;
}

Tensor batched_everywhere(const Tensor& t) {
  const Level level = current_level();
  if (!level) return t;
  if (is_batched_at(t, *level)) {
    Tensor value;
    {
      const BelowLevel below(*level);
      value = batched_everywhere(value_of(t));
    }
    return value.is_same(value_of(t)) ? t : make_batched(value, level);
  }
  const BelowLevel below(*level);
  return make_batched(batch_in_front(batched_everywhere(t), *level), level);
}

}  // namespace batching
}  // namespace tenon
