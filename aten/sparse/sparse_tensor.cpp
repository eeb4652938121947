#include "aten/sparse/sparse_tensor.h"

#include <numeric>

#include "tenon/ops/add.h"
#include "tenon/ops/arange.h"
#include "tenon/ops/cat.h"
#include "tenon/ops/coalesce.h"
#include "tenon/ops/empty.h"
#include "tenon/ops/index_add.h"
#include "tenon/ops/index_select.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/reshape.h"
#include "tenon/ops/sort.h"
#include "tenon/ops/unsqueeze.h"
#include "tenon/ops/values.h"
#include "tenon/ops/where.h"
#include "tenon/ops/zeros.h"

namespace tenon::sparse {
namespace {

Tensor make(Layout layout, Backend backend, IntArrayRef sizes, const Tensor& values) {
  TENON_CHECK_NOT_IMPLEMENTED(values.is_cpu(), "sparse tensors are available on the CPU, got ",
                              values.device());
  register_kernels();
  Tensor t{IntrusivePtr<TensorImpl>::adopt(TensorImpl::create(values.scalar_type(), kCPU))};
  TensorImpl& impl = *t.unsafe_impl();
  impl.numel = numel_of(sizes);
  impl.set_sizes_and_strides(sizes, DimVector(sizes.size(), 0));
  impl.contiguous = false;
  impl.has_memory = false;
  impl.layout = layout;
  impl.key_set = DispatchKeySet(kThreadLayers, 0) | DispatchKeySet(backend);
  impl.sparse = new SparseValue;
  impl.sparse->values = make_detached(values).impl();
  impl.sparse->sparse_dim = 2;
  return t;
}

Tensor shared(const IntrusivePtr<TensorImpl>& impl) {
  return Tensor(make_detached(TensorBase(impl)));
}

int64_t product(IntArrayRef sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

/// Sizes of rows: {count, *sizes of rows}.
DimVector rows_of(int64_t count, IntArrayRef row) {
  DimVector sizes;
  sizes.push_back(count);
  for (const int64_t size : row) sizes.push_back(size);
  return sizes;
}

}  // namespace

const char* name_of(Layout layout) {
  constexpr const char* kNames[] = {"Strided",   "Sparse",    "SparseCsr", "Mkldnn",
                                    "SparseCsc", "SparseBsr", "SparseBsc"};
  return kNames[static_cast<int>(layout)];
}

Tensor indices_of(const TensorBase& coo) { return shared(content_of(coo).indices); }
Tensor compressed_of(const TensorBase& t) { return shared(content_of(t).indices); }
Tensor plain_of(const TensorBase& t) { return shared(content_of(t).plain_indices); }
Tensor values_of(const TensorBase& t) { return shared(content_of(t).values); }

Tensor make_coo(IntArrayRef sizes, int64_t sparse_dim, const Tensor& indices, const Tensor& values,
                bool coalesced) {
  Tensor t = make(kSparse, Backend::SparseCPU, sizes, values);
  SparseValue& content = content_of(t);
  content.indices = make_detached(indices).impl();
  content.sparse_dim = sparse_dim;
  content.dense_dim = static_cast<int64_t>(sizes.size()) - sparse_dim;
  content.coalesced = coalesced;
  return t;
}

Tensor make_compressed(Layout layout, IntArrayRef sizes, const Tensor& compressed,
                       const Tensor& plain, const Tensor& values) {
  Tensor t = make(layout, Backend::SparseCsrCPU, sizes, values);
  SparseValue& content = content_of(t);
  content.indices = make_detached(compressed).impl();
  content.plain_indices = make_detached(plain).impl();
  content.dense_dim = values.dim() - plain.dim() - (has_blocks(layout) ? 2 : 0);
  content.coalesced = true;
  return t;
}

Tensor with_values(const TensorBase& t, const Tensor& values) {
  if (is_compressed(t.layout()))
    return make_compressed(t.layout(), t.sizes(), compressed_of(t), plain_of(t), values);
  const SparseValue& content = content_of(t);
  return make_coo(t.sizes(), content.sparse_dim, indices_of(t), values, content.coalesced);
}

Tensor empty_like_layout(const TensorBase& like, IntArrayRef sizes, ScalarType dtype) {
  const SparseValue& content = content_of(like);
  if (!is_compressed(like.layout())) {
    const int64_t sparse_dim = std::min<int64_t>(content.sparse_dim, sizes.size());
    const auto row = sizes.slice(static_cast<size_t>(sparse_dim));
    return make_coo(sizes, sparse_dim, tenon::zeros({sparse_dim, 0}, kLong),
                    tenon::zeros(rows_of(0, row), dtype), true);
  }
  const Tensor compressed = compressed_of(like), plain = plain_of(like), values = values_of(like);
  DimVector plain_sizes(plain.sizes()), value_sizes(values.sizes());
  plain_sizes.back() = 0;
  value_sizes[plain_sizes.size() - 1] = 0;
  DimVector compressed_sizes(compressed.sizes());
  if (!(like.sizes() == sizes)) {
    const size_t batch = plain_sizes.size() - 1;
    const size_t dim = batch + (compresses_rows(like.layout()) ? 0 : 1);
    const auto block = block_of(like);
    compressed_sizes.back() = sizes[dim] / block[dim - batch] + 1;
  }
  return make_compressed(
      like.layout(), sizes, tenon::zeros(compressed_sizes, compressed.scalar_type()),
      tenon::zeros(plain_sizes, plain.scalar_type()), tenon::zeros(value_sizes, dtype));
}

Tensor empty_of_layout(Layout layout, IntArrayRef sizes, ScalarType dtype, Device device) {
  TENON_CHECK_NOT_IMPLEMENTED(device.is_cpu(), "sparse tensors are available on the CPU, got ",
                              device);
  if (layout == kSparse) {
    const auto n = static_cast<int64_t>(sizes.size());
    return make_coo(sizes, n, tenon::zeros({n, 0}, kLong), tenon::zeros({0}, dtype), true);
  }
  TENON_CHECK(!has_blocks(layout), "torch.empty: Only sparse CSR and CSC layouts are supported, ",
              "got ", layout);
  TENON_CHECK(sizes.size() >= 2, "torch.empty: Only batched sparse compressed (non-block) tensors ",
              "are supported, but got size ", sizes);
  const size_t batch = sizes.size() - 2;
  DimVector compressed(sizes.slice(0, batch + 1)), plain(sizes.slice(0, batch + 1));
  compressed[batch] = sizes[batch + (layout == kSparseCsr ? 0 : 1)] + 1;
  plain[batch] = 0;
  return make_compressed(layout, sizes, tenon::zeros(compressed, kLong), tenon::zeros(plain, kLong),
                         tenon::zeros(plain, dtype));
}

void become(const TensorBase& self, const TensorBase& other) {
  if (self.is_same(other)) return;
  TensorImpl& to = *self.unsafe_impl();
  const TensorImpl& from = *other.unsafe_impl();
  TENON_CHECK(to.layout == from.layout, "a tensor of layout ", to.layout,
              " cannot be changed in place to one of layout ", from.layout);
  TENON_CHECK(to.dtype == from.dtype, "result type ", from.dtype,
              " can't be cast to the desired output type ", to.dtype);
  *to.sparse = *from.sparse;
  to.set_sizes_and_strides(from.sizes, from.strides);
  to.contiguous = false;
}

Tensor flat_positions(const Tensor& indices, IntArrayRef sizes) {
  const int64_t count = indices.size(1);
  if (sizes.size() == 0) return tenon::zeros({count}, kLong);
  Tensor flat = indices.select(0, 0);
  for (size_t d = 1; d < sizes.size(); ++d)
    flat = flat * sizes[d] + indices.select(0, static_cast<int64_t>(d));
  return flat.contiguous();
}

Tensor indices_at(const Tensor& positions, IntArrayRef sizes) {
  const int64_t count = positions.numel();
  const auto n = static_cast<int64_t>(sizes.size());
  Tensor indices = tenon::empty({n, count}, kLong);
  auto* const to = indices.data_ptr<int64_t>();
  const auto* const from = positions.const_data_ptr<int64_t>();
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = from[i];
    for (int64_t d = n; d-- > 0;) {
      to[d * count + i] = rest % sizes[static_cast<size_t>(d)];
      rest /= sizes[static_cast<size_t>(d)];
    }
  }
  return indices;
}

Groups group_equal(const Tensor& keys) {
  const int64_t n = keys.numel();
  const auto [sorted, order] = ops::sort_stable::call(keys, true, 0, false);
  Tensor unique = tenon::empty({n}, kLong), group = tenon::empty({n}, kLong);
  const auto* const key = sorted.const_data_ptr<int64_t>();
  const auto* const place = order.const_data_ptr<int64_t>();
  auto* const kept = unique.data_ptr<int64_t>();
  auto* const of = group.data_ptr<int64_t>();
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (i == 0 || key[i] != key[i - 1]) kept[count++] = key[i];
    of[place[i]] = count - 1;
  }
  return {unique.narrow(0, 0, count), group};
}

