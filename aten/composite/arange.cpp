#include "tenon/native/arange.h"

#include <cmath>

#include "aten/composite/factory_options.h"
#include "aten/core/parallel.h"
#include "tenon/ops/copy.h"

namespace tenon {
namespace {

/// Number of elements of [start, end) with the step, which leads from one to the other: of integers
/// exactly, else in double, whatever the result's dtype.
int64_t count_steps(const Scalar& start, const Scalar& end, const Scalar& step) {
  double count;
  if (start.is_integral(true) && end.is_integral(true) && step.is_integral(true)) {
    const auto s = static_cast<uint64_t>(start.toLong()), e = static_cast<uint64_t>(end.toLong()),
               d = static_cast<uint64_t>(step.toLong());
    const uint64_t span = step.toLong() > 0 ? e - s : s - e, by = step.toLong() > 0 ? d : 0 - d;
    const uint64_t exact = span / by + (span % by != 0);
    if (exact <= uint64_t{1} << 62) return static_cast<int64_t>(exact);
    count = static_cast<double>(exact);
  } else {
    count = std::ceil((end.toDouble() - start.toDouble()) / step.toDouble());
  }
  TENON_CHECK(count < 0x1p62, "[arange] ", count, " elements are more than can be counted");
  return static_cast<int64_t>(count);
}

}  // namespace

Tensor native::arange_start_step(const Scalar& start, const Scalar& end, const Scalar& step,
                                 std::optional<ScalarType> dtype, std::optional<Layout> layout,
                                 std::optional<Device> device, std::optional<bool> pin_memory) {
  const bool integers = start.is_integral(true) && end.is_integral(true) && step.is_integral(true);
  const auto o = factory_options("arange", dtype, layout, device, pin_memory,
                                 integers ? kLong : get_default_dtype());
  TENON_CHECK(!start.is_complex() && !end.is_complex() && !step.is_complex(),
              "[arange] start, end and step must be real, got ", start, ", ", end, " and ", step);
  const double from = start.to<double>(), to = end.to<double>(), by = step.to<double>();
  TENON_CHECK(by != 0, "[arange] step must be nonzero");
  TENON_CHECK(std::isfinite(by), "[arange] step must be finite but got ", by);
  TENON_CHECK(std::isfinite(from) && std::isfinite(to), "[arange] unsupported range: ", from,
              " -> ", to);
  TENON_CHECK((by > 0 && to >= from) || (by < 0 && to <= from),
              "[arange] upper bound and lower bound inconsistent with step sign, got start=", from,
              ", end=", to, ", step=", by);
  return TENON_DISPATCH_REAL(o.dtype, "arange", {
    using A = std::conditional_t<std::is_integral_v<scalar_t>, int64_t, double>;
    const int64_t n = count_steps(start, end, step);
    const Device made_on = o.device.is_meta() ? o.device : Device(kCPU);
    Tensor result = tenon::empty({n}, o.dtype, made_on);
    if (made_on.is_meta()) return result;
    scalar_t* out = static_cast<scalar_t*>(result.data_ptr());
    // Of integers only the sum is sure to fit.
    using Wrapping = std::conditional_t<std::is_integral_v<A>, uint64_t, double>;
    const auto first = static_cast<Wrapping>(start.to<A>());
    const auto increment = static_cast<Wrapping>(step.to<A>());
    parallel_for(0, n, 32768, [&](int64_t begin, int64_t stop) {
      for (int64_t i = begin; i < stop; ++i) {
        const A value = static_cast<A>(first + increment * static_cast<Wrapping>(i));
        if constexpr (std::is_class_v<scalar_t>) {
          out[i] = scalar_t(static_cast<float>(value));
        } else {
          out[i] = static_cast<scalar_t>(value);
        }
      }
    });
    if (o.device.is_cpu()) return result;
    Tensor moved = tenon::empty({n}, o.dtype, o.device);
    ops::copy_::call(moved, result, false);
    return moved;
  });
}

Tensor native::arange_start(const Scalar& start, const Scalar& end, std::optional<ScalarType> dtype,
                            std::optional<Layout> layout, std::optional<Device> device,
                            std::optional<bool> pin_memory) {
  return arange_start_step(start, end, 1, dtype, layout, device, pin_memory);
}

Tensor native::arange(const Scalar& end, std::optional<ScalarType> dtype,
                      std::optional<Layout> layout, std::optional<Device> device,
                      std::optional<bool> pin_memory) {
  return arange_start_step(0, end, 1, dtype, layout, device, pin_memory);
}

}  // namespace tenon
