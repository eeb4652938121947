#include "tenon/native/cat.h"

#include <cstring>

#include "aten/core/parallel.h"
#include "aten/iterator/copy.h"

namespace tenon {
namespace {

constexpr int64_t kParallelBytes = 1 << 18;

/// Copies rows of `bytes` bytes from one pitch to another.
void copy_rows(char* dst, int64_t dst_pitch, const char* src, int64_t rows, int64_t bytes) {
  if (bytes == dst_pitch) {
    parallel_for(0, rows * bytes, kParallelBytes, [&](int64_t begin, int64_t end) {
      std::memcpy(dst + begin, src + begin, static_cast<size_t>(end - begin));
    });
    return;
  }
  const int64_t grain = kParallelBytes / (bytes + 1) + 1;
  parallel_for(0, rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      std::memcpy(dst + i * dst_pitch, src + i * bytes, static_cast<size_t>(bytes));
    }
  });
}

}  // namespace

void native::cat_cpu(TensorList tensors, int64_t dim, const Tensor& out) {
  const int64_t d = wrap_dim(dim, out.dim());
  if (out.numel() == 0) return;
  int64_t rows = 1;
  for (int64_t i = 0; i < d; ++i) rows *= out.sizes()[i];
  const auto item = static_cast<int64_t>(out.element_size());
  const int64_t out_pitch = out.numel() / rows * item;
  int64_t at = 0;
  for (const Tensor& t : tensors) {
    if (t.numel() == 0) continue;
    const int64_t length = t.sizes()[d];
    if (t.scalar_type() == out.scalar_type() && t.is_contiguous() && out.is_contiguous()) {
      const int64_t offset = at * (out_pitch / out.sizes()[d]);
      copy_rows(static_cast<char*>(out.mutable_data_ptr()) + offset, out_pitch,
                static_cast<const char*>(t.const_data_ptr()), rows, t.numel() / rows * item);
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
}

}  // namespace tenon