Tensor sum_groups(const Tensor& rows, const Tensor& group, int64_t count) {
  const DimVector sizes = rows_of(count, rows.sizes().slice(1));
  if (rows.scalar_type() == kBool) return sum_groups(rows.to(kLong), group, count).to(kBool);
  return ops::index_add::call(tenon::zeros(sizes, rows.scalar_type()), 0, group, rows, 1);
}

std::array<int64_t, 2> block_of(const TensorBase& t) {
  if (!has_blocks(t.layout())) return {1, 1};
  const SparseValue& content = content_of(t);
  const DimVector& sizes = content.values->sizes;
  const size_t first = content.plain_indices->sizes.size();
  return {sizes[first], sizes[first + 1]};
}

Tensor coo_of_compressed(const TensorBase& t) {
  const SparseValue& content = content_of(t);
  const Tensor starts = compressed_of(t).to(kLong).contiguous();
  const Tensor places = plain_of(t).to(kLong).contiguous();
  const auto batch_dims = static_cast<size_t>(places.dim() - 1);
  const int64_t nnz = places.size(-1), slots = starts.size(-1) - 1;
  const int64_t batches = product(places.sizes().slice(0, batch_dims));
  const auto [height, width] = block_of(t);
  const bool rows = compresses_rows(t.layout());
  const int64_t count = batches * nnz * height * width;
  const auto n = static_cast<int64_t>(batch_dims) + 2;
  Tensor indices = tenon::empty({n, count}, kLong);
  auto* const to = indices.data_ptr<int64_t>();
  const auto* const start = starts.const_data_ptr<int64_t>();
  const auto* const place = places.const_data_ptr<int64_t>();
  int64_t at = 0;
  for (int64_t b = 0; b < batches; ++b) {
    int64_t slot = 0;
    for (int64_t i = 0; i < nnz; ++i) {
      while (slot + 1 < slots && start[b * (slots + 1) + slot + 1] <= i) ++slot;
      const int64_t plain = place[b * nnz + i];
      const int64_t row = (rows ? slot : plain) * height, column = (rows ? plain : slot) * width;
      for (int64_t y = 0; y < height; ++y) {
        for (int64_t x = 0; x < width; ++x, ++at) {
          int64_t rest = b;
          for (int64_t d = n - 2; d-- > 0;) {
            to[d * count + at] = rest % t.sizes()[static_cast<size_t>(d)];
            rest /= t.sizes()[static_cast<size_t>(d)];
          }
          to[(n - 2) * count + at] = row + y;
          to[(n - 1) * count + at] = column + x;
        }
      }
    }
  }
  const Tensor values = values_of(t);
  const auto row = values.sizes().slice(values.sizes().size() - content.dense_dim);
  return make_coo(t.sizes(), n, indices, ops::reshape::call(values, rows_of(count, row)),
                  t.layout() == kSparseCsr);
}

