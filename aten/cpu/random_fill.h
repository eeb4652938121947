#pragma once

#include <mutex>

#include "aten/core/generator.h"
#include "aten/iterator/copy.h"
#include "tenon/tensor.h"

namespace tenon::native {

/// The generator a call draws from: the one given, else the default; locked while this lives.
class LockedGenerator {
 public:
  LockedGenerator(const char* op, const std::optional<Generator>& given)
      : generator_(given && given->defined() ? *given : default_generator(kCPU)),
        lock_(generator_->mutex) {
    TENON_CHECK(generator_.device().is_cpu(), "[", op, "] expected a generator of the CPU, got one of ",
                generator_.device());
  }
  GeneratorImpl& operator*() const { return *generator_; }
  GeneratorImpl* operator->() const { return &*generator_; }

 private:
  Generator generator_;
  std::lock_guard<std::mutex> lock_;
};

/// Calls fill(T*, n) on self's elements in row-major order: in place where they lie so, else on a
/// buffer that is then copied.
template <class T, class Fill>
void fill_in_order(const TensorBase& self, Fill&& fill) {
  if (self.numel() == 0) return;
  if (self.is_contiguous()) {
    fill(static_cast<T*>(self.mutable_data_ptr()), self.numel());
    return;
  }
  const TensorBase buffer = tenon::empty(self.sizes(), self.scalar_type(), kCPU);
  fill(static_cast<T*>(buffer.mutable_data_ptr()), buffer.numel());
  iterator::copy(self, buffer);
}

}  // namespace tenon::native
