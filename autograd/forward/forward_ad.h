#pragma once

#include "tenon/tensor.h"

namespace tenon::autograd {
class Node;
}

/// Forward mode: derivatives along a direction, computed beside the values. docs/modes.md.
///
///     const forward_ad::DualLevel level;
///     const Tensor y = f(forward_ad::make_dual(x, v));
///     forward_ad::unpack_dual(y).tangent;   // the derivative of f at x along v
namespace tenon::autograd::forward_ad {

/// While it lives, operators of this thread compute tangents. Levels do not nest: Error. What it
/// leaves behind has no tangent.
class TENON_API DualLevel {
 public:
  DualLevel();
  ~DualLevel();
  DualLevel(const DualLevel&) = delete;
  DualLevel& operator=(const DualLevel&) = delete;
  /// Whether there is one on this thread.
  static bool is_active();
};

/// A tensor with the data of `primal` and the tangent; gradients of backward() go to both.
/// Errors: no level, integers, a tangent of other sizes or another dtype.
TENON_API Tensor make_dual(const Tensor& primal, const Tensor& tangent);

struct UnpackedDualTensor {
  Tensor primal;   ///< a view without the tangent
  Tensor tangent;  ///< undefined: zero
};
/// Without a level the tensor itself and no tangent.
TENON_API UnpackedDualTensor unpack_dual(const Tensor& tensor);

/// The tangent at the current level, undefined if there is none.
TENON_API Tensor tangent_of(const Tensor& tensor);

}  // namespace tenon::autograd::forward_ad
