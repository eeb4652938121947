#include "aten/common/contiguous.h"

#include "aten/iterator/element_copy.h"

namespace tenon::native {

TensorBase contiguous_copy(const TensorBase& t, ScalarType dtype, MemoryFormat format) {
  TensorBase copied =
      format == MemoryFormat::Contiguous
          ? empty(t.sizes(), dtype, t.device())
          : empty_strided(t.sizes(), strides_of_format(t.sizes(), format), dtype, t.device());
  copy(copied, t);
  return copied;
}

std::optional<MemoryFormat> contiguous_format(const TensorBase& t) {
  if (t.is_contiguous()) return MemoryFormat::Contiguous;
  const auto has = [&](MemoryFormat format, int64_t rank) {
    return t.dim() == rank && t.is_contiguous(format);
  };
  if (has(MemoryFormat::ChannelsLast, 4)) return MemoryFormat::ChannelsLast;
  if (has(MemoryFormat::ChannelsLast3d, 5)) return MemoryFormat::ChannelsLast3d;
  return std::nullopt;
}

void ContiguousOutput::copy_back() const {
  if (!tensor_.is_same(out_)) copy(out_, tensor_);
}

}  // namespace tenon::native
