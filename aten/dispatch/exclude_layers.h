#pragma once

#include "aten/core/thread_state.h"

namespace tenon {

/// Calls inside the scope skip the layers of the bits: for kernels that such a layer has called.
class ExcludeLayers {
 public:
  explicit ExcludeLayers(uint8_t layers) : previous_(thread_state.excluded_layers) {
    thread_state.excluded_layers |= layers;
    thread_state.refresh();
  }
  explicit ExcludeLayers(DispatchLayer layer) : ExcludeLayers(DispatchKeySet(layer).layers) {}
  ~ExcludeLayers() {
    thread_state.excluded_layers = previous_;
    thread_state.refresh();
  }
  ExcludeLayers(const ExcludeLayers&) = delete;
  ExcludeLayers& operator=(const ExcludeLayers&) = delete;

 private:
  uint8_t previous_;
};

}  // namespace tenon
