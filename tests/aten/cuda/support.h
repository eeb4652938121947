#pragma once

#include <catch2/catch.hpp>
#include <functional>
#include <vector>

#include "aten/cuda/cuda_device.h"
#include "tenon/tensor.h"

/// Ends a test case, saying why, on a machine without a GPU.
#define TENON_NEEDS_GPU()                        \
  do {                                           \
    if (!tenon::cuda::is_available()) {          \
      WARN("skipped: no CUDA device was found"); \
      return;                                    \
    }                                            \
  } while (false)

namespace tenon::test {

/// Random values of any dtype: floats around 0, integers from 1 to 5, so that division is defined.
Tensor sample(IntArrayRef sizes, ScalarType dtype, uint64_t seed = 1);

/// How far results of a dtype may differ: relative, and absolute near 0.
double tolerance(ScalarType dtype);

/// "" if both are equal within the tolerance, NaN being equal to NaN; else what differs first.
std::string difference(const Tensor& expected, const Tensor& actual, double tolerance);

/// Runs f on CPU tensors and on their copies on the GPU; the results must agree in dtype, shape
/// and, within the tolerance (that of the dtype if negative), in value.
using Function = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;
void same_on_both(const Function& f, const std::vector<Tensor>& inputs, double tolerance = -1);

/// The same for the gradients of the sum of f's results, weighted so that no two elements count
/// alike.
void same_gradients(const Function& f, const std::vector<Tensor>& inputs, double tolerance = -1);

}  // namespace tenon::test
