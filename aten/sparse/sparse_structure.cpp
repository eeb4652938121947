#include "aten/sparse/sparse_kernels.h"

#include "aten/iterator/plan.h"
#include "aten/sparse/sparse_tensor.h"
#include "tenon/ops/cat.h"
#include "tenon/ops/clone.h"
#include "tenon/ops/coalesce.h"
#include "tenon/ops/eq.h"
#include "tenon/ops/index_select.h"
#include "tenon/ops/logical_and.h"
#include "tenon/ops/masked_select.h"
#include "tenon/ops/nonzero.h"
#include "tenon/ops/reshape.h"
#include "tenon/ops/stack.h"
#include "tenon/ops/sub.h"
#include "tenon/ops/t.h"
#include "tenon/ops/to.h"
#include "tenon/ops/transpose.h"
#include "tenon/ops/unsqueeze.h"
#include "tenon/ops/zeros.h"

namespace tenon::sparse {
namespace {

int64_t sparse_dim_of(const Tensor& t) { return content_of(t).sparse_dim; }

Layout flipped(Layout layout) {
  switch (layout) {
  case kSparseCsr: return kSparseCsc;
  case kSparseCsc: return kSparseCsr;
  case kSparseBsr: return kSparseBsc;
  default: return kSparseBsr;
  }
}

/// A COO tensor with the elements `kept`, positions in the order of self.
Tensor with_elements(const Tensor& self, IntArrayRef sizes, const Tensor& indices,
                     const Tensor& kept) {
  return make_coo(sizes, indices.size(0), ops::index_select::call(indices, 1, kept),
                  ops::index_select::call(values_of(self), 0, kept), content_of(self).coalesced);
}

Tensor positions_of(const Tensor& mask) {
  return ops::reshape::call(ops::nonzero::call(mask), {-1});
}

/// The indices without the row d.
Tensor without_row(const Tensor& indices, int64_t d) {
  std::vector<Tensor> rows;
  for (int64_t i = 0; i < indices.size(0); ++i)
    if (i != d) rows.push_back(indices.select(0, i));
  return rows.empty() ? Tensor(tenon::zeros({0, indices.size(1)}, kLong))
                      : ops::stack::call(rows, 0);
}

Tensor like(const Tensor& self, IntArrayRef sizes, std::optional<ScalarType> dtype,
            std::optional<Layout> layout, std::optional<Device> device) {
  const ScalarType type = dtype.value_or(self.scalar_type());
  if (layout == kStrided) return tenon::zeros(sizes, TensorOptions(type).device(device));
  TENON_CHECK_NOT_IMPLEMENTED(!device || device->is_cpu(),
                              "sparse tensors are available on the CPU, got ", *device);
  return !layout || *layout == self.layout() ? empty_like_layout(self, sizes, type)
                                             : empty_of_layout(*layout, sizes, type, kCPU);
}

}  // namespace

Tensor alias(const Tensor& self) { return Tensor(make_detached(self)); }

Tensor clone(const Tensor& self, std::optional<MemoryFormat> memory_format) {
  TENON_CHECK(!memory_format || *memory_format == MemoryFormat::Preserve ||
                  *memory_format == MemoryFormat::Contiguous,
              "unsupported memory format option ", *memory_format);
  const Tensor values = values_of(self).clone();
  if (is_compressed(self.layout()))
    return make_compressed(self.layout(), self.sizes(), compressed_of(self).clone(),
                           plain_of(self).clone(), values);
  return make_coo(self.sizes(), sparse_dim_of(self), indices_of(self).clone(), values,
                  content_of(self).coalesced);
}

Tensor to_copy(const Tensor& self, std::optional<ScalarType> dtype, std::optional<Layout> layout,
               std::optional<Device> device, std::optional<bool>, bool,
               std::optional<MemoryFormat> memory_format) {
  TENON_CHECK_NOT_IMPLEMENTED(!device || device->is_cpu(),
                              "sparse tensors are available on the CPU, got ", *device);
  const Tensor copy = sparse::clone(self, memory_format);
  const Tensor typed = dtype ? with_values(copy, values_of(copy).to(*dtype)) : copy;
  if (!layout || *layout == self.layout()) return typed;
  return *layout == kStrided ? typed.to_dense() : Tensor(typed.to_sparse(*layout));
}

Tensor zeros_like(const Tensor& self, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                  std::optional<Device> device, std::optional<bool>, std::optional<MemoryFormat>) {
  return like(self, self.sizes(), dtype, layout, device);
}

Tensor new_zeros(const Tensor& self, IntArrayRef size, std::optional<ScalarType> dtype,
                 std::optional<Layout> layout, std::optional<Device> device, std::optional<bool>) {
  if (layout == kStrided) return like(self, size, dtype, layout, device);
  return empty_of_layout(layout.value_or(self.layout()), size, dtype.value_or(self.scalar_type()),
                         device.value_or(kCPU));
}

Tensor& copy_(Tensor& self, const Tensor& src, bool) {
  TENON_CHECK(self.layout() == src.layout(),
              "copy_() between dense and sparse Tensors is not implemented! Found self layout = ",
              self.layout(), " and src layout = ", src.layout());
  TENON_CHECK(!is_compressed(self.layout()) || self.sizes() == src.sizes(),
              "copy_: expected self and src to have the same sizes, got ", self.sizes(), " and ",
              src.sizes());
  const Tensor copy = sparse::clone(src, std::nullopt);
  become(self, with_values(copy, values_of(copy).to(self.scalar_type())));
  return self;
}

Tensor& zero_(Tensor& self) {
  become(self, empty_like_layout(self, self.sizes(), self.scalar_type()));
  return self;
}

Tensor transposed(const Tensor& self, int64_t dim0, int64_t dim1) {
  dim0 = wrap_dim(dim0, self.dim());
  dim1 = wrap_dim(dim1, self.dim());
  if (dim0 == dim1) return alias(self);
  const int64_t n = sparse_dim_of(self);
  DimVector sizes(self.sizes());
  std::swap(sizes[static_cast<size_t>(dim0)], sizes[static_cast<size_t>(dim1)]);
  if (is_compressed(self.layout())) {
    const int64_t batch = plain_of(self).dim() - 1;
    TENON_CHECK(std::min(dim0, dim1) == batch && std::max(dim0, dim1) == batch + 1,
                "transpose(): only the two sparse dimensions of a tensor of layout ", self.layout(),
                " can be transposed, got dimensions ", dim0, " and ", dim1);
    const Tensor values = values_of(self);
    return make_compressed(
        flipped(self.layout()), sizes, compressed_of(self), plain_of(self),
        has_blocks(self.layout()) ? values.transpose(batch + 1, batch + 2).contiguous() : values);
  }
  TENON_CHECK((dim0 < n) == (dim1 < n),
              "transpose: transposed dimensions must both be sparse or "
              "both be dense, got sparse_dim: ",
              n, ", d0: ", dim0, ", d1: ", dim1);
  if (dim0 >= n)
    return make_coo(sizes, n, indices_of(self),
                    values_of(self).transpose(dim0 - n + 1, dim1 - n + 1).contiguous(),
                    content_of(self).coalesced);
  Tensor indices = indices_of(self).clone();
  indices.select(0, dim0).copy_(indices_of(self).select(0, dim1));
  indices.select(0, dim1).copy_(indices_of(self).select(0, dim0));
  return make_coo(sizes, n, indices, values_of(self), values_of(self).size(0) < 2);
}

Tensor t(const Tensor& self) {
  TENON_CHECK(self.dim() <= 2,
              "t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got ",
              sparse_dim_of(self), " sparse and ", content_of(self).dense_dim, " dense dimensions");
  return self.dim() < 2 ? alias(self) : transposed(self, 0, 1);
}

Tensor permute(const Tensor& self, IntArrayRef dims) {
  TENON_CHECK(static_cast<int64_t>(dims.size()) == self.dim(),
              "permute(sparse_coo): number of dimensions in the tensor input does not match the "
              "length of the desired ordering of dimensions i.e. input.dim() = ",
              self.dim(), " is not equal to len(dims) = ", dims.size());
  DimVector order;
  std::vector<bool> seen(dims.size());
  for (const int64_t d : dims) {
    order.push_back(wrap_dim(d, self.dim()));
    TENON_CHECK(!seen[static_cast<size_t>(order.back())],
                "permute(): duplicate dims are not allowed.");
    seen[static_cast<size_t>(order.back())] = true;
  }
  // As exchanges of two dimensions, each of which is checked.
  Tensor result = alias(self);
  for (size_t d = 0; d < order.size(); ++d) {
    auto from = static_cast<size_t>(order[d]);
    while (from < d) from = static_cast<size_t>(order[from]);
    if (from != d) result = transposed(result, static_cast<int64_t>(d), static_cast<int64_t>(from));
  }
  return result;
}

Tensor unsqueeze(const Tensor& self, int64_t dim) {
  TENON_CHECK_NOT_IMPLEMENTED(self.layout() == kSparse,
                              "unsqueeze: expected a sparse_coo tensor, got layout ",
                              self.layout());
  dim = wrap_dim(dim, self.dim() + 1);
  const int64_t n = sparse_dim_of(self);
  DimVector sizes(self.sizes().slice(0, static_cast<size_t>(dim)));
  sizes.push_back(1);
  for (const int64_t size : self.sizes().slice(static_cast<size_t>(dim))) sizes.push_back(size);
  if (dim > n)
    return make_coo(sizes, n, indices_of(self), ops::unsqueeze::call(values_of(self), dim - n + 1),
                    content_of(self).coalesced);
  const Tensor indices = indices_of(self);
  const Tensor parts[] = {indices.narrow(0, 0, dim), tenon::zeros({1, indices.size(1)}, kLong),
                          indices.narrow(0, dim, n - dim)};
  return make_coo(sizes, n + 1, ops::cat::call(parts, 0), values_of(self),
                  content_of(self).coalesced);
}

Tensor selected(const Tensor& self, int64_t dim, int64_t index) {
  TENON_CHECK_INDEX(self.dim() > 0, "select() cannot be applied to a 0-dim tensor.");
  dim = wrap_dim(dim, self.dim());
  const int64_t size = self.size(dim);
  TENON_CHECK_INDEX(index >= -size && index < size, "select(): index ", index,
                    " out of range for tensor of size ", self.sizes(), " at dimension ", dim);
  if (index < 0) index += size;
  if (is_compressed(self.layout()))
    return selected(ops::coalesce::call(coo_of_compressed(self)), dim, index);
  const int64_t n = sparse_dim_of(self);
  DimVector sizes(self.sizes());
  sizes.erase(sizes.begin() + dim);
  if (dim >= n)
    return make_coo(sizes, n, indices_of(self), values_of(self).select(dim - n + 1, index),
                    content_of(self).coalesced);
  const Tensor indices = indices_of(self);
  const Tensor kept = positions_of(ops::eq_Scalar::call(indices.select(0, dim), index));
  if (n == 1) {
    const Tensor rows = ops::index_select::call(values_of(self), 0, kept);
    return sum_groups(rows, tenon::zeros({kept.numel()}, kLong), 1).select(0, 0);
  }
  return with_elements(self, sizes, without_row(indices, dim), kept);
}

Tensor select_backward(const Tensor& grad, IntArrayRef input_sizes, int64_t dim, int64_t index) {
  TENON_CHECK_NOT_IMPLEMENTED(grad.layout() == kSparse,
                              "select_backward: expected a sparse_coo gradient, got layout ",
                              grad.layout());
  dim = wrap_dim(dim, static_cast<int64_t>(input_sizes.size()));
  const int64_t n = sparse_dim_of(grad);
  TENON_CHECK_NOT_IMPLEMENTED(dim <= n, "select_backward: dimension ", dim,
                              " of a sparse gradient with ", n, " sparse dimensions is dense");
  if (index < 0) index += input_sizes[static_cast<size_t>(dim)];
  const Tensor widened = sparse::unsqueeze(grad, dim);
  Tensor indices = indices_of(widened).clone();
  indices.select(0, dim).fill_(index);
  return make_coo(input_sizes, n + 1, indices, values_of(grad), content_of(grad).coalesced);
}

std::vector<Tensor> unbind(const Tensor& self, int64_t dim) {
  dim = wrap_dim(dim, self.dim());
  std::vector<Tensor> all;
  for (int64_t i = 0; i < self.size(dim); ++i) all.push_back(selected(self, dim, i));
  return all;
}

Tensor narrow_copy(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  TENON_CHECK_NOT_IMPLEMENTED(self.layout() == kSparse,
                              "narrow_copy: expected a sparse_coo tensor, got layout ",
                              self.layout());
  dim = wrap_dim(dim, self.dim());
  const int64_t size = self.size(dim), n = sparse_dim_of(self);
  if (start < 0) start += size;
  TENON_CHECK(length >= 0 && start >= 0 && start + length <= size,
              "Invalid range to narrow. range(start, start+length) must be a subset of range(0, ",
              size, ").");
  DimVector sizes(self.sizes());
  sizes[static_cast<size_t>(dim)] = length;
  if (dim >= n)
    return make_coo(sizes, n, indices_of(self),
                    values_of(self).narrow(dim - n + 1, start, length).contiguous(),
                    content_of(self).coalesced);
  Tensor indices = indices_of(self).clone();
  indices.select(0, dim).sub_(start);
  const Tensor row = indices.select(0, dim);
  return with_elements(self, sizes, indices,
                       positions_of(ops::logical_and::call(row >= 0, row < length)));
}

Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index) {
  TENON_CHECK_NOT_IMPLEMENTED(
      self.layout() == kSparse && index.layout() == kStrided,
      "index_select: expected a sparse_coo tensor and a strided index, got ", self.layout(),
      " and ", index.layout());
  TENON_CHECK_INDEX(self.dim() > 0, "index_select() cannot be applied to a 0-dim tensor.");
  dim = wrap_dim(dim, self.dim());
  TENON_CHECK(index.dim() == 1 && is_integral(index.scalar_type(), false),
              "index_select() argument index must be 1-D long-tensor.");
  const int64_t n = sparse_dim_of(self), size = self.size(dim), count = index.numel();
  DimVector sizes(self.sizes());
  sizes[static_cast<size_t>(dim)] = count;
  const Tensor wanted = index.to(kLong).contiguous();
  const auto* const want = wanted.const_data_ptr<int64_t>();
  for (int64_t i = 0; i < count; ++i) {
    TENON_CHECK_INDEX(want[i] >= -size && want[i] < size, "index_select(): index contains ",
                      want[i], " that is out of range for tensor of size ", self.sizes(),
                      " at dimension ", dim);
  }
  if (dim >= n)
    return make_coo(sizes, n, indices_of(self),
                    ops::index_select::call(values_of(self), dim - n + 1, wanted),
                    content_of(self).coalesced);
  // The elements of each place along dim, one list after another.
  const Tensor indices = indices_of(self);
  const Tensor row = indices.select(0, dim).contiguous();
  const auto* const place = row.const_data_ptr<int64_t>();
  std::vector<std::vector<int64_t>> elements(static_cast<size_t>(size));
  for (int64_t i = 0; i < row.numel(); ++i) elements[static_cast<size_t>(place[i])].push_back(i);
  std::vector<int64_t> from, to;
  for (int64_t i = 0; i < count; ++i) {
    for (const int64_t e : elements[static_cast<size_t>(want[i] < 0 ? want[i] + size : want[i])]) {
      from.push_back(e);
      to.push_back(i);
    }
  }
  const auto nnz = static_cast<int64_t>(from.size());
  const Tensor kept = tenon::zeros({nnz}, kLong), places = tenon::zeros({nnz}, kLong);
  std::copy(from.begin(), from.end(), kept.mutable_data_ptr<int64_t>());
  std::copy(to.begin(), to.end(), places.mutable_data_ptr<int64_t>());
  Tensor chosen = ops::index_select::call(indices, 1, kept);
  chosen.select(0, dim).copy_(places);
  return make_coo(sizes, n, chosen, ops::index_select::call(values_of(self), 0, kept), nnz < 2);
}

