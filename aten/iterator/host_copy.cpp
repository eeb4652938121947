#include "aten/iterator/host_copy.h"

#include "aten/core/device_interface.h"
#include "aten/iterator/element_copy.h"

namespace tenon::native {
namespace {

/// Elements from the first to the last one that the geometry reaches, plus one.
int64_t extent_of(const TensorBase& t) {
  int64_t last = 0;
  for (size_t d = 0; d < t.sizes().size(); ++d) last += (t.sizes()[d] - 1) * t.strides()[d];
  return last + 1;
}

/// Uninitialised memory of the CPU with the geometry of `t`.
TensorBase host_like(const TensorBase& t) {
  const TensorBase block = empty({extent_of(t)}, t.scalar_type(), kCPU);
  TensorBase view = make_detached(block);
  view.unsafe_impl()->set_sizes_and_strides(t.sizes(), t.strides());
  return view;
}

void copy_bytes(const TensorBase& to, const TensorBase& from) {
  const Device device = to.is_cpu() ? from.device() : to.device();
  device_interface(device.type())
      .copy_bytes(to.data_ptr(), to.device(), from.data_ptr(), from.device(),
                  static_cast<size_t>(extent_of(to)) * to.element_size());
}

}  // namespace

TensorBase on_host(const TensorBase& t) {
  TENON_CHECK_NOT_IMPLEMENTED(!t.is_meta(),
                              "[copy] cannot copy out of a meta tensor, which has no data");
  if (t.is_cpu()) return t;
  if (t.numel() == 0) return empty_strided(t.sizes(), t.strides(), t.scalar_type(), kCPU);
  const TensorBase host = host_like(t);
  copy_bytes(host, t);
  return host;
}

void copy_through_host(const TensorBase& dst, const TensorBase& src) {
  if (dst.is_meta() || dst.numel() == 0) return;
  const TensorBase values = on_host(src);
  if (dst.is_cpu()) return copy(dst, values);
  if (values.scalar_type() == dst.scalar_type() && values.sizes() == dst.sizes() &&
      values.strides() == dst.strides() && dst.is_non_overlapping_and_dense()) {
    return copy_bytes(dst, values);
  }
  const TensorBase staged = host_like(dst);
  // What lies between the elements must stay.
  if (!dst.is_non_overlapping_and_dense()) copy_bytes(staged, dst);
  copy(staged, values);
  copy_bytes(dst, staged);
}

}  // namespace tenon::native
