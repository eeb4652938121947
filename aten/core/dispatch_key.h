#pragma once

#include <bit>
#include <cstdint>

#include "aten/core/device.h"

namespace tenon {

/// Where a tensor's data lives and in which layout. Bit numbers; a higher one wins when operands
/// differ, so that a CPU scalar joins a CUDA tensor on the GPU and a sparse operand decides how a
/// dense one is combined with it. Unresolved is that of tensors whose conjugate or negative bit is
/// set, besides their device's: its fallback computes with resolved copies.
enum class Backend : uint8_t {
  CPU = 0,
  CUDA = 1,
  Meta = 2,
  PrivateUse1 = 3,
  SparseCPU = 4,
  SparseCsrCPU = 5,
  Unresolved = 6
};
inline constexpr int kNumBackends = 8;

/// What wraps a backend's kernel. Bit numbers; the highest one present runs first. Python is that
/// of tensors whose class has `__torch_dispatch__`, PythonMode that of all operators while a mode
/// takes them; both are below Autograd. Batched is that of batched tensors, BatchedMode that of all
/// random operators while a function is batched.
enum class DispatchLayer : uint8_t {
  Python = 0,
  PythonMode = 1,
  Autograd = 2,
  ForwardGrad = 3,
  Autocast = 4,
  Batched = 5,
  Profiler = 6,
  BatchedMode = 7
};
inline constexpr int kNumLayers = 8;

/// The set of layers and backends that the operands of a call ask for.
struct DispatchKeySet {
  uint8_t layers = 0;
  uint8_t backends = 0;

  constexpr DispatchKeySet() = default;
  constexpr DispatchKeySet(uint8_t layer_bits, uint8_t backend_bits)
      : layers(layer_bits), backends(backend_bits) {}
  constexpr explicit DispatchKeySet(Backend b) : backends(uint8_t(1u << static_cast<int>(b))) {}
  constexpr explicit DispatchKeySet(DispatchLayer l) : layers(uint8_t(1u << static_cast<int>(l))) {}

  constexpr bool has(DispatchLayer l) const { return (layers >> static_cast<int>(l)) & 1; }
  constexpr bool has(Backend b) const { return (backends >> static_cast<int>(b)) & 1; }
  constexpr DispatchKeySet add(DispatchLayer l) const { return *this | DispatchKeySet(l); }
  constexpr DispatchKeySet remove(DispatchLayer l) const {
    return {uint8_t(layers & ~DispatchKeySet(l).layers), backends};
  }
  /// The same backends without any layer: what a layer's kernel passes on to run the backend's.
  constexpr DispatchKeySet backend_only() const { return {0, backends}; }
  /// Slot of the highest backend: 1 + its bit number, 0 if there is none.
  constexpr int backend_slot() const { return std::bit_width(backends); }

  friend constexpr DispatchKeySet operator|(DispatchKeySet a, DispatchKeySet b) {
    return {uint8_t(a.layers | b.layers), uint8_t(a.backends | b.backends)};
  }
  friend constexpr bool operator==(DispatchKeySet, DispatchKeySet) = default;
};

/// Layers that every tensor is in; whether calls take them is a matter of the thread (ThreadState).
inline constexpr uint8_t kThreadLayers = DispatchKeySet(DispatchLayer::PythonMode).layers |
                                         DispatchKeySet(DispatchLayer::ForwardGrad).layers |
                                         DispatchKeySet(DispatchLayer::Autocast).layers |
                                         DispatchKeySet(DispatchLayer::Profiler).layers |
                                         DispatchKeySet(DispatchLayer::BatchedMode).layers;

constexpr Backend backend_of(DeviceType type) {
  switch (type) {
  case kCPU: return Backend::CPU;
  case kCUDA: return Backend::CUDA;
  case kMeta: return Backend::Meta;
  case kPrivateUse1: break;
  }
  return Backend::PrivateUse1;
}

/// "CPU", "CUDA", "Meta", "PrivateUse1", "SparseCPU", "SparseCsrCPU", "Unresolved".
TENON_API const char* to_string(Backend backend);

}  // namespace tenon
