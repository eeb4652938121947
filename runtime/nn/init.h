#pragma once

#include <cstdint>
#include <utility>

#include "tenon/tensor.h"

/// Filling of parameters before training. All fill in place without recording, draw from the
/// default generator, give PyTorch's numbers for a given seed, and return the tensor.
namespace tenon::nn::init {

enum class FanMode : uint8_t { FanIn, FanOut };
enum class Nonlinearity : uint8_t {
  Linear,
  Conv1D,
  Conv2D,
  Conv3D,
  Sigmoid,
  Tanh,
  ReLU,
  LeakyReLU
};

/// What an activation shrinks the standard deviation of its input by, inverted: 5/3 for tanh,
/// sqrt(2) for relu, sqrt(2 / (1 + param^2)) for leaky relu of slope `param`, 1 for the others.
TENON_API double calculate_gain(Nonlinearity nonlinearity, double param = 0.01);

/// (fan in, fan out) of a weight [out, in, kernel...]: in and out times the kernel's elements.
/// ValueError for fewer than two dimensions.
TENON_API std::pair<int64_t, int64_t> calculate_fan_in_and_fan_out(const Tensor& tensor);

TENON_API Tensor constant_(Tensor tensor, Scalar value);
TENON_API Tensor ones_(Tensor tensor);
TENON_API Tensor zeros_(Tensor tensor);
TENON_API Tensor uniform_(Tensor tensor, double low = 0, double high = 1);
TENON_API Tensor normal_(Tensor tensor, double mean = 0, double std = 1);
/// Uniform in +-sqrt(3) * gain / sqrt(fan): He et al., Delving deep into rectifiers (2015). `a` is
/// the slope of a leaky relu.
TENON_API Tensor kaiming_uniform_(Tensor tensor, double a = 0, FanMode mode = FanMode::FanIn,
                                  Nonlinearity nonlinearity = Nonlinearity::LeakyReLU);
/// Normal with standard deviation gain / sqrt(fan).
TENON_API Tensor kaiming_normal_(Tensor tensor, double a = 0, FanMode mode = FanMode::FanIn,
                                 Nonlinearity nonlinearity = Nonlinearity::LeakyReLU);
/// Uniform in +-gain * sqrt(6 / (fan in + fan out)): Glorot and Bengio (2010).
TENON_API Tensor xavier_uniform_(Tensor tensor, double gain = 1);
/// Normal with standard deviation gain * sqrt(2 / (fan in + fan out)).
TENON_API Tensor xavier_normal_(Tensor tensor, double gain = 1);

}  // namespace tenon::nn::init
