#include "tenon/native/linspace.h"

#include "aten/common/opmath_type.h"
#include "aten/composite/factory_options.h"
#include "aten/core/parallel.h"
#include "tenon/ops/copy.h"

namespace tenon {

/// out[i] = start + i * step for the first half, end - (steps - 1 - i) * step for the second, so
/// that both ends are met exactly; step = (end - start) / (steps - 1).
Tensor native::linspace(const Scalar& start, const Scalar& end, int64_t steps,
                        std::optional<ScalarType> dtype, std::optional<Layout> layout,
                        std::optional<Device> device, std::optional<bool> pin_memory) {
  const auto o =
      factory_options("linspace", dtype, layout, device, pin_memory,
                      start.is_complex() || end.is_complex() ? to_complex(get_default_dtype())
                                                             : get_default_dtype());
  TENON_CHECK(
      is_complex(o.dtype) || (!start.is_complex() && !end.is_complex()),
      "torch.linspace(): inferred dtype ComplexDouble can't be safely cast to passed dtype ",
      o.dtype);
  TENON_CHECK(steps >= 0, "[linspace] number of steps must be non-negative, got ", steps);
  const Device made_on = o.device.is_meta() ? o.device : Device(kCPU);
  Tensor result = tenon::empty({steps}, o.dtype, made_on);
  if (!made_on.is_meta() && steps > 0) {
    TENON_DISPATCH_ALL(o.dtype, "linspace", {
      constexpr bool kComplex = is_complex(scalar_type_of<scalar_t>);
      using Real = std::conditional_t<std::is_same_v<opmath_type<scalar_t>, float>, float, double>;
      using A = std::conditional_t<kComplex, scalar_t, Real>;
      scalar_t* out = static_cast<scalar_t*>(result.data_ptr());
      // Integers lie between integers, as PyTorch has it.
      using Bound = std::conditional_t<std::is_integral_v<scalar_t>, scalar_t, A>;
      const A first = static_cast<A>(start.to<Bound>()), last = static_cast<A>(end.to<Bound>());
      const A step = steps > 1 ? (last - first) / static_cast<A>(steps - 1) : A(0);
      parallel_for(0, steps, 32768, [&](int64_t begin, int64_t stop) {
        for (int64_t i = begin; i < stop; ++i) {
          const A value = i < steps / 2 || steps == 1 ? first + step * static_cast<A>(i)
                                                      : last - step * static_cast<A>(steps - 1 - i);
          out[i] = static_cast<scalar_t>(value);
        }
      });
    });
  }
  if (made_on == o.device) return result;
  Tensor moved = tenon::empty({steps}, o.dtype, o.device);
  ops::copy_::call(moved, result, false);
  return moved;
}

}  // namespace tenon
