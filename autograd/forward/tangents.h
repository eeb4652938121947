#pragma once

#include <vector>

#include "tenon/tensor.h"

namespace tenon::autograd {
class Node;
}

/// What forward mode does with tangents, for those parts of autograd that are not operators.
namespace tenon::autograd::forward_ad {

/// Until the end of the scope there is no level, and none can begin: operators compute no tangents.
class TENON_API SuspendedLevel {
 public:
  SuspendedLevel();
  ~SuspendedLevel();
  SuspendedLevel(const SuspendedLevel&) = delete;
  SuspendedLevel& operator=(const SuspendedLevel&) = delete;

 private:
  uint64_t level_;
  bool was_suspended_;
};

/// Errors: "Trying to set a forward gradient that has a different size ...".
void check_tangent_sizes(const Tensor& tensor, const Tensor& tangent);
/// Makes `tangent` that of the tensor at the current level, with the tensor's dtype and strides.
void set_tangent_of(const Tensor& tensor, const Tensor& tangent);
/// The same after a change of `self` in place. `before`: its tangent until then, which is written,
/// so that views see it; undefined: none.
void write_tangent(const Tensor& self, const Tensor& before, const Tensor& tangent);
/// What a node has saved of its own results gets their tangents too, so that a gradient that is
/// computed of it has one.
void set_tangents_of_saved_results(const Node& node, const std::vector<Tensor>& results,
                                   const std::vector<Tensor>& tangents);

}  // namespace tenon::autograd::forward_ad