Tensor cat(TensorList tensors, int64_t dim) {
  const Tensor& first = tensors[0];
  for (size_t i = 0; i < tensors.size(); ++i) {
    TENON_CHECK(tensors[i].layout() == kSparse, "Concatenating sparse tensors, but a ",
                tensors[i].layout() == kStrided ? "dense" : name_of(tensors[i].layout()),
                " tensor was found at position ", i, ".");
    TENON_CHECK(sparse_dim_of(tensors[i]) == sparse_dim_of(first) &&
                    tensors[i].dim() == first.dim(),
                "All tensors must have the same sparse_dim: expected ", sparse_dim_of(first),
                ", got ", sparse_dim_of(tensors[i]), " at position ", i);
  }
  dim = wrap_dim(dim, first.dim());
  const int64_t n = sparse_dim_of(first);
  DimVector sizes(first.sizes());
  int64_t offset = 0;
  std::vector<Tensor> indices, values;
  for (const Tensor& t : tensors) {
    for (int64_t d = 0; d < first.dim(); ++d) {
      TENON_CHECK(d == dim || t.size(d) == first.size(d),
                  "All tensors must have the same shape except in the cat dimension: expected ",
                  first.sizes(), ", got ", t.sizes());
    }
    Tensor places = indices_of(t);
    Tensor elements = values_of(t);
    if (dim < n) {
      places = places.clone();
      places.select(0, dim).add_(offset);
    } else {
      // Rows of zeros around, in the dimension of the rows that grows.
      DimVector row(elements.sizes());
      const auto d = static_cast<size_t>(dim - n + 1);
      int64_t total = 0;
      for (const Tensor& other : tensors) total += other.size(dim);
      row[d] = total;
      Tensor wide = tenon::zeros(row, elements.scalar_type());
      wide.narrow(static_cast<int64_t>(d), offset, t.size(dim)).copy_(elements);
      elements = wide;
    }
    offset += t.size(dim);
    indices.push_back(places);
    values.push_back(elements);
  }
  sizes[static_cast<size_t>(dim)] = offset;
  return make_coo(sizes, n, ops::cat::call(indices, 1), ops::cat::call(values, 0), false);
}

}  // namespace tenon::sparse
