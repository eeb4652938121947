#pragma once

#include <functional>
#include <vector>

#include "aten/batching/levels.h"
#include "tenon/tensor.h"

namespace tenon::batching {

/// Whether the tensor is batched at any level that has not ended.
inline bool is_batched(const TensorBase& t) { return t.defined() && t.unsafe_impl()->batched; }
/// The highest level of a batched tensor.
TENON_API const Level& level_of(const TensorBase& t);
inline bool is_batched_at(const TensorBase& t, const BatchLevel& level) {
  return is_batched(t) && level_of(t).get() == &level;
}
/// Of a batched tensor the tensor below its highest level, with the batch in front.
TENON_API Tensor value_of(const TensorBase& t);

/// The tensor that is batched at no level; of one that is not batched that tensor.
TENON_API Tensor value_of_all_levels(const Tensor& t);

/// The tensor whose examples are those along the first dimension of `value`.
TENON_API Tensor make_batched(const TensorBase& value, const Level& level);
/// The same along dimension `dim`.
TENON_API Tensor add_batch_dim(const Tensor& t, int64_t dim, const Level& level);
/// All examples, along dimension `out_dim` of the result; of a tensor that is the same for all of
/// them that tensor as often. IndexError if the dimension is out of range.
TENON_API Tensor remove_batch_dim(const Tensor& t, const Level& level, int64_t out_dim);
/// Of a batched tensor its value; of another tensor, which is the same for all examples, that
/// tensor as often.
TENON_API Tensor batch_in_front(const Tensor& t, const BatchLevel& level);
/// `f` of the values of the tensors, batched at their highest level as they are; undefined if f
/// gives an undefined tensor.
TENON_API Tensor on_values(const std::vector<Tensor>& tensors,
                           const std::function<Tensor(const std::vector<Tensor>& values)>& f);
/// Batched at every level of this thread.
TENON_API Tensor batched_everywhere(const Tensor& t);
/// Takes over the geometry that a change of the value has given it.
void refresh_geometry(const TensorBase& t);

}  // namespace tenon::batching
