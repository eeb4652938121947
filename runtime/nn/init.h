#pragma once

#include <cstdint>
#include <tuple>
#include <utility>
#include <variant>

#include "runtime/nn/enum.h"
#include "tenon/tensor.h"

/// Filling of parameters before training. All fill in place without recording, draw from the
/// default generator, give PyTorch's numbers for a given seed, and return the tensor.
namespace tenon::nn::init {

using FanModeType = std::variant<enumtype::kFanIn, enumtype::kFanOut>;
using NonlinearityType =
    std::variant<enumtype::kLinear, enumtype::kConv1D, enumtype::kConv2D, enumtype::kConv3D,
                 enumtype::kConvTranspose1D, enumtype::kConvTranspose2D, enumtype::kConvTranspose3D,
                 enumtype::kSigmoid, enumtype::kTanh, enumtype::kReLU, enumtype::kLeakyReLU>;

/// What an activation shrinks the standard deviation of its input by, inverted: 5/3 for tanh,
/// sqrt(2) for relu, sqrt(2 / (1 + param^2)) for leaky relu of slope `param`, 1 for the others.
TENON_API double calculate_gain(NonlinearityType nonlinearity, double param = 0.01);

/// (fan in, fan out) of a weight [out, in, kernel...]: in and out times the kernel's elements.
/// ValueError for fewer than two dimensions.
TENON_API std::pair<int64_t, int64_t> calculate_fan_in_and_fan_out(const Tensor& tensor);
/// libtorch's name of it.
inline std::tuple<int64_t, int64_t> _calculate_fan_in_and_fan_out(const Tensor& tensor) {
  return calculate_fan_in_and_fan_out(tensor);
}

TENON_API Tensor constant_(Tensor tensor, Scalar value);
TENON_API Tensor ones_(Tensor tensor);
TENON_API Tensor zeros_(Tensor tensor);
TENON_API Tensor uniform_(Tensor tensor, double low = 0, double high = 1);
TENON_API Tensor normal_(Tensor tensor, double mean = 0, double std = 1);
/// Uniform in +-sqrt(3) * gain / sqrt(fan): He et al., Delving deep into rectifiers (2015). `a` is
/// the slope of a leaky relu.
TENON_API Tensor kaiming_uniform_(Tensor tensor, double a = 0, FanModeType mode = kFanIn,
                                  NonlinearityType nonlinearity = kLeakyReLU);
/// Normal with standard deviation gain / sqrt(fan).
TENON_API Tensor kaiming_normal_(Tensor tensor, double a = 0, FanModeType mode = kFanIn,
                                 NonlinearityType nonlinearity = kLeakyReLU);
/// Uniform in +-gain * sqrt(6 / (fan in + fan out)): Glorot and Bengio (2010).
TENON_API Tensor xavier_uniform_(Tensor tensor, double gain = 1);
/// Normal with standard deviation gain * sqrt(2 / (fan in + fan out)).
TENON_API Tensor xavier_normal_(Tensor tensor, double gain = 1);
/// The identity of a convolution's weight [out, in, kernel...] with 1 to 3 kernel dimensions: as
/// many input channels as possible are kept, by each group of output channels. ValueError for other
/// dimensions, and unless `groups` divides out.
TENON_API Tensor dirac_(Tensor tensor, int64_t groups = 1);
/// The identity matrix. ValueError unless it has 2 dimensions.
TENON_API Tensor eye_(Tensor matrix);
/// A (semi-)orthogonal matrix [size(0), the others' product]: Saxe et al. (2013). ValueError for
/// fewer than two dimensions.
TENON_API Tensor orthogonal_(Tensor tensor, double gain = 1);
/// Normal, with ceil(sparsity * rows) zeros in each column: Martens (2010). ValueError unless it
/// has 2 dimensions.
TENON_API Tensor sparse_(Tensor tensor, double sparsity, double std = 0.01);

}  // namespace tenon::nn::init
