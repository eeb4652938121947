// Operators that read and write at positions.

#include <algorithm>

#include "aten/batching/rules/rule.h"
#include "aten/core/error.h"
#include "tenon/ops/arange.h"
#include "tenon/ops/clone.h"
#include "tenon/ops/copy.h"
#include "tenon/ops/embedding.h"
#include "tenon/ops/embedding_dense_backward.h"
#include "tenon/ops/expand.h"
#include "tenon/ops/flatten.h"
#include "tenon/ops/gather.h"
#include "tenon/ops/index.h"
#include "tenon/ops/index_add.h"
#include "tenon/ops/index_fill.h"
#include "tenon/ops/index_put.h"
#include "tenon/ops/index_select.h"
#include "tenon/ops/lt.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/nonzero.h"
#include "tenon/ops/permute.h"
#include "tenon/ops/reshape.h"
#include "tenon/ops/scatter.h"
#include "tenon/ops/scatter_add.h"
#include "tenon/ops/to.h"
#include "tenon/ops/unbind.h"
#include "tenon/ops/unflatten.h"
#include "tenon/ops/unsqueeze.h"
#include "tenon/ops/where.h"

namespace tenon::batching {
namespace {

/// 0, 1, ... for the examples, shaped to broadcast with a batched index of `rank` dimensions.
Tensor example_numbers(const Call& call, int64_t rank, const Tensor& like) {
  DimVector sizes(static_cast<size_t>(rank) + 1, 1);
  sizes[0] = call.batch();
  return arange(call.batch(), TensorOptions().dtype(kLong).device(like.device())).reshape(sizes);
}

/// The same positions along dimension `dim` of every row: [B, K] as the sizes with K at `dim`.
Tensor positions(const Tensor& index, IntArrayRef sizes, int64_t dim) {
  DimVector shape(sizes.size(), 1), full(sizes.begin(), sizes.end());
  const int64_t k = index.size(1);
  shape[0] = sizes[0];
  shape[static_cast<size_t>(dim)] = full[static_cast<size_t>(dim)] = k;
  return index.reshape(shape).expand(full);
}

struct Along {
  explicit Along(const Call& call)
      : self(call.in_front("self")), index(call.tensor("index")), rank(call.tensor("self").dim()) {
    no_dims = rank == 0;
    if (no_dims) self = self.unsqueeze(1);
    dim = call.dim("dim", std::max<int64_t>(rank, 1));
    index_batched = call.is_batched(index);
    if (!index_batched) return;
    TENON_CHECK_INDEX(index.dim() <= 1, "[", call.name(),
                      "] index must be 1-dimensional, got one of ", index.dim(), " dimensions");
    index = value_of(index).reshape({call.batch(), -1}).to(kLong);
  }
  Tensor self, index;
  int64_t rank, dim = 0;
  bool no_dims = false, index_batched = false;

