#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "aten/core/device.h"
#include "aten/core/intrusive_ptr.h"

namespace tenon {

/// The Mersenne twister mt19937 of Matsumoto and Nishimura (1998), 32-bit outputs.
class TENON_API Mt19937 {
 public:
  explicit Mt19937(uint32_t seed = 5489);
  uint32_t operator()() {
    if (next_ == kWords) refill();
    uint32_t y = state_[next_++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
  }

  static constexpr int kWords = 624;
  const std::array<uint32_t, kWords>& words() const { return state_; }
  int position() const { return next_; }
  void set_state(const std::array<uint32_t, kWords>& words, int position) {
    state_ = words;
    next_ = position;
  }

 private:
  void refill();

  std::array<uint32_t, kWords> state_;
  int next_ = kWords;
};

/// State of a random number generator. CPU: mt19937, with PyTorch's streams for a given seed.
/// Other devices: a counter-based stream given by (seed, offset).
struct TENON_API GeneratorImpl {
  RefCount refs;
  Device device;
  uint64_t seed;
  uint64_t offset = 0;  ///< next counter value, devices other than CPU
  Mt19937 engine;
  std::optional<float> next_float_normal;  ///< the second value of the last Box-Muller pair
  std::optional<double> next_double_normal;
  std::mutex mutex;  ///< kernels hold it while they draw

  GeneratorImpl(Device d, uint64_t s) : device(d), seed(s), engine(static_cast<uint32_t>(s)) {}
  static void destroy(GeneratorImpl* impl) noexcept { delete impl; }

  void set_seed(uint64_t new_seed);
  uint32_t random() { return engine(); }
  /// High word first.
  uint64_t random64() {
    const uint64_t high = engine();
    return (high << 32) | engine();
  }
};

/// A handle to a random number generator; copies share its state.
class Generator {
 public:
  Generator() = default;
  explicit Generator(IntrusivePtr<GeneratorImpl> impl) : impl_(std::move(impl)) {}
  bool defined() const { return static_cast<bool>(impl_); }
  void set_current_seed(uint64_t seed) { impl_->set_seed(seed); }
  uint64_t current_seed() const { return impl_->seed; }
  Device device() const { return impl_->device; }
  GeneratorImpl* operator->() const { return impl_.get(); }
  GeneratorImpl& operator*() const { return *impl_; }

 private:
  IntrusivePtr<GeneratorImpl> impl_;
};

/// A generator of its own state; the default seed is PyTorch's 67280421310721.
TENON_API Generator make_generator(Device device = kCPU, uint64_t seed = 67280421310721ull);
/// The one that operators use when none is given.
TENON_API const Generator& default_generator(Device device = kCPU);
/// The default generators of all devices that one was asked for so far, the CPU's first.
TENON_API std::vector<Generator> default_generators();
/// Seeds the default generators of all devices.
TENON_API void manual_seed(uint64_t seed);

}  // namespace tenon
