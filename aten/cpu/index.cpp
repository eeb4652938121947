// Elements by index tensors, and assignment to them.
#include "tenon/native/index.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "aten/common/contiguous.h"
#include "aten/common/index_plan.h"
#include "aten/core/parallel.h"
#include "aten/cpu/dispatch_size.h"
#include "aten/cpu/sum_of.h"
#include "tenon/native/index_put.h"

namespace tenon {
namespace {

using native::IndexPlan;
using Offsets = std::vector<int64_t>;

/// Where the elements of these dimensions lie, in row-major order.
Offsets offsets_of(IntArrayRef sizes, IntArrayRef strides) {
  Offsets all{0};
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 1) continue;
    Offsets next;
    next.reserve(all.size() * static_cast<size_t>(sizes[d]));
    for (const int64_t offset : all) {
      for (int64_t i = 0; i < sizes[d]; ++i) next.push_back(offset + i * strides[d]);
    }
    all = std::move(next);
  }
  return all;
}

/// What the index tensors add to an element's offset, for all elements of the block.
Offsets block_offsets(const char* op, const IndexPlan& plan) {
  Offsets all(static_cast<size_t>(numel_of(plan.block_sizes())));
  for (const IndexPlan::Index& index : plan.indices) {
    const TensorBase positions = native::contiguous(index.at);
    const auto* at = static_cast<const int64_t*>(positions.const_data_ptr());
    parallel_for(0, static_cast<int64_t>(all.size()), 16384, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        if (TENON_UNLIKELY(at[i] < -index.length || at[i] >= index.length)) {
          native::throw_index_out_of_bounds(op, at[i], index.dim, index.length);
        }
        all[i] += (at[i] < 0 ? at[i] + index.length : at[i]) * index.step;
      }
    });
  }
  return all;
}

bool is_contiguous(IntArrayRef sizes, IntArrayRef strides) {
  int64_t expected = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    if (sizes[d] != 1 && strides[d] != expected) return false;
    expected *= sizes[d];
  }
  return true;
}

/// Offsets of one tensor along the three groups of the result's dimensions.
struct Walk {
  Offsets before, block, after;
  bool run = false;  ///< the elements after the block follow one another

  Walk(const IndexPlan& plan, IntArrayRef strides, Offsets of_block)
      : before(offsets_of(plan.before_sizes(), strides.slice(0, plan.before))),
        block(std::move(of_block)) {
    const IntArrayRef rest = strides.slice(plan.before + plan.block);
    run = is_contiguous(plan.after_sizes(), rest);
    after = offsets_of(plan.after_sizes(), rest);
  }
};

/// Rows of one batch that a thread of its own is worth.
int64_t row_grain(int64_t columns) { return std::max<int64_t>(1, 16384 / (columns + 1)); }

/// Calls write(offset in self, offset in values) for every element of the result. Where elements
/// may be named twice, those that may meet are written by one thread, in the order of the block.
template <class Write>
void for_each_written(const IndexPlan& plan, const Walk& to, const Walk& from, Write&& write) {
  const auto rows = static_cast<int64_t>(to.block.size());
  const auto columns = static_cast<int64_t>(to.after.size());
  const auto batches = static_cast<int64_t>(to.before.size());
  const auto row = [&](int64_t batch, int64_t k, int64_t begin, int64_t end) {
    const int64_t target = to.before[batch] + to.block[k];
    const int64_t source = from.before[batch] + from.block[k];
    for (int64_t j = begin; j < end; ++j) write(target + to.after[j], source + from.after[j]);
  };
  if (plan.distinct) {
    parallel_for(0, batches * rows, row_grain(columns), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) row(i / rows, i % rows, 0, columns);
    });
    return;
  }
  bool repeats = false;
  for (size_t d = 0; d < plan.sizes.size(); ++d) {
    const bool in_block = d >= plan.before && d < plan.before + plan.block;
    repeats = repeats || (!in_block && plan.strides[d] == 0 && plan.sizes[d] > 1);
  }
  const int64_t chunk = repeats ? columns : std::min<int64_t>(columns, 1024);
  const int64_t chunks = (columns + chunk - 1) / chunk;
  const int64_t units = batches * chunks;
  const int64_t grain = repeats ? units : std::max<int64_t>(1, 16384 / (rows * chunk));
  parallel_for(0, units, grain, [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t first = unit % chunks * chunk;
      const int64_t stop = std::min(columns, first + chunk);
      for (int64_t k = 0; k < rows; ++k) row(unit / chunks, k, first, stop);
    }
  });
}

}  // namespace

/// out[i, b, j] = self[i, indices[b], j]
Tensor native::index_cpu(const Tensor& self, ArrayRef<std::optional<Tensor>> indices) {
  const IndexPlan plan = plan_index("index", self, indices);
  const DimVector strides = plan.result_strides(self);
  Tensor result(tenon::empty_strided(plan.sizes, strides, self.scalar_type(), self.device()));
  const Walk walk(plan, plan.strides, block_offsets("index", plan));
  if (result.numel() == 0) return result;
  const ContiguousOutput out(result);
  dispatch_size(self.element_size(), [&]<class T>() {
    const auto* from = static_cast<const T*>(self.const_data_ptr());
    auto* to = static_cast<T*>(out.data());
    const auto rows = static_cast<int64_t>(walk.block.size());
    const auto columns = static_cast<int64_t>(walk.after.size());
    const auto batches = static_cast<int64_t>(walk.before.size());
    parallel_for(0, batches * rows, row_grain(columns), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T* source = from + walk.before[i / rows] + walk.block[i % rows];
        T* target = to + i * columns;
        if (columns == 1) {
          *target = *source;
        } else if (walk.run) {
          std::memcpy(target, source, static_cast<size_t>(columns) * sizeof(T));
        } else {
          for (int64_t j = 0; j < columns; ++j) target[j] = source[walk.after[j]];
        }
      }
    });
  });
  out.copy_back();
  return result;
}

/// self[i, indices[b], j] = values[i, b, j], or += with `accumulate`.
Tensor& native::index_put_cpu_(Tensor& self, ArrayRef<std::optional<Tensor>> indices,
                               const Tensor& values, bool accumulate) {
  const IndexPlan plan = plan_index("index_put_", self, indices);
  const TensorBase source = index_put_values(plan, self, values);
  const Walk to(plan, plan.strides, block_offsets("index_put_", plan));
  if (source.numel() == 0) return self;
  const Walk from(plan, source.strides(),
                  offsets_of(plan.block_sizes(), source.strides().slice(plan.before, plan.block)));
  if (accumulate) {
    TENON_DISPATCH_ALL(self.scalar_type(), "index_put_", {
      auto* o = static_cast<scalar_t*>(self.mutable_data_ptr());
      const auto* v = static_cast<const scalar_t*>(source.const_data_ptr());
      for_each_written(plan, to, from, [o, v](int64_t i, int64_t j) { o[i] = sum_of(o[i], v[j]); });
    });
  } else {
    dispatch_size(self.element_size(), [&]<class T>() {
      auto* o = static_cast<T*>(self.mutable_data_ptr());
      const auto* v = static_cast<const T*>(source.const_data_ptr());
      for_each_written(plan, to, from, [o, v](int64_t i, int64_t j) { o[i] = v[j]; });
    });
  }
  return self;
}

}  // namespace tenon
