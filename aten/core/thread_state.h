#pragma once

#include <cstdint>

#include "aten/core/dispatch_key.h"
#include "aten/core/macros.h"

namespace tenon {

/// What a thread's calls depend on besides their arguments.
struct ThreadState {
  /// Layers that calls skip: those a kernel below them has excluded, those of kThreadLayers that
  /// the thread has not enabled, and Autograd while no gradient is recorded.
  uint8_t skipped_layers = kThreadLayers;
  uint8_t excluded_layers = 0;
  uint8_t enabled_layers = 0;
  bool grad_mode = true;
  bool inference_mode = false;  ///< what is made are inference tensors, and nothing is recorded
  /// The gradients of the backward pass that runs are batched: only operators compute with them.
  bool batched_gradients = false;
  /// Dimensions in front that a reduction over all dimensions leaves out, as they are batches.
  uint8_t batch_dims = 0;

  // One store without a branch: GCC 12 drops the first of two stores on the way of an exception.
  void refresh() {
    const uint8_t autograd = DispatchKeySet(DispatchLayer::Autograd).layers;
    const auto off = static_cast<uint8_t>(kThreadLayers & ~enabled_layers);
    const bool records = grad_mode && !inference_mode;
    skipped_layers = static_cast<uint8_t>(excluded_layers | off | (records ? 0 : autograd));
  }
};

extern TENON_API constinit thread_local ThreadState thread_state
    __attribute__((tls_model("initial-exec")));

/// Whether operations are recorded for differentiation on this thread.
struct GradMode {
  static bool is_enabled() { return thread_state.grad_mode; }
  static void set_enabled(bool enabled) {
    thread_state.grad_mode = enabled;
    thread_state.refresh();
  }
};

/// Sets the grad mode until the end of the scope.
class AutoGradMode {
 public:
  explicit AutoGradMode(bool enabled) : previous_(GradMode::is_enabled()) {
    GradMode::set_enabled(enabled);
  }
  ~AutoGradMode() { GradMode::set_enabled(previous_); }
  AutoGradMode(const AutoGradMode&) = delete;
  AutoGradMode& operator=(const AutoGradMode&) = delete;

 private:
  bool previous_;
};

/// Records nothing until the end of the scope.
class NoGradGuard : public AutoGradMode {
 public:
  NoGradGuard() : AutoGradMode(false) {}
};

/// For calls that never take part in gradients, until the end of the scope: what is made inside are
/// inference tensors (TensorImpl::is_inference), and nothing is recorded whatever the grad mode.
/// `InferenceMode(false)` goes back to recording inside such a scope.
class InferenceMode {
 public:
  explicit InferenceMode(bool enabled = true)
      : inference_mode_(thread_state.inference_mode), grad_mode_(thread_state.grad_mode) {
    set(enabled, !enabled);
  }
  ~InferenceMode() { set(inference_mode_, grad_mode_); }
  InferenceMode(const InferenceMode&) = delete;
  InferenceMode& operator=(const InferenceMode&) = delete;
  static bool is_enabled() { return thread_state.inference_mode; }

 private:
  static void set(bool inference_mode, bool grad_mode) {
    thread_state.inference_mode = inference_mode;
    thread_state.grad_mode = grad_mode;
    thread_state.refresh();
  }

  bool inference_mode_;
  bool grad_mode_;
};

/// Calls inside the scope go straight to the layers below Autograd: for kernels it has called.
class BelowAutograd {
 public:
  BelowAutograd() : previous_(thread_state.excluded_layers) {
    thread_state.excluded_layers |= DispatchKeySet(DispatchLayer::Autograd).layers;
    thread_state.skipped_layers |= DispatchKeySet(DispatchLayer::Autograd).layers;
  }
  ~BelowAutograd() {
    thread_state.excluded_layers = previous_;
    thread_state.refresh();
  }
  BelowAutograd(const BelowAutograd&) = delete;
  BelowAutograd& operator=(const BelowAutograd&) = delete;

 private:
  uint8_t previous_;
};

}  // namespace tenon
