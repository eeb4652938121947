#pragma once

#include "aten/core/tensor_base.h"
#include "aten/core/thread_state.h"

namespace tenon {

/// The layers whose kernels are functions of Python: `__torch_dispatch__` of classes and modes.
inline constexpr uint8_t kPythonLayers =
    DispatchKeySet(DispatchLayer::Python).layers | DispatchKeySet(DispatchLayer::PythonMode).layers;

/// Whether Python takes this thread's calls of operators with these keys.
inline bool python_takes(DispatchKeySet keys) {
  return keys.layers & kPythonLayers & ~thread_state.skipped_layers;
}

/// What Python's module does for tensors whose class has `__torch_dispatch__`.
struct PythonHooks {
  /// The operator detach(), which the tensor's class or the thread's mode takes.
  TensorBase (*detach)(const TensorBase& self);
  /// The last reference to a tensor of the layer Python is gone. True if the tensor lives on with
  /// its object.
  bool (*release)(TensorImpl* impl) noexcept;
};

/// Set once, before there are such tensors.
TENON_API void set_python_hooks(const PythonHooks* hooks);
TENON_API const PythonHooks* python_hooks();

/// make_detached(), or what Python makes of detach() if it takes the call.
inline TensorBase detached(const TensorBase& self) {
  if (TENON_UNLIKELY(python_takes(self.key_set()))) return python_hooks()->detach(self);
  return make_detached(self);
}

}  // namespace tenon
