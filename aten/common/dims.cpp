#include "aten/common/dims.h"

namespace tenon::native {

DimVector infer_size(const char* op, IntArrayRef shape, int64_t numel) {
  DimVector sizes(shape);
  int64_t known = 1;
  std::optional<size_t> inferred;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == -1) {
      TENON_CHECK(!inferred, "[", op, "] only one dimension can be inferred, got shape ", shape);
      inferred = i;
      continue;
    }
    TENON_CHECK(shape[i] >= 0, "[", op, "] invalid shape dimension ", shape[i], " at index ", i,
                " of shape ", shape);
    TENON_CHECK(!__builtin_mul_overflow(known, shape[i], &known), "[", op, "] shape '", shape,
                "' is invalid for input of size ", numel);
  }
  const bool fits = numel == known || (inferred && known > 0 && numel % known == 0);
  TENON_CHECK(fits, "[", op, "] shape '", shape, "' is invalid for input of size ", numel);
  if (inferred) {
    TENON_CHECK(known != 0, "[", op, "] cannot reshape tensor of 0 elements into shape ", shape,
                " because the unspecified dimension size -1 can be any value and is ambiguous");
    sizes[*inferred] = numel / known;
  }
  return sizes;
}

std::optional<DimVector> view_strides(IntArrayRef sizes, IntArrayRef strides, IntArrayRef shape) {
  DimVector result(shape.size());
  bool empty = false;
  for (int64_t s : sizes) empty |= s == 0;
  if (empty) {
    return ArrayRef<int64_t>(shape) == sizes ? DimVector(strides) : contiguous_strides(shape);
  }
  // From the back, runs of old dimensions that lie without gaps are cut into new dimensions.
  auto next = static_cast<int64_t>(shape.size()) - 1;
  auto i = static_cast<int64_t>(sizes.size()) - 1;
  while (i >= 0) {
    const int64_t base = strides[i];
    int64_t available = sizes[i];
    while (i > 0 && (sizes[i - 1] == 1 || strides[i - 1] == available * base)) {
      available *= sizes[--i];
    }
    int64_t used = 1;
    while (next >= 0 && (used < available || shape[next] == 1)) {
      result[next] = used * base;
      used *= shape[next--];
    }
    if (used != available) return std::nullopt;
    --i;
  }
  // What is left are ones: all elements are used up.
  for (; next >= 0; --next) {
    if (shape[next] != 1) return std::nullopt;
    const bool last = next + 1 == static_cast<int64_t>(shape.size());
    result[next] = last ? 1 : result[next + 1] * shape[next + 1];
  }
  return result;
}

}  // namespace tenon::native
