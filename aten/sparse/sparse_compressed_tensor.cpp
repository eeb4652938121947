#include "tenon/native/sparse_compressed_tensor.h"

#include <algorithm>
#include <numeric>

#include "aten/sparse/sparse_tensor.h"
#include "tenon/native/_sparse_compressed_tensor_unsafe.h"
#include "tenon/native/_validate_sparse_compressed_tensor_args.h"
#include "tenon/native/sparse_bsc_tensor.h"
#include "tenon/native/sparse_bsr_tensor.h"
#include "tenon/native/sparse_csc_tensor.h"
#include "tenon/native/sparse_csr_tensor.h"
#include "tenon/ops/_sparse_compressed_tensor_unsafe.h"
#include "tenon/ops/_validate_sparse_compressed_tensor_args.h"
#include "tenon/ops/amax.h"
#include "tenon/ops/sparse_compressed_tensor.h"
#include "tenon/ops/to.h"

namespace tenon {
namespace {

using sparse::compresses_rows;
using sparse::has_blocks;

/// What errors call the parts: "crow_indices", "col_indices" and "row" for CSR.
struct Names {
  const char* compressed;
  const char* plain;
  const char* compressed_dim;
  const char* plain_count;
  const char* compressed_count;
};

Names names_of(Layout layout) {
  const bool blocks = has_blocks(layout);
  if (compresses_rows(layout))
    return {"crow_indices", "col_indices", blocks ? "row blocks" : "rows",
            blocks ? "ncolblocks" : "ncols", blocks ? "nrowblocks" : "nrows"};
  return {"ccol_indices", "row_indices", blocks ? "column blocks" : "columns",
          blocks ? "nrowblocks" : "nrows", blocks ? "ncolblocks" : "ncols"};
}

Layout required(std::optional<Layout> layout) {
  TENON_CHECK(layout && sparse::is_compressed(*layout),
              "sparse_compressed_tensor expected sparse compressed tensor layout but got ",
              layout ? sparse::name_of(*layout) : "none");
  return *layout;
}

Layout fixed(const char* op, Layout wanted, std::optional<Layout> layout) {
  TENON_CHECK(!layout || *layout == wanted, op, ": expected layout ", wanted, ", got ", *layout);
  return wanted;
}

/// What follows for one batch; `starts` has slots + 1 elements.
void check_batch(const Names& n, const int64_t* starts, const int64_t* places, int64_t slots,
                 int64_t nnz, int64_t width) {
  TENON_CHECK(starts[0] == 0, "`", n.compressed, "[..., 0] == 0` is not satisfied.");
  TENON_CHECK(starts[slots] == nnz, "`", n.compressed, "[..., -1] == nnz` is not satisfied.");
  for (int64_t i = 0; i < slots; ++i) {
    const int64_t count = starts[i + 1] - starts[i];
    TENON_CHECK(count >= 0 && count <= width, "`0 <= ", n.compressed, "[..., 1:] - ", n.compressed,
                "[..., :-1] <= ", n.plain_count, "` is not satisfied.");
  }
  for (int64_t i = 0; i < nnz; ++i) {
    TENON_CHECK(places[i] >= 0 && places[i] < width, "`0 <= ", n.plain, " < ", n.plain_count,
                "` is not satisfied.");
  }
  for (int64_t slot = 0; slot < slots; ++slot) {
    for (int64_t i = starts[slot] + 1; i < starts[slot + 1]; ++i) {
      TENON_CHECK(places[i - 1] < places[i], "`", n.plain, "[..., ", n.compressed,
                  "[..., i - 1]:", n.compressed, "[..., i]] for all i = 1, ..., ",
                  n.compressed_count,
                  " are sorted and distinct along the last dimension values` is not satisfied.");
    }
  }
}

/// The numbers of compressed and of plain places: of rows and columns, or of blocks.
std::pair<int64_t, int64_t> slots_and_width(const Tensor& compressed, const Tensor& values,
                                            IntArrayRef size, Layout layout) {
  const auto batch = static_cast<size_t>(compressed.dim() - 1);
  const size_t first = compresses_rows(layout) ? 0 : 1;
  int64_t slots = size[batch + first], width = size[batch + 1 - first];
  if (has_blocks(layout)) {
    slots /= values.sizes()[batch + 1 + first];
    width /= values.sizes()[batch + 2 - first];
  }
  return {slots, width};
}

void check_shapes(const Names& n, const Tensor& compressed, const Tensor& plain,
                  const Tensor& values, IntArrayRef size, Layout layout) {
  TENON_CHECK(compressed.layout() == kStrided && plain.layout() == kStrided &&
                  values.layout() == kStrided,
              "expected ", n.compressed, ", ", n.plain, " and values to be strided tensors");
  TENON_CHECK(compressed.dim() >= 1, n.compressed, " must have dimensionality >= 1 but got ",
              compressed.dim());
  TENON_CHECK(plain.dim() == compressed.dim(), n.compressed, " and ", n.plain,
              " dimensionalities must be equal but got ", compressed.dim(), " and ", plain.dim(),
              ", respectively");
  const int64_t batch = compressed.dim() - 1, block = has_blocks(layout) ? 2 : 0;
  const int64_t dense = values.dim() - batch - block - 1;
  TENON_CHECK(dense >= 0, "values must have dimensionality > sum of batch and block ",
              "dimensionalities (=", batch, " + ", block, "), but got ", values.dim());
  TENON_CHECK(static_cast<int64_t>(size.size()) == batch + 2 + dense,
              "tensor dimensionality must be sum of batch, base, and dense dimensionalities (=",
              batch, " + 2 + ", dense, ") but got ", size.size());
  TENON_CHECK(plain.scalar_type() == compressed.scalar_type(), n.compressed, " and ", n.plain,
              " must have the same dtype, bot got ", compressed.scalar_type(), " and ",
              plain.scalar_type(), ", respectively");
  TENON_CHECK(plain.scalar_type() == kInt || plain.scalar_type() == kLong, n.compressed, " and ",
              n.plain, " dtype must be Int or Long, but got ", plain.scalar_type());
  const auto first = static_cast<size_t>(batch);
  const int64_t nnz = values.size(batch);
  TENON_CHECK(plain.size(-1) == nnz, n.plain, ".shape[-1] must be equal to nnz (=", nnz,
              ") as defined by values.shape[", batch, "], but got ", plain.size(-1));
  const IntArrayRef batches = size.slice(0, first);
  TENON_CHECK(compressed.sizes().slice(0, first) == batches &&
                  plain.sizes().slice(0, first) == batches &&
                  values.sizes().slice(0, first) == batches,
              "all batch dimensions of ", n.compressed, " (=", compressed.sizes().slice(0, first),
              "), ", n.plain, " (=", plain.sizes().slice(0, first),
              "), and values (=", values.sizes().slice(0, first),
              ") must be equal to tensor batch dimensions (=", batches, ")");
  for (size_t d = 0; block != 0 && d < 2; ++d) {
    const int64_t one = values.size(batch + 1 + static_cast<int64_t>(d));
    TENON_CHECK(one > 0 && size[first + d] % one == 0, "tensor shape[", first + d,
                "] (=", size[first + d], ") must be divisible with blocksize[", d, "] (=", one,
                ") as defined by values shape");
  }
  TENON_CHECK(values.sizes().slice(first + 1 + static_cast<size_t>(block)) == size.slice(first + 2),
              "dense dimensions of values ", values.sizes(), " must be those of size ", size);
  const int64_t slots = slots_and_width(compressed, values, size, layout).first;
  TENON_CHECK(compressed.size(-1) == slots + 1, n.compressed,
              ".shape[-1] must be equal to the number of ", n.compressed_dim, " + 1 (=", slots + 1,
              "), but got ", compressed.size(-1));
}

}  // namespace

void native::_validate_sparse_compressed_tensor_args(const Tensor& compressed_indices,
                                                     const Tensor& plain_indices,
                                                     const Tensor& values, IntArrayRef size,
                                                     Layout layout, std::optional<bool>) {
  const Names n = names_of(required(layout));
  check_shapes(n, compressed_indices, plain_indices, values, size, layout);
  const auto [slots, width] = slots_and_width(compressed_indices, values, size, layout);
  const Tensor starts = compressed_indices.to(kLong).contiguous();
  const Tensor places = plain_indices.to(kLong).contiguous();
  const int64_t nnz = places.size(-1), batches = starts.numel() / (slots + 1);
  for (int64_t b = 0; b < batches; ++b) {
    check_batch(n, starts.const_data_ptr<int64_t>() + b * (slots + 1),
                places.const_data_ptr<int64_t>() + b * nnz, slots, nnz, width);
  }
}

Tensor native::_sparse_compressed_tensor_unsafe(const Tensor& compressed_indices,
                                                const Tensor& plain_indices, const Tensor& values,
                                                IntArrayRef size, std::optional<ScalarType> dtype,
                                                std::optional<Layout> layout, std::optional<Device>,
                                                std::optional<bool>) {
  const Layout wanted = required(layout);
  check_shapes(names_of(wanted), compressed_indices, plain_indices, values, size, wanted);
  return sparse::make_compressed(wanted, size, compressed_indices, plain_indices,
                                 dtype ? values.to(*dtype) : values);
}

Tensor native::sparse_compressed_tensor_comp_plain_value_size(
    const Tensor& compressed_indices, const Tensor& plain_indices, const Tensor& values,
    IntArrayRef size, std::optional<ScalarType> dtype, std::optional<Layout> layout,
    std::optional<Device> device, std::optional<bool> pin_memory) {
  ops::_validate_sparse_compressed_tensor_args::call(compressed_indices, plain_indices, values,
                                                     size, required(layout), pin_memory);
  return ops::_sparse_compressed_tensor_unsafe::call(compressed_indices, plain_indices, values,
                                                     size, dtype, layout, device, pin_memory);
}

Tensor native::sparse_compressed_tensor_comp_plain_value(
    const Tensor& compressed_indices, const Tensor& plain_indices, const Tensor& values,
    std::optional<ScalarType> dtype, std::optional<Layout> layout, std::optional<Device> device,
    std::optional<bool> pin_memory) {
  const Layout wanted = required(layout);
  const Names n = names_of(wanted);
  const int64_t batch = compressed_indices.dim() - 1, block = has_blocks(wanted) ? 2 : 0;
  TENON_CHECK(batch >= 0, n.compressed, " must have dimensionality >= 1 but got ",
              compressed_indices.dim());
  TENON_CHECK(values.dim() > batch + block, "values must have dimensionality > sum of batch and ",
              "block dimensionalities (=", batch, " + ", block, "), but got ", values.dim());
  const bool rows = compresses_rows(wanted);
  const int64_t height = block ? values.size(batch + 1) : 1;
  const int64_t width = block ? values.size(batch + 2) : 1;
  const int64_t slots = compressed_indices.size(-1) - 1;
  const int64_t most =
      plain_indices.numel() == 0
          ? 0
          : ops::amax::call(plain_indices.to(kLong), {}, false).item<int64_t>() + 1;
  DimVector size(compressed_indices.sizes().slice(0, static_cast<size_t>(batch)));
  size.push_back((rows ? slots : most) * height);
  size.push_back((rows ? most : slots) * width);
  for (int64_t d = batch + block + 1; d < values.dim(); ++d) size.push_back(values.size(d));
  return ops::sparse_compressed_tensor_comp_plain_value_size::call(
      compressed_indices, plain_indices, values, size, dtype, layout, device, pin_memory);
}

#define TENON_COMPRESSED(name, kLayout, compressed, plain)                                         \
  Tensor native::name##_##compressed##_##plain##_value_size(                                       \
      const Tensor& compressed##_indices, const Tensor& plain##_indices, const Tensor& values,     \
      IntArrayRef size, std::optional<ScalarType> dtype, std::optional<Layout> layout,             \
      std::optional<Device> device, std::optional<bool> pin_memory) {                              \
    return ops::sparse_compressed_tensor_comp_plain_value_size::call(                              \
        compressed##_indices, plain##_indices, values, size, dtype, fixed(#name, kLayout, layout), \
        device, pin_memory);                                                                       \
  }                                                                                                \
  Tensor native::name##_##compressed##_##plain##_value(                                            \
      const Tensor& compressed##_indices, const Tensor& plain##_indices, const Tensor& values,     \
      std::optional<ScalarType> dtype, std::optional<Layout> layout, std::optional<Device> device, \
      std::optional<bool> pin_memory) {                                                            \
    return ops::sparse_compressed_tensor_comp_plain_value::call(                                   \
        compressed##_indices, plain##_indices, values, dtype, fixed(#name, kLayout, layout),       \
        device, pin_memory);                                                                       \
  }

TENON_COMPRESSED(sparse_csr_tensor, kSparseCsr, crow, col)
TENON_COMPRESSED(sparse_csc_tensor, kSparseCsc, ccol, row)
TENON_COMPRESSED(sparse_bsr_tensor, kSparseBsr, crow, col)
TENON_COMPRESSED(sparse_bsc_tensor, kSparseBsc, ccol, row)
#undef TENON_COMPRESSED

}  // namespace tenon
