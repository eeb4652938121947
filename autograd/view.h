#pragma once

#include "autograd/node.h"

namespace tenon::autograd {

/// Gives a view whose base has been changed in place the node that reads it from the base as it is now.
void regenerate_view_history(const Tensor& view);
/// Records that `node` has written the view in place: the base gets a node that copies the part, and
/// the view reads it from there.
void rebase_view_history(const Tensor& view, IntrusivePtr<Node> node);

}  // namespace tenon::autograd
