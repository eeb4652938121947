#include "aten/core/generator.h"

#include <map>

namespace tenon {
namespace {

struct Defaults {
  std::mutex mutex;
  std::optional<uint64_t> seed;
  std::map<std::pair<int, int>, Generator> by_device;
};

Defaults& defaults() {
  static Defaults* instance = new Defaults;
  return *instance;
}

}  // namespace

Mt19937::Mt19937(uint32_t seed) {
  state_[0] = seed;
  for (uint32_t i = 1; i < kWords; ++i) {
    state_[i] = 1812433253u * (state_[i - 1] ^ (state_[i - 1] >> 30)) + i;
  }
}

void Mt19937::refill() {
  constexpr int kShift = 397;
  const auto twist = [](uint32_t high, uint32_t low) {
    const uint32_t y = (high & 0x80000000u) | (low & 0x7fffffffu);
    return (y >> 1) ^ ((low & 1u) ? 0x9908b0dfu : 0u);
  };
  uint32_t* s = state_.data();
  for (int i = 0; i < kWords - kShift; ++i) s[i] = s[i + kShift] ^ twist(s[i], s[i + 1]);
  for (int i = kWords - kShift; i < kWords - 1; ++i) {
    s[i] = s[i + kShift - kWords] ^ twist(s[i], s[i + 1]);
  }
  s[kWords - 1] = s[kShift - 1] ^ twist(s[kWords - 1], s[0]);
  next_ = 0;
}

void GeneratorImpl::set_seed(uint64_t new_seed) {
  seed = new_seed;
  offset = 0;
  engine = Mt19937(static_cast<uint32_t>(new_seed));
  next_float_normal.reset();
  next_double_normal.reset();
}

Generator make_generator(Device device, uint64_t seed) {
  return Generator(IntrusivePtr<GeneratorImpl>::adopt(new GeneratorImpl(device, seed)));
}

const Generator& default_generator(Device device) {
  if (device.is_cpu()) {
    static const Generator* cpu = new Generator(make_generator());
    return *cpu;
  }
  Defaults& d = defaults();
  std::lock_guard lock(d.mutex);
  Generator& found = d.by_device[{static_cast<int>(device.type()), device.index()}];
  if (!found.defined()) found = d.seed ? make_generator(device, *d.seed) : make_generator(device);
  return found;
}

std::vector<Generator> default_generators() {
  std::vector<Generator> all{default_generator(kCPU)};
  Defaults& d = defaults();
  std::lock_guard lock(d.mutex);
  for (const auto& [device, generator] : d.by_device) all.push_back(generator);
  return all;
}

void manual_seed(uint64_t seed) {
  default_generator(kCPU)->set_seed(seed);
  Defaults& d = defaults();
  std::lock_guard lock(d.mutex);
  d.seed = seed;
  for (auto& [device, generator] : d.by_device) generator->set_seed(seed);
}

}  // namespace tenon
