#pragma once

/// The library under measurement is `t`: Tenon, or PyTorch's C++ library where BENCH_TORCH is
/// defined.

#ifdef BENCH_TORCH
#include <torch/torch.h>
namespace t = torch;
#define BENCH_LIBRARY "torch"
#define BENCH_MODULE TORCH_MODULE
#else
#include "aten/core/generator.h"
#include "aten/core/parallel.h"
#include "aten/core/thread_state.h"
#include "tenon/ops/rand.h"
#include "tenon/tensor.h"
namespace t = tenon;
#define BENCH_LIBRARY "tenon"
#define BENCH_MODULE TENON_MODULE
#endif

namespace bench {

/// Random floats in [-1, 1), the same for both libraries.
inline t::Tensor random(std::initializer_list<int64_t> sizes) {
  return t::rand(std::vector<int64_t>(sizes)).mul_(2).sub_(1);
}

inline t::Tensor leaf(t::Tensor tensor) {
  tensor.requires_grad_(true);
  return tensor;
}

}  // namespace bench
