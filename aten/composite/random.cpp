#include "tenon/ops/random.h"
#include "aten/composite/factory_options.h"
#include "tenon/native/normal.h"
#include "tenon/native/rand.h"
#include "tenon/native/rand_like.h"
#include "tenon/native/randint.h"
#include "tenon/native/randint_like.h"
#include "tenon/native/randn.h"
#include "tenon/native/randn_like.h"
#include "tenon/native/randperm.h"
#include "tenon/ops/copy.h"
#include "tenon/ops/normal.h"
#include "tenon/ops/uniform.h"

#include <mutex>
#include <utility>

namespace tenon {

Tensor native::rand_generator(IntArrayRef size, std::optional<Generator> generator,
                              std::optional<ScalarType> dtype, std::optional<Layout> layout,
                              std::optional<Device> device, std::optional<bool> pin_memory) {
  const auto o = factory_options("rand", dtype, layout, device, pin_memory, get_default_dtype());
  Tensor result = tenon::empty(size, o.dtype, o.device);
  return ops::uniform_::call(result, 0, 1, generator);
}

Tensor native::rand(IntArrayRef size, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                    std::optional<Device> device, std::optional<bool> pin_memory) {
  return rand_generator(size, std::nullopt, dtype, layout, device, pin_memory);
}

Tensor native::rand_like(const Tensor& self, std::optional<ScalarType> dtype,
                         std::optional<Layout> layout, std::optional<Device> device,
                         std::optional<bool> pin_memory,
                         std::optional<MemoryFormat> memory_format) {
  Tensor result =
      uninitialized_like("rand_like", self, dtype, layout, device, pin_memory, memory_format);
  return ops::uniform_::call(result, 0, 1, std::nullopt);
}

Tensor native::randn_generator(IntArrayRef size, std::optional<Generator> generator,
                               std::optional<ScalarType> dtype, std::optional<Layout> layout,
                               std::optional<Device> device, std::optional<bool> pin_memory) {
  const auto o = factory_options("randn", dtype, layout, device, pin_memory, get_default_dtype());
  Tensor result = tenon::empty(size, o.dtype, o.device);
  return ops::normal_::call(result, 0, 1, generator);
}

Tensor native::randn(IntArrayRef size, std::optional<ScalarType> dtype,
                     std::optional<Layout> layout, std::optional<Device> device,
                     std::optional<bool> pin_memory) {
  return randn_generator(size, std::nullopt, dtype, layout, device, pin_memory);
}

Tensor native::randn_like(const Tensor& self, std::optional<ScalarType> dtype,
                          std::optional<Layout> layout, std::optional<Device> device,
                          std::optional<bool> pin_memory,
                          std::optional<MemoryFormat> memory_format) {
  Tensor result =
      uninitialized_like("randn_like", self, dtype, layout, device, pin_memory, memory_format);
  return ops::normal_::call(result, 0, 1, std::nullopt);
}

Tensor native::normal_float_float(double mean, double std, IntArrayRef size,
                                  std::optional<Generator> generator,
                                  std::optional<ScalarType> dtype, std::optional<Layout> layout,
                                  std::optional<Device> device, std::optional<bool> pin_memory) {
  const auto o = factory_options("normal", dtype, layout, device, pin_memory, get_default_dtype());
  Tensor result = tenon::empty(size, o.dtype, o.device);
  return ops::normal_::call(result, mean, std, generator);
}

Tensor native::randint_low_generator(int64_t low, int64_t high, IntArrayRef size,
                                     std::optional<Generator> generator,
                                     std::optional<ScalarType> dtype, std::optional<Layout> layout,
                                     std::optional<Device> device, std::optional<bool> pin_memory) {
  const auto o = factory_options("randint", dtype, layout, device, pin_memory, kLong);
  Tensor result = tenon::empty(size, o.dtype, o.device);
  return ops::random__from::call(result, low, high, generator);
}

Tensor native::randint_low(int64_t low, int64_t high, IntArrayRef size,
                           std::optional<ScalarType> dtype, std::optional<Layout> layout,
                           std::optional<Device> device, std::optional<bool> pin_memory) {
  return randint_low_generator(low, high, size, std::nullopt, dtype, layout, device, pin_memory);
}

Tensor native::randint_generator(int64_t high, IntArrayRef size, std::optional<Generator> generator,
                                 std::optional<ScalarType> dtype, std::optional<Layout> layout,
                                 std::optional<Device> device, std::optional<bool> pin_memory) {
  return randint_low_generator(0, high, size, generator, dtype, layout, device, pin_memory);
}

Tensor native::randint(int64_t high, IntArrayRef size, std::optional<ScalarType> dtype,
                       std::optional<Layout> layout, std::optional<Device> device,
                       std::optional<bool> pin_memory) {
  return randint_low_generator(0, high, size, std::nullopt, dtype, layout, device, pin_memory);
}

Tensor native::randint_like_low_dtype(const Tensor& self, int64_t low, int64_t high,
                                      std::optional<ScalarType> dtype, std::optional<Layout> layout,
                                      std::optional<Device> device, std::optional<bool> pin_memory,
                                      std::optional<MemoryFormat> memory_format) {
  Tensor result =
      uninitialized_like("randint_like", self, dtype, layout, device, pin_memory, memory_format);
  return ops::random__from::call(result, low, high, std::nullopt);
}

Tensor native::randint_like(const Tensor& self, int64_t high, std::optional<ScalarType> dtype,
                            std::optional<Layout> layout, std::optional<Device> device,
                            std::optional<bool> pin_memory,
                            std::optional<MemoryFormat> memory_format) {
  return randint_like_low_dtype(self, 0, high, dtype, layout, device, pin_memory, memory_format);
}

Tensor native::randperm_generator(int64_t n, std::optional<Generator> generator,
                                  std::optional<ScalarType> dtype, std::optional<Layout> layout,
                                  std::optional<Device> device, std::optional<bool> pin_memory) {
  const auto o = factory_options("randperm", dtype, layout, device, pin_memory, kLong);
  // The permutation is drawn on the CPU whatever the device: PyTorch's stream is only given there.
  const Device made_on = o.device.is_meta() ? o.device : Device(kCPU);
  Tensor result = tenon::empty({n}, o.dtype, made_on);
  if (!made_on.is_meta()) {
    const Generator source =
        generator && generator->device().is_cpu() ? *generator : default_generator(kCPU);
    std::lock_guard lock(source->mutex);
    TENON_DISPATCH_REAL(o.dtype, "randperm", {
      auto* p = static_cast<scalar_t*>(result.data_ptr());
      for (int64_t i = 0; i < n; ++i) {
        if constexpr (std::is_class_v<scalar_t>) {
          p[i] = scalar_t(static_cast<float>(i));
        } else {
          p[i] = static_cast<scalar_t>(i);
        }
      }
      for (int64_t i = 0; i + 1 < n; ++i) std::swap(p[i], p[i + source->random() % (n - i)]);
    });
  }
  if (made_on == o.device) return result;
  Tensor moved = tenon::empty({n}, o.dtype, o.device);
  return ops::copy_::call(moved, result, false);
}

Tensor native::randperm(int64_t n, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                        std::optional<Device> device, std::optional<bool> pin_memory) {
  return randperm_generator(n, std::nullopt, dtype, layout, device, pin_memory);
}

}  // namespace tenon
