#include "tenon/native/logspace.h"

#include "aten/composite/factory_options.h"
#include "tenon/ops/linspace.h"
#include "tenon/ops/pow.h"

namespace tenon {

/// base to the powers linspace(start, end, steps), computed in double.
Tensor native::logspace(const Scalar& start, const Scalar& end, int64_t steps, double base,
                        std::optional<ScalarType> dtype, std::optional<Layout> layout,
                        std::optional<Device> device, std::optional<bool> pin_memory) {
  const bool complex = start.is_complex() || end.is_complex();
  const auto o = factory_options("logspace", dtype, layout, device, pin_memory,
                                 complex ? to_complex(get_default_dtype()) : get_default_dtype());
  TENON_CHECK(
      is_complex(o.dtype) || !complex,
      "torch.logspace(): inferred dtype ComplexDouble can't be safely cast to passed dtype ",
      o.dtype);
  TENON_CHECK(steps >= 0, "[logspace] number of steps must be non-negative, got ", steps);
  const ScalarType exact = is_complex(o.dtype) ? kComplexDouble : kDouble;
  // Both ends are numbers of the dtype first.
  const bool whole = is_integral(o.dtype, true);
  const Scalar first = whole ? Scalar(start.toLong()) : start,
               last = whole ? Scalar(end.toLong()) : end;
  const Tensor exponents = linspace(first, last, steps, TensorOptions(exact).device(o.device));
  return pow(Scalar(base), exponents).to(o.dtype);
}

}  // namespace tenon
