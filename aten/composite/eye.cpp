#include "tenon/native/eye.h"

#include "aten/composite/factory_options.h"
#include "tenon/ops/diagonal.h"
#include "tenon/ops/fill.h"
#include "tenon/ops/zero.h"

namespace tenon {

Tensor native::eye_m(int64_t n, int64_t m, std::optional<ScalarType> dtype,
                     std::optional<Layout> layout, std::optional<Device> device,
                     std::optional<bool> pin_memory) {
  const auto o = factory_options("eye", dtype, layout, device, pin_memory, get_default_dtype());
  TENON_CHECK(n >= 0, "[eye] n must be greater or equal to 0, got ", n);
  TENON_CHECK(m >= 0, "[eye] m must be greater or equal to 0, got ", m);
  Tensor result = tenon::empty({n, m}, o.dtype, o.device);
  ops::zero_::call(result);
  // Filled through a tensor of its own, so that the result does not become the base of a view.
  Tensor ones(make_detached(result));
  Tensor diagonal = ops::diagonal::call(ones, 0, 0, 1);
  ops::fill__Scalar::call(diagonal, 1);
  return result;
}

Tensor native::eye(int64_t n, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                   std::optional<Device> device, std::optional<bool> pin_memory) {
  return eye_m(n, n, dtype, layout, device, pin_memory);
}

}  // namespace tenon