Tensor elements_at(const Tensor& t, const Tensor& indices) {
  TENON_CHECK(indices.dim() == 2 && indices.scalar_type() == kLong && indices.size(0) <= t.dim(),
              "expected int64 indices [sparse dimensions, nnz] of a tensor of sizes ", t.sizes(),
              ", got ", indices.scalar_type(), indices.sizes());
  const auto n = static_cast<size_t>(indices.size(0));
  const IntArrayRef sizes = t.sizes().slice(0, n), row = t.sizes().slice(n);
  const Tensor flat = flat_positions(indices, sizes);
  if (t.layout() == kStrided) {
    const Tensor rows = ops::reshape::call(t, rows_of(product(sizes), row));
    return ops::index_select::call(rows, 0, flat);
  }
  const Tensor coo = ops::coalesce::call(is_compressed(t.layout()) ? Tensor(t.to_sparse()) : t);
  TENON_CHECK(content_of(coo).sparse_dim == static_cast<int64_t>(n), "expected a tensor with ", n,
              " sparse dimensions, got one with ", content_of(coo).sparse_dim);
  // A row of zeros, at the place after the last one, serves the places that it lacks.
  const Tensor keys = flat_positions(indices_of(coo), sizes);
  const int64_t count = keys.numel(), wanted = flat.numel();
  Tensor places = tenon::empty({wanted}, kLong);
  const auto* const key = keys.const_data_ptr<int64_t>();
  const auto* const want = flat.const_data_ptr<int64_t>();
  auto* const place = places.data_ptr<int64_t>();
  for (int64_t i = 0; i < wanted; ++i) {
    const auto* const found = std::lower_bound(key, key + count, want[i]);
    place[i] = found != key + count && *found == want[i] ? found - key : count;
  }
  const Tensor values = ops::values::call(coo);
  const Tensor zero = tenon::zeros(rows_of(1, row), values.scalar_type());
  const Tensor parts[] = {values, zero};
  return ops::index_select::call(ops::cat::call(parts, 0), 0, places);
}

}  // namespace tenon::sparse
