#include "tenon/native/unsafe_split.h"

#include "tenon/native/split.h"
#include "tenon/native/split_with_sizes.h"
#include "tenon/native/unsafe_chunk.h"
#include "tenon/native/unsafe_split_with_sizes.h"
#include "tenon/ops/unsafe_split.h"
#include "tenon/ops/unsafe_split_with_sizes.h"

namespace tenon {
namespace {

/// The parts as tensors of their own over the same memory, each with its own count of changes:
/// autograd takes a change of one for a change of that one alone, so the caller sees to it that
/// nobody reads what was split.
std::vector<Tensor> apart(std::vector<Tensor> parts) {
  for (Tensor& part : parts) part = part.data();
  return parts;
}

}  // namespace

std::vector<Tensor> native::unsafe_split(const Tensor& self, int64_t split_size, int64_t dim) {
  return apart(native::split(self, split_size, dim));
}

std::vector<Tensor> native::unsafe_split_with_sizes(const Tensor& self, IntArrayRef split_sizes,
                                                    int64_t dim) {
  return apart(native::split_with_sizes(self, split_sizes, dim));
}

std::vector<Tensor> native::unsafe_chunk(const Tensor& self, int64_t chunks, int64_t dim) {
  TENON_CHECK(self.dim() > 0, "[unsafe_chunk] chunk expects at least a 1-dimensional tensor");
  TENON_CHECK(chunks > 0,
              "[unsafe_chunk] chunk expects `chunks` to be greater than 0, got: ", chunks);
  const int64_t size = self.size(dim);
  const int64_t each = size / chunks + (size % chunks != 0);
  // Of an empty dimension as many empty chunks are made as were asked for.
  if (each == 0) {
    return ops::unsafe_split_with_sizes::call(self, DimVector(static_cast<size_t>(chunks), 0), dim);
  }
  return ops::unsafe_split_Tensor::call(self, each, dim);
}

}  // namespace tenon
