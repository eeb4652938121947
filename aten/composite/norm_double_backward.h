#pragma once

#include "tenon/tensor.h"

namespace tenon::native {

/// What a normalisation y = h * weight + bias, h = (x - mean) * rstd, is made of; statistics and
/// weight have size 1 where they broadcast.
struct Normalised {
  Tensor x, grad_out, mean, rstd;
  Tensor weight;             ///< may be undefined
  DimVector dims;            ///< over which mean and rstd are taken
  DimVector parameter_dims;  ///< over which the weight's gradient is summed
  bool statistics_of_x;      ///< whether mean and rstd depend on x
};

struct NormGradients {
  Tensor grad_out, x, weight;  ///< the weight's still has size 1 in parameter_dims
};

/// Gradients of L = <v, dx> + <u, dweight> + <b, dbias> for the first-order gradients dx, dweight,
/// dbias; v, u and b may be undefined, u and b have size 1 in parameter_dims. With g = grad_out, s
/// = rstd, w = weight and the projection P(z) = z - mean(z) - h mean(z h):
///   g: w s P(v) + u h + b;   w: sum(s P(v) g);
///   x: s P(G) - s^2 h mean(v P(w g)),  G = u g - s (v mean(w g h) + w g mean(v h)).
/// Without statistics of x, P is the identity and x gets u s g.
NormGradients norm_double_backward(const Normalised& n, const Tensor& v, const Tensor& u,
                                   const Tensor& b);

}  // namespace tenon::native