  Values done(const Tensor& result) const {
    if (!no_dims) return {result};
    return {result.reshape({self.size(0)})};
  }
  Tensor at_positions() const { return positions(index, self.sizes(), dim); }
};

Values index_select_rule(const Call& call) {
  const Along a(call);
  if (!a.index_batched) return a.done(a.self.index_select(a.dim, a.index));
  return a.done(a.self.gather(a.dim, a.at_positions()));
}

Values index_add_rule(const Call& call) {
  const Along a(call);
  Tensor source = call.in_front("source");
  if (call.tensor("source").dim() == 0) source = source.unsqueeze(1);
  const Scalar alpha = call["alpha"].to_scalar();
  if (!a.index_batched) return a.done(a.self.index_add(a.dim, a.index, source, alpha));
  return a.done(
      a.self.scatter_add(a.dim, positions(a.index, source.sizes(), a.dim), source * alpha));
}

Values index_fill_rule(const Call& call) {
  const Along a(call);
  const Scalar value = call["value"].to_scalar();
  if (!a.index_batched) return a.done(a.self.index_fill(a.dim, a.index, value));
  return a.done(a.self.scatter(a.dim, a.at_positions(), value));
}

/// The indices of an example, as those of the batch: with `None` for the batch's dimension, or its
/// example numbers if an index is batched. Where the result then has the dimensions of the indices.
struct Indices {
  Indices(const Call& call, const Tensor& self) {
    const Value::Tensors given = call["indices"].to_tensors();
    int64_t broadcast = 0;
    for (const TensorBase& t : given) {
      if (!t.defined()) continue;
      batched |= call.is_batched(t);
      const bool mask = t.scalar_type() == kBool || t.scalar_type() == kByte;
      TENON_CHECK(!mask || !call.is_batched(t), "vmap: [", call.name(),
                  "] an index of bools that is batched selects another "
                  "number of elements in each example, which one shape cannot hold. Use where()");
      broadcast = std::max(broadcast, mask ? int64_t{1} : t.dim());
    }
    // None, then a run of indices, then None: where the run begins, and whether it is one.
    int64_t at = 0, last = -1;
    for (const TensorBase& t : given) {
      const bool mask = t.defined() && (t.scalar_type() == kBool || t.scalar_type() == kByte);
      if (t.defined()) {
        if (first < 0) {
          first = at;
        } else if (last + 1 != at) {
          adjacent = false;
        }
        last = at + (mask ? t.dim() : 1) - 1;
      }
      at += mask ? t.dim() : 1;
    }
    rank = broadcast;
    for (const TensorBase& t : given) {
      Tensor index(t);
      if (index.defined() && call.is_batched(index)) {
        index = call.aligned(index, rank);
      } else if (batched && index.defined() &&
                 (index.scalar_type() == kBool || index.scalar_type() == kByte)) {
        for (const Tensor& of_dim : index.nonzero().unbind(1)) list.emplace_back(of_dim);
        continue;
      }
      list.emplace_back(index.defined() ? std::optional(index) : std::nullopt);
    }
    if (batched) {
      list.insert(list.begin(), example_numbers(call, rank, self));
    } else {
      list.insert(list.begin(), std::nullopt);
    }
  }
  std::vector<std::optional<Tensor>> list;
  bool batched = false, adjacent = true;
  int64_t first = -1;  ///< the dimension of the first index
  int64_t rank = 0;    ///< of the indices, broadcast

