#include "tenon/native/full.h"
#include "aten/composite/factory_options.h"
#include "aten/composite/sparse_by_name.h"
#include "tenon/native/full_like.h"
#include "tenon/native/new_full.h"
#include "tenon/native/new_ones.h"
#include "tenon/native/new_zeros.h"
#include "tenon/native/ones.h"
#include "tenon/native/ones_like.h"
#include "tenon/native/scalar_tensor.h"
#include "tenon/native/zeros.h"
#include "tenon/native/zeros_like.h"
#include "tenon/ops/fill.h"
#include "tenon/ops/zero.h"

#include <cstring>

namespace tenon {
namespace {

/// The dtype of a tensor filled with `value` when none is asked for: PyTorch's rule for full().
ScalarType dtype_for(const Scalar& value) {
  if (value.is_boolean()) return kBool;
  if (value.is_integral(false)) return kLong;
  return value.is_complex() ? to_complex(get_default_dtype()) : get_default_dtype();
}

Tensor zeroed(TensorBase made) {
  Tensor result(std::move(made));
  if (TENON_LIKELY(result.is_cpu())) {
    // A null pointer must not reach memset, not even with 0 bytes.
    if (result.numel() > 0) std::memset(result.data_ptr(), 0, result.nbytes());
  } else {
    ops::zero_::call(result);
  }
  return result;
}

Tensor filled(TensorBase made, const Scalar& value) {
  Tensor result(std::move(made));
  ops::fill__Scalar::call(result, value);
  return result;
}

}  // namespace

Tensor native::zeros(IntArrayRef size, std::optional<ScalarType> dtype,
                     std::optional<Layout> layout, std::optional<Device> device,
                     std::optional<bool> pin_memory) {
  if (layout && *layout != kStrided) return empty_sparse(size, dtype, *layout, device);
  const auto o = factory_options("zeros", dtype, layout, device, pin_memory, get_default_dtype());
  return zeroed(tenon::empty(size, o.dtype, o.device));
}

Tensor native::ones(IntArrayRef size, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                    std::optional<Device> device, std::optional<bool> pin_memory) {
  const auto o = factory_options("ones", dtype, layout, device, pin_memory, get_default_dtype());
  return filled(tenon::empty(size, o.dtype, o.device), 1);
}

Tensor native::full(IntArrayRef size, const Scalar& fill_value, std::optional<ScalarType> dtype,
                    std::optional<Layout> layout, std::optional<Device> device,
                    std::optional<bool> pin_memory) {
  const auto o = factory_options("full", dtype, layout, device, pin_memory, dtype_for(fill_value));
  return filled(tenon::empty(size, o.dtype, o.device), fill_value);
}

Tensor native::scalar_tensor(const Scalar& s, std::optional<ScalarType> dtype,
                             std::optional<Layout> layout, std::optional<Device> device,
                             std::optional<bool> pin_memory) {
  const auto o =
      factory_options("scalar_tensor", dtype, layout, device, pin_memory, get_default_dtype());
  return filled(tenon::empty({}, o.dtype, o.device), s);
}

Tensor native::zeros_like(const Tensor& self, std::optional<ScalarType> dtype,
                          std::optional<Layout> layout, std::optional<Device> device,
                          std::optional<bool> pin_memory,
                          std::optional<MemoryFormat> memory_format) {
  return zeroed(
      uninitialized_like("zeros_like", self, dtype, layout, device, pin_memory, memory_format));
}

Tensor native::ones_like(const Tensor& self, std::optional<ScalarType> dtype,
                         std::optional<Layout> layout, std::optional<Device> device,
                         std::optional<bool> pin_memory,
                         std::optional<MemoryFormat> memory_format) {
  return filled(
      uninitialized_like("ones_like", self, dtype, layout, device, pin_memory, memory_format), 1);
}

Tensor native::full_like(const Tensor& self, const Scalar& fill_value,
                         std::optional<ScalarType> dtype, std::optional<Layout> layout,
                         std::optional<Device> device, std::optional<bool> pin_memory,
                         std::optional<MemoryFormat> memory_format) {
  return filled(
      uninitialized_like("full_like", self, dtype, layout, device, pin_memory, memory_format),
      fill_value);
}

Tensor native::new_zeros(const Tensor& self, IntArrayRef size, std::optional<ScalarType> dtype,
                         std::optional<Layout> layout, std::optional<Device> device,
                         std::optional<bool> pin_memory) {
  const auto o = factory_options("new_zeros", dtype, layout, device, pin_memory, self.scalar_type(),
                                 self.device());
  return zeroed(tenon::empty(size, o.dtype, o.device));
}

Tensor native::new_ones(const Tensor& self, IntArrayRef size, std::optional<ScalarType> dtype,
                        std::optional<Layout> layout, std::optional<Device> device,
                        std::optional<bool> pin_memory) {
  const auto o = factory_options("new_ones", dtype, layout, device, pin_memory, self.scalar_type(),
                                 self.device());
  return filled(tenon::empty(size, o.dtype, o.device), 1);
}

Tensor native::new_full(const Tensor& self, IntArrayRef size, const Scalar& fill_value,
                        std::optional<ScalarType> dtype, std::optional<Layout> layout,
                        std::optional<Device> device, std::optional<bool> pin_memory) {
  const auto o = factory_options("new_full", dtype, layout, device, pin_memory, self.scalar_type(),
                                 self.device());
  return filled(tenon::empty(size, o.dtype, o.device), fill_value);
}

}  // namespace tenon
