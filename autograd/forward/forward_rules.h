#pragma once

#include "aten/dispatch/operator_entry.h"
#include "autograd/engine/node.h"
#include "autograd/forward/forward_call.h"

namespace tenon::autograd::forward_ad {

/// Where the tangents of a recorded operation's inputs enter it.
struct Inflow {
  Edge edge;
  Tensor tangent;
};

/// The tangents of a call's results, by the rule of its node's type or else by differentiating the
/// node's backward; undefined: zero. Called where operators would be recorded.
/// `like`: the results, undefined where they take no gradient; `recorded`: whether the tangents
/// shall be differentiable in their turn. Errors: NotImplementedError for an operator whose
/// gradient cannot be differentiated.
std::vector<Tensor> tangents_of_results(const OperatorEntry& op, Node& node,
                                        const ForwardCall& call, const std::vector<Tensor>& like,
                                        const std::vector<Inflow>& inflows, bool recorded);

[[noreturn]] void throw_no_formula(const std::string& op);

}  // namespace tenon::autograd::forward_ad
