#include <algorithm>

#include "aten/composite/chosen_elements.h"
#include "aten/composite/resample.h"
#include "aten/meta/pooling.h"
#include "tenon/native/adaptive_max_pool1d.h"
#include "tenon/native/adaptive_max_pool2d.h"
#include "tenon/native/adaptive_max_pool3d.h"
#include "tenon/ops/adaptive_max_pool2d.h"
#include "tenon/ops/add.h"
#include "tenon/ops/amax.h"
#include "tenon/ops/arange.h"
#include "tenon/ops/gather.h"
#include "tenon/ops/gt.h"
#include "tenon/ops/index_select.h"
#include "tenon/ops/isnan.h"
#include "tenon/ops/max.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/sub.h"
#include "tenon/ops/take.h"
#include "tenon/ops/unflatten.h"
#include "tenon/ops/where.h"

/// The largest element of each of output_size[i] windows along dimension i, window k of n elements
/// being [floor(k n / size), ceil((k + 1) n / size)), and its place in these dimensions as one
/// number. One dimension after the other, the last one first.
namespace tenon {
namespace {

/// Element k of window i, [windows * count]; what a window has less than the others is its last
/// element once more.
Tensor windows_of(const Tensor& self, int64_t length, int64_t windows, int64_t count) {
  int64_t last = 0, total = 0;
  TENON_CHECK(!__builtin_mul_overflow(windows, length, &last) &&
                  !__builtin_mul_overflow(windows, count, &total),
              windows, " windows over ", length, " elements exceed the address range");
  if (self.is_meta()) return Tensor(empty({total}, kLong, kMeta));
  const Tensor places(empty({total}, kLong, kCPU));
  auto* to = places.data_ptr<int64_t>();
  for (int64_t i = 0; i < windows; ++i) {
    const int64_t start = i * length / windows, end = ((i + 1) * length + windows - 1) / windows;
    for (int64_t k = 0; k < count; ++k) *to++ = std::min(start + k, end - 1);
  }
  return places.to(self.device());
}

std::tuple<Tensor, Tensor> adaptive_max_pool(const char* op, const Tensor& self,
                                             IntArrayRef output_size, int64_t dims) {
  meta::check_adaptive_max_pool(op, self, output_size, dims);
  const int64_t first = self.dim() - dims;
  Tensor values = self.detach(), indices;
  int64_t step = 1;  // between neighbours in dimension d
  for (int64_t i = dims - 1; i >= 0; --i) {
    const int64_t d = first + i, length = self.size(d), windows = output_size[i];
    if (windows == 0) {
      values = values.narrow(d, 0, 0);
      indices = (indices.defined() ? indices : values.to(kLong)).narrow(d, 0, 0);
      continue;
    }
    const int64_t count = longest_window(length, windows);
    const Tensor places = windows_of(self, length, windows, count);
    const Tensor in_windows = values.index_select(d, places).unflatten(d, {windows, count});
    const auto [largest, first_largest] = in_windows.max(d + 1);
    // The place of a window with NaN is that of its last one, as PyTorch's.
    DimVector shape(static_cast<size_t>(in_windows.dim()), 1);
    shape[static_cast<size_t>(d + 1)] = count;
    const Tensor ordinal = arange(1, count + 1, places.options()).view(shape);
    const Tensor last_nan = (in_windows.isnan() * ordinal).amax({d + 1});
    const Tensor which = where(last_nan > 0, last_nan - 1, first_largest);
    shape.pop_back();
    shape[static_cast<size_t>(d)] = windows;
    if (d + 1 < self.dim()) shape[static_cast<size_t>(d + 1)] = 1;
    const Tensor starts = (arange(windows, places.options()) * count).view(shape);
    const Tensor place = places.take(which + starts);
    indices = indices.defined() ? place * step + indices.gather(d, place) : place;
    values = largest;
    step *= length;
  }
  return chosen_elements(self, indices, dims,
                         dims == 2 ? self.suggest_memory_format() : MemoryFormat::Contiguous);
}

}  // namespace

std::tuple<Tensor, Tensor> native::adaptive_max_pool1d(const Tensor& self,
                                                       IntArrayRef output_size) {
  meta::check_adaptive_max_pool("adaptive_max_pool1d", self, output_size, 1);
  const auto [values, indices] =
      tenon::adaptive_max_pool2d(self.unsqueeze(-2), {int64_t{1}, output_size[0]});
  return {values.squeeze(-2), indices.squeeze(-2)};
}

std::tuple<Tensor, Tensor> native::adaptive_max_pool2d(const Tensor& self,
                                                       IntArrayRef output_size) {
  return adaptive_max_pool("adaptive_max_pool2d", self, output_size, 2);
}

std::tuple<Tensor, Tensor> native::adaptive_max_pool3d(const Tensor& self,
                                                       IntArrayRef output_size) {
  return adaptive_max_pool("adaptive_max_pool3d", self, output_size, 3);
}

}  // namespace tenon
