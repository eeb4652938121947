#pragma once

#include "autograd/engine/node.h"

namespace tenon::autograd {

/// Gives a view whose base has been changed in place the node that reads it from the base as it is
/// now. Throws if the view was made in a way that leaves open what its gradient should be.
TENON_API void regenerate_view_history(const Tensor& view);
/// What the function that made `view` of `base` gives of `values`, which lie in memory as the base
/// does: a view of them, recorded as ever. The function follows from the two tensors' geometry,
/// dtypes and bits, so that a view has nothing to keep for it: of one dtype it is as_strided(), of
/// a complex and a real one view_as_real() comes before it or view_as_complex() after it; _conj()
/// and _neg_view() come where a conjugate or negative bit is set.
TENON_API Tensor replay_view(const Tensor& values, const Tensor& base, const Tensor& view);
/// Records that `node` has written the view in place: the base gets a node that copies the part,
/// and the view reads it from there.
TENON_API void rebase_view_history(const Tensor& view, IntrusivePtr<Node> node);
/// Gives a result that an operator saved when it wrote a view in place its history back, while the
/// base's CopySlices node runs the operator's.
void attach_to_running_copy_slices(const Tensor& view);
/// Throws unless the view may be changed in place with gradient; `indirect`: its base was.
void check_view_may_be_written(const Tensor& view, bool indirect);

}  // namespace tenon::autograd
