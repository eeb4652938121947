#include "tenon/native/_chunk_cat.h"

#include "tenon/ops/cat.h"
#include "tenon/ops/constant_pad_nd.h"
#include "tenon/ops/reshape.h"

namespace tenon {
namespace {

/// The dimension, counted from the front, once the tensors have been checked.
int64_t checked_dim(TensorList tensors, int64_t dim, int64_t num_chunks) {
  TENON_CHECK(num_chunks >= 1, "[_chunk_cat] _chunk_cat expects positive num_chunks, got ",
              num_chunks);
  TENON_CHECK(!tensors.empty(), "[_chunk_cat] _chunk_cat expects a non-empty input tensor list");
  const Tensor& first = tensors[0];
  for (const Tensor& t : tensors) {
    TENON_CHECK(t.scalar_type() == first.scalar_type(),
                "[_chunk_cat] _chunk_cat expects all input tensors with the same dtype, got ",
                first.scalar_type(), " and ", t.scalar_type());
    TENON_CHECK(t.numel() > 0, "[_chunk_cat] _chunk_cat expects non-empty tensor, got sizes ",
                t.sizes());
    TENON_CHECK(dim >= 0 || t.dim() == first.dim(),
                "[_chunk_cat] _chunk_cat expects non-negative dim when input tensors have "
                "different ndims, got ",
                dim);
  }
  const int64_t d = dim < 0 ? wrap_dim(dim, first.dim()) : dim;
  for (const Tensor& t : tensors) {
    TENON_CHECK(d < t.dim(),
                "[_chunk_cat] _chunk_cat expects dim < ndim for all input tensors, got ", dim,
                " and sizes ", t.sizes());
  }
  for (const Tensor& t : tensors) {
    TENON_CHECK(t.sizes().slice(0, d) == first.sizes().slice(0, d),
                "[_chunk_cat] _chunk_cat expects same sizes of 0,...,dim-1 dimensions for all "
                "tensors, got ",
                first.sizes(), " and ", t.sizes());
  }
  return d;
}

}  // namespace

/// Each tensor is filled up with zeros to a multiple of num_chunks along dim, and its chunks are
/// rows; rows of one number are joined: [leading sizes..., num_chunks, elements of a chunk].
Tensor native::_chunk_cat(TensorList tensors, int64_t dim, int64_t num_chunks) {
  const int64_t d = checked_dim(tensors, dim, num_chunks);
  std::vector<Tensor> rows;
  for (const Tensor& t : tensors) {
    const int64_t missing = (num_chunks - t.size(d) % num_chunks) % num_chunks;
    DimVector pad(static_cast<size_t>(2 * (t.dim() - d)), 0);
    pad.back() = missing;
    DimVector sizes(t.sizes().slice(0, d));
    sizes.push_back(num_chunks);
    sizes.push_back(-1);
    rows.push_back((missing == 0 ? t : tenon::constant_pad_nd(t, pad, 0)).reshape(sizes));
  }
  return tenon::cat(rows, d + 1);
}

}  // namespace tenon
