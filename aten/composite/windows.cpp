#include <cmath>
#include <numbers>
#include <optional>

#include "tenon/native/bartlett_window.h"
#include "tenon/native/blackman_window.h"
#include "tenon/native/hamming_window.h"
#include "tenon/native/hann_window.h"
#include "tenon/native/kaiser_window.h"
#include "tenon/ops/arange.h"
#include "tenon/ops/empty.h"
#include "tenon/ops/i0.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/sqrt.h"
#include "tenon/ops/to.h"

namespace tenon {
namespace {

TensorOptions options_of(std::optional<ScalarType> dtype, std::optional<Layout> layout,
                         std::optional<Device> device, std::optional<bool> pin_memory) {
  return TensorOptions().dtype(dtype).layout(layout).device(device).pinned_memory(pin_memory);
}

/// `values(places, last)` of the places 0 ... length - 1 of a symmetric window that ends at `last`,
/// or of a periodic one, which has one more. Windows of one value are 1.
template <class F>
Tensor window_of(const char* name, int64_t length, bool periodic, const TensorOptions& options,
                 F&& values) {
  TENON_CHECK(options.layout() == kStrided, "[", name, "] ", name,
              " is not implemented for sparse types, got: ", options.layout());
  const ScalarType dtype = options.dtype();
  TENON_CHECK(is_floating_point(dtype) || is_complex(dtype), "[", name, "] ", name,
              " expects floating point dtypes, got: ", dtype);
  TENON_CHECK(length >= 0, "[", name, "] ", name,
              " requires non-negative window_length, got window_length=", length);
  if (length < 2) return ones(length, options);
  const Tensor places = arange(length, options.dtype(dtype));
  return values(places, static_cast<double>(periodic ? length : length - 1));
}

/// alpha - beta cos(2 pi k / last)
Tensor raised_cosine(const char* name, int64_t length, bool periodic, double alpha, double beta,
                     const TensorOptions& options) {
  return window_of(name, length, periodic, options, [&](Tensor places, double last) {
    return places.mul_(2 * std::numbers::pi / last).cos_().mul_(-beta).add_(alpha);
  });
}

}  // namespace

Tensor native::hann_window_periodic(int64_t window_length, bool periodic,
                                    std::optional<ScalarType> dtype, std::optional<Layout> layout,
                                    std::optional<Device> device, std::optional<bool> pin_memory) {
  return raised_cosine("hann_window", window_length, periodic, 0.5, 0.5,
                       options_of(dtype, layout, device, pin_memory));
}

/// (1 - cos(2 pi k / n)) / 2; n is window_length, or window_length - 1 unless periodic.
Tensor native::hann_window(int64_t window_length, std::optional<ScalarType> dtype,
                           std::optional<Layout> layout, std::optional<Device> device,
                           std::optional<bool> pin_memory) {
  return hann_window_periodic(window_length, true, dtype, layout, device, pin_memory);
}

Tensor native::hamming_window_periodic_alpha_beta(int64_t window_length, bool periodic,
                                                  double alpha, double beta,
                                                  std::optional<ScalarType> dtype,
                                                  std::optional<Layout> layout,
                                                  std::optional<Device> device,
                                                  std::optional<bool> pin_memory) {
  return raised_cosine("hamming_window", window_length, periodic, alpha, beta,
                       options_of(dtype, layout, device, pin_memory));
}

Tensor native::hamming_window_periodic_alpha(int64_t window_length, bool periodic, double alpha,
                                             std::optional<ScalarType> dtype,
                                             std::optional<Layout> layout,
                                             std::optional<Device> device,
                                             std::optional<bool> pin_memory) {
  return hamming_window_periodic_alpha_beta(window_length, periodic, alpha, 0.46, dtype, layout,
                                            device, pin_memory);
}

Tensor native::hamming_window_periodic(int64_t window_length, bool periodic,
                                       std::optional<ScalarType> dtype,
                                       std::optional<Layout> layout, std::optional<Device> device,
                                       std::optional<bool> pin_memory) {
  return hamming_window_periodic_alpha(window_length, periodic, 0.54, dtype, layout, device,
                                       pin_memory);
}

/// alpha - beta cos(2 pi k / n), alpha 0.54 and beta 0.46 by default; n is window_length, or
/// window_length - 1 unless periodic.
Tensor native::hamming_window(int64_t window_length, std::optional<ScalarType> dtype,
                              std::optional<Layout> layout, std::optional<Device> device,
                              std::optional<bool> pin_memory) {
  return hamming_window_periodic(window_length, true, dtype, layout, device, pin_memory);
}

Tensor native::bartlett_window_periodic(int64_t window_length, bool periodic,
                                        std::optional<ScalarType> dtype,
                                        std::optional<Layout> layout, std::optional<Device> device,
                                        std::optional<bool> pin_memory) {
  return window_of("bartlett_window", window_length, periodic,
                   options_of(dtype, layout, device, pin_memory), [&](Tensor places, double last) {
                     places.mul_(2 / last);
                     const int64_t rising = static_cast<int64_t>(last) / 2 + 1;
                     if (rising < window_length) {
                       places.narrow(0, rising, window_length - rising).mul_(-1).add_(2);
                     }
                     return places;
                   });
}

/// 1 - |2 k / n - 1|; n is window_length, or window_length - 1 unless periodic.
Tensor native::bartlett_window(int64_t window_length, std::optional<ScalarType> dtype,
                               std::optional<Layout> layout, std::optional<Device> device,
                               std::optional<bool> pin_memory) {
  return bartlett_window_periodic(window_length, true, dtype, layout, device, pin_memory);
}

Tensor native::blackman_window_periodic(int64_t window_length, bool periodic,
                                        std::optional<ScalarType> dtype,
                                        std::optional<Layout> layout, std::optional<Device> device,
                                        std::optional<bool> pin_memory) {
  return window_of("blackman_window", window_length, periodic,
                   options_of(dtype, layout, device, pin_memory), [&](Tensor places, double last) {
                     places.mul_(std::numbers::pi / last);
                     return (places * 4).cos_().mul_(0.08) - (places * 2).cos_().mul_(0.5) + 0.42;
                   });
}

/// 0.42 - 0.5 cos(2 pi k / n) + 0.08 cos(4 pi k / n); n is window_length, or window_length - 1
/// unless periodic.
Tensor native::blackman_window(int64_t window_length, std::optional<ScalarType> dtype,
                               std::optional<Layout> layout, std::optional<Device> device,
                               std::optional<bool> pin_memory) {
  return blackman_window_periodic(window_length, true, dtype, layout, device, pin_memory);
}

Tensor native::kaiser_window_beta(int64_t window_length, bool periodic, double beta,
                                  std::optional<ScalarType> dtype, std::optional<Layout> layout,
                                  std::optional<Device> device, std::optional<bool> pin_memory) {
  return window_of("kaiser_window", window_length, periodic,
                   options_of(dtype, layout, device, pin_memory), [&](Tensor places, double last) {
                     const ScalarType type = places.scalar_type();
                     if (is_reduced_floating_point(type)) places = places.to(kFloat);
                     const Tensor x = places * (2 / last) - 1;
                     const Tensor shape = i0(sqrt((1 - x * x).clamp_min(0)).mul_(beta));
                     return (shape / std::cyl_bessel_i(0.0, std::abs(beta))).to(type);
                   });
}

Tensor native::kaiser_window_periodic(int64_t window_length, bool periodic,
                                      std::optional<ScalarType> dtype, std::optional<Layout> layout,
                                      std::optional<Device> device,
                                      std::optional<bool> pin_memory) {
  return kaiser_window_beta(window_length, periodic, 12, dtype, layout, device, pin_memory);
}

/// I0(beta sqrt(1 - (2 k / n - 1)^2)) / I0(beta), beta 12 by default, I0 the modified Bessel
/// function; n is window_length, or window_length - 1 unless periodic.
Tensor native::kaiser_window(int64_t window_length, std::optional<ScalarType> dtype,
                             std::optional<Layout> layout, std::optional<Device> device,
                             std::optional<bool> pin_memory) {
  return kaiser_window_periodic(window_length, true, dtype, layout, device, pin_memory);
}

}  // namespace tenon
