#pragma once

#include "autograd/engine/hooks.h"

namespace tenon::autograd {

/// The graph behind these tensors for Graphviz (`dot -Tsvg`): a box for each operation with its
/// name, the sizes and dtype of its results and the bytes it keeps for backward, an ellipse for
/// each leaf, arrows the way gradients go, with the number of the result they are of where there
/// are several. The same graph gives the same text.
TENON_API std::string to_dot(const std::vector<Tensor>& tensors);
TENON_API std::string to_dot(const Tensor& tensor);

}  // namespace tenon::autograd