  /// From the dimensions of what the batch's indices select to [B, what an example's select].
  std::vector<int64_t> order(int64_t dims) const {
    std::vector<int64_t> order;
    if (!batched) {
      // [rank dimensions, B, others] if the indices are apart: they are in front then.
      if (adjacent) return order;
      order.push_back(rank);
      for (int64_t d = 0; d < rank; ++d) order.push_back(d);
      for (int64_t d = rank + 1; d < dims; ++d) order.push_back(d);
      return order;
    }
    // [B, rank dimensions, others]; an example has `first` others before them.
    if (!adjacent || first <= 0) return order;
    order.push_back(0);
    for (int64_t d = 0; d < first; ++d) order.push_back(1 + rank + d);
    for (int64_t d = 0; d < rank; ++d) order.push_back(1 + d);
    for (int64_t d = 1 + rank + first; d < dims; ++d) order.push_back(d);
    return order;
  }
};

Values index_rule(const Call& call) {
  const Tensor self = call.in_front("self");
  const Indices indices(call, self);
  const Tensor result = self.index(indices.list);
  const std::vector<int64_t> order = indices.order(result.dim());
  return {order.empty() ? result : result.permute(order)};
}

Values index_put_rule(const Call& call) {
  const Tensor self = call.value("self"), values = call.tensor("values");
  const Indices indices(call, self);
  // The shape of what is written, as index() has it.
  const Tensor selected = self.detach().index(indices.list);
  const std::vector<int64_t> order = indices.order(selected.dim());
  Tensor source = call.is_batched(values) ? call.aligned(values, selected.dim() - 1) : values;
  if (!order.empty()) {
    DimVector sizes;
    for (const int64_t d : order) sizes.push_back(selected.size(d));
    source = source.expand(sizes);
    std::vector<int64_t> back(order.size());
    for (size_t i = 0; i < order.size(); ++i)
      back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
    source = source.permute(back);
  }
  Tensor(self).index_put_(indices.list, source, call["accumulate"].to_bool());
  return {};
}

/// Into a copy of self.
Values index_put_copy_rule(const Call& call) {
  Values arguments = call.arguments();
  const Tensor copy = call.in_front("self").clone(MemoryFormat::Contiguous);
  arguments[0] = make_batched(copy, call.level());
  index_put_rule(Call(call.op(), call.schema(), arguments.data(), call.level()));
  return {copy};
}

/// At positions of the elements of an example.
Values put_rule(const Call& call) {
  const Tensor self = call.in_front("self");
  const Tensor all = call.tensor("self").dim() == 0 ? self.unsqueeze(1) : self.flatten(1);
  const auto flat = [&](std::string_view name) {
    return call.in_front(name).reshape({call.batch(), -1});
  };
  Tensor index = flat("index").to(kLong);
  index = where(index < 0, index + all.size(1), index);
  const Tensor source = flat("source");
  const Tensor result = call["accumulate"].to_bool() ? all.scatter_add(1, index, source)
                                                     : all.scatter(1, index, source);
  return {result.reshape(self.sizes())};
}

Values searchsorted_rule(const Call& call) {
  const Tensor sorted = call.tensor("sorted_sequence"), of = call.tensor("self");
  Values arguments = call.arguments();
  const Tensor sorter = call.has("sorter") ? call.tensor("sorter") : Tensor();
  const bool shared = !call.is_batched(sorted) && sorted.dim() == 1 &&
                      (!sorter.defined() || !call.is_batched(sorter));
  if (shared) {
    arguments[1] = call.value(of);
    return call.call(std::move(arguments));
  }
  arguments[0] = call.in_front(sorted);
  if (sorter.defined()) arguments[call.index("sorter")] = call.in_front(sorter);
  const Tensor values = call.in_front(of);
  // One row of boundaries per example: all values of it as one row.
  arguments[1] = sorted.dim() == 1 ? values.reshape({call.batch(), -1}) : values;
  Values results = call.call(std::move(arguments));
  results[0] = Tensor(results[0].to_tensor()).reshape(values.sizes());
  return results;
}

Values bucketize_rule(const Call& call) {
  if (call.is_batched("boundaries")) return run_loop(call);
  Values arguments = call.arguments();
  arguments[0] = call.value("self");
  return call.call(std::move(arguments));
}

Values of_elements(const Call& call) { return run_elements(call, {}); }

/// masked_fill with a number that differs from example to example.
Tensor masked_fill_value(const Call& call) {
  const int64_t rank = std::max(call.tensor("self").dim(), call.tensor("mask").dim());
  const Tensor self = call.aligned(call.tensor("self"), rank);
  const Tensor value = call.aligned(call.tensor("value"), rank).to(self.scalar_type());
  return where(call.aligned(call.tensor("mask"), rank), value, self);
}

Values masked_fill_rule(const Call& call) {
  if (!call.is_batched("value")) return run_elements(call, {"self"});
  return {masked_fill_value(call)};
}

Values masked_fill_in_place(const Call& call) {
  if (!call.is_batched("value")) return run_elements(call, {"self"});
  Tensor(call.value("self")).copy_(masked_fill_value(call));
  return {};
}

Values fill_rule(const Call& call) {
  const Tensor self = call.in_front("self");
  const Tensor value = call.aligned(call.tensor("value"), self.dim() - 1);
  return {value.to(self.scalar_type()).expand(self.sizes()).clone(MemoryFormat::Contiguous)};
}

Values embedding_rule(const Call& call) {
  const Tensor weight = call.tensor("weight"), indices = call.tensor("indices");
  const int64_t padding = call.integer("padding_idx");
  if (!call.is_batched(weight)) {
    return {embedding(weight, call.value(indices), padding, call["scale_grad_by_freq"].to_bool(),
                      call["sparse"].to_bool())};
  }
  if (padding >= 0) return run_loop(call);
  const Tensor rows = value_of(weight).flatten(0, 1);
  const Tensor numbers = example_numbers(call, indices.dim(), indices) * weight.size(0);
  return {embedding(rows, call.in_front(indices) + numbers, -1,
                    call["scale_grad_by_freq"].to_bool(), false)};
}

Values embedding_dense_backward_rule(const Call& call) {
  const Tensor grad = call.in_front("grad_output"), indices = call.tensor("indices");
  const int64_t count = call.integer("num_weights"), padding = call.integer("padding_idx");
  const Tensor numbers = example_numbers(call, indices.dim(), indices) * count;
  const Tensor rows =
      embedding_dense_backward(grad, call.in_front(indices) + numbers, count * call.batch(), -1,
                               call["scale_grad_by_freq"].to_bool())
          .unflatten(0, {call.batch(), count});
  if (padding < 0) return {rows};
  const Tensor index =
      arange(padding, padding + 1, TensorOptions().dtype(kLong).device(rows.device()));
  return {rows.index_fill(1, index, 0)};
}

Values copy_rule(const Call& call) {
  const Tensor self = call.value("self");
  Tensor(self).copy_(call.aligned(call.tensor("src"), call.tensor("self").dim()),
                     call["non_blocking"].to_bool());
  return {};
}

Values fill_tensor_rule(const Call& call) {
  const Tensor value = call.tensor("value");
  TENON_CHECK(value.dim() == 0, "fill_ only supports 0-dimension value tensor but got tensor with ",
              value.dim(), " dimensions.");
  Tensor(call.value("self")).copy_(call.aligned(value, call.tensor("self").dim()));
  return {};
}

[[noreturn]] Values depends_on_data(const Call& call) {
  tenon::detail::raise<Error>(
      "vmap: It looks like you're attempting to use the operator ", call.name(),
      " whose output shape depends on the data: it differs from example to example, and one tensor "
      "cannot hold it. Use an operator whose shape is fixed, such as where()");
}

[[noreturn]] Values no_number(const Call& call) {
  tenon::detail::raise<Error>(
      "vmap: It looks like you're either (1) calling .item() on a Tensor or (2) attempting to use "
      "a Tensor in some data-dependent control flow or (3) encountering this error in the "
      "operator [",
      call.name(),
      "]. A batched tensor has a value for each example: use where() "
      "in place of `if`");
}

}  // namespace

void add_index_rules(RuleTable& table) {
  // They read the elements themselves.
  for (const char* name :
       {"bucketize.Scalar", "searchsorted.Scalar", "isin.Tensor_Tensor", "isin.Tensor_Scalar",
        "isin.Scalar_Tensor", "_ctc_loss.Tensor", "_ctc_loss_backward.Tensor", "ctc_loss.Tensor",
        "_embedding_bags", "histc", "histogram.bin_ct", "histogram.bins_tensor", "one_hot",
        "_unsafe_masked_index_put_accumulate", "masked_scatter"})
    table.emplace(std::string("aten::") + name, run_loop);
  table.insert({
      {"aten::index_select", below<index_select_rule>},
      {"aten::index_add", below<index_add_rule>},
      {"aten::index_fill.int_Scalar", below<index_fill_rule>},
      {"aten::index.Tensor", below<index_rule>},
      {"aten::index_put_", below<index_put_rule>},
      {"aten::embedding", below<embedding_rule>},
      {"aten::embedding_dense_backward", below<embedding_dense_backward_rule>},
      {"aten::index_put", below<index_put_copy_rule>},
      {"aten::put", below<put_rule>},
      {"aten::searchsorted.Tensor", below<searchsorted_rule>},
      {"aten::bucketize.Tensor", below<bucketize_rule>},
      {"aten::nextafter", below<of_elements>},
      {"aten::masked_fill.Tensor", below<masked_fill_rule>},
      {"aten::masked_fill_.Tensor", below<masked_fill_in_place>},
      {"aten::fill.Tensor", below<fill_rule>},
      {"aten::copy_", below<copy_rule>},
      {"aten::fill_.Tensor", below<fill_tensor_rule>},
      {"aten::nonzero", depends_on_data},
      {"aten::masked_select", depends_on_data},
      {"aten::unique_dim", depends_on_data},
      {"aten::_unique2", depends_on_data},
      {"aten::unique_consecutive", depends_on_data},
      {"aten::bincount", depends_on_data},
      {"aten::repeat_interleave.Tensor", depends_on_data},
      {"aten::tensor_split.tensor_indices_or_sections", no_number},
      {"aten::_local_scalar_dense", no_number},
      {"aten::item", no_number},
      {"aten::equal", no_number},
  });
}

}  // namespace tenon::batching
