#include "tenon/native/cat.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "aten/core/parallel.h"
#include "aten/iterator/convert.h"
#include "aten/iterator/element_copy.h"

namespace tenon {
namespace {

constexpr int64_t kParallelBytes = 1 << 18;

/// A tensor's part of each row of the result: its bytes, one row after the other, and where they
/// go.
struct Piece {
  const char* data;
  int64_t offset, bytes;
};

void copy_bytes(char* to, const char* from, int64_t bytes, bool stream) {
  if (stream) return native::stream_copy(to, from, static_cast<size_t>(bytes));
  std::memcpy(to, from, static_cast<size_t>(bytes));
}

/// Fills rows of `pitch` bytes from all pieces in one go.
void copy_pieces(char* dst, int64_t rows, int64_t pitch, const std::vector<Piece>& pieces) {
  const bool stream = rows * pitch >= native::kStreamBytes;
  if (rows == 1) {
    parallel_for(0, pitch, kParallelBytes, [&](int64_t begin, int64_t end) {
      for (const Piece& p : pieces) {
        const int64_t from = std::max(begin, p.offset), to = std::min(end, p.offset + p.bytes);
        if (from < to) copy_bytes(dst + from, p.data + (from - p.offset), to - from, stream);
      }
      if (stream) native::stream_fence();
    });
    return;
  }
  const int64_t grain = kParallelBytes / pitch + 1;
  parallel_for(0, rows, grain, [&](int64_t begin, int64_t end) {
    // Some rows of one piece after the other: short enough for the lines they share to stay near.
    constexpr int64_t kRows = 16;
    for (int64_t i = begin; i < end; i += kRows) {
      for (const Piece& p : pieces) {
        native::scatter_2d(dst + i * pitch + p.offset, p.data + i * p.bytes, 1, p.bytes,
                           std::min(kRows, end - i), 1, pitch);
      }
    }
  });
}

}  // namespace

void native::cat_cpu(TensorList tensors, int64_t dim, const Tensor& out) {
  if (out.numel() == 0) return;
  const int64_t d = wrap_dim(dim, out.dim());
  int64_t rows = 1;
  for (int64_t i = 0; i < d; ++i) rows *= out.sizes()[i];
  const auto item = static_cast<int64_t>(out.element_size());
  const int64_t out_pitch = out.numel() / rows * item;
  int64_t at = 0;
  std::vector<Piece> pieces;
  for (const Tensor& t : tensors) {
    if (t.numel() == 0) continue;
    const int64_t length = t.sizes()[d];
    if (t.scalar_type() == out.scalar_type() && t.is_contiguous() && out.is_contiguous()) {
      pieces.push_back({static_cast<const char*>(t.const_data_ptr()),
                        at * (out_pitch / out.sizes()[d]), t.numel() / rows * item});
    } else {
      TensorBase part = make_detached(out);
      TensorImpl& p = *part.unsafe_impl();
      DimVector sizes(out.sizes());
      sizes[d] = length;
      p.storage_offset += at * out.strides()[d];
      p.set_sizes_and_strides(sizes, out.strides());
      p.refresh_data();
      copy(part, t);
    }
    at += length;
  }
  if (pieces.empty()) return;
  copy_pieces(static_cast<char*>(out.mutable_data_ptr()), rows, out_pitch, pieces);
}

}  // namespace tenon
