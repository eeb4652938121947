#pragma once

#include <algorithm>
#include <mutex>

#include "aten/core/generator.h"
#include "aten/iterator/element_copy.h"
#include "tenon/tensor.h"

namespace tenon::native {

/// The generator a call draws from: the one given, else the default; locked while this lives.
class LockedGenerator {
 public:
  LockedGenerator(const char* op, const std::optional<Generator>& given)
      : generator_(given && given->defined() ? *given : default_generator(kCPU)),
        lock_(generator_->mutex) {
    TENON_CHECK(generator_.device().is_cpu(), "[", op,
                "] expected a generator of the CPU, got one of ", generator_.device());
  }
  GeneratorImpl& operator*() const { return *generator_; }
  GeneratorImpl* operator->() const { return &*generator_; }

 private:
  Generator generator_;
  std::lock_guard<std::mutex> lock_;
};

/// The tensor with its dimensions in the order in which they lie in memory, outermost first: the
/// order in which PyTorch draws.
inline TensorBase in_memory_order(const TensorBase& t, IntArrayRef strides) {
  SmallVector<size_t, 5> order;
  for (size_t i = 0; i < strides.size(); ++i) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return strides[a] > strides[b]; });
  DimVector sizes;
  DimVector steps;
  for (size_t d : order) {
    sizes.push_back(t.sizes()[d]);
    steps.push_back(t.strides()[d]);
  }
  TensorBase result = make_detached(t);
  result.unsafe_impl()->set_sizes_and_strides(sizes, steps);
  return result;
}

/// Calls fill(T*, n) on self's elements in the order of memory: in place where they lie without
/// gaps, else on a buffer that is then copied.
template <class T, class Fill>
void fill_in_order(const TensorBase& self, Fill&& fill) {
  if (self.numel() == 0) return;
  if (self.is_non_overlapping_and_dense()) {
    fill(static_cast<T*>(self.mutable_data_ptr()), self.numel());
    return;
  }
  const TensorBase ordered = in_memory_order(self, self.strides());
  const TensorBase buffer = tenon::empty(ordered.sizes(), self.scalar_type(), kCPU);
  fill(static_cast<T*>(buffer.mutable_data_ptr()), buffer.numel());
  native::copy(ordered, buffer);
}

}  // namespace tenon::native
