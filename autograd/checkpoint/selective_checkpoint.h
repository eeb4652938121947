#pragma once

#include <string>

#include "aten/dispatch/operator_entry.h"
#include "autograd/checkpoint/checkpoint.h"

namespace tenon::autograd {

/// What becomes of an operator's results in a checkpointed call. MUST and PREFER are the same here.
/// CPU_OFFLOAD keeps them in the CPU's memory, and brings them back to their device.
enum class CheckpointPolicy {
  MUST_SAVE = 0,
  PREFER_SAVE = 1,
  MUST_RECOMPUTE = 2,
  PREFER_RECOMPUTE = 3,
  MUST_CPU_OFFLOAD = 4,
  PREFER_CPU_OFFLOAD = 5
};

/// An operator that the first call has computed, for a policy to judge.
struct SelectiveCall {
  const OperatorEntry& op;  ///< `op.qualified_name()`: "aten::add.Tensor"
  ArrayRef<Value> arguments;
  ArrayRef<Value> results;
};
using SelectivePolicy = std::function<CheckpointPolicy(const SelectiveCall&)>;
using CheckpointContexts = std::pair<CheckpointContext, CheckpointContext>;

/// What CheckpointOptions::context_fn gives for a checkpointed call that keeps the results of some
/// operators, and computes the others alone again:
///     {.use_reentrant = false,
///      .context_fn = [] { return create_selective_checkpoint_contexts({"aten::linear"}); }}
/// The policy is asked about each operator that has a derivative of its own, what an operator is
/// made of instead of it; views and changes in place are computed again without being asked about.
///
/// Errors of backward: the operators called are others than in the first call (the first that
/// differs is named); a result that is kept has been changed in place since, unless
/// `allow_cache_entry_mutation`; a second backward pass, for what is kept is freed when it is used;
/// backward within the checkpointed call through an operator whose result was kept.
TENON_API CheckpointContexts create_selective_checkpoint_contexts(
    SelectivePolicy policy, bool allow_cache_entry_mutation = false);
/// MUST_SAVE for the operators, of which a name without overload stands for all overloads;
/// PREFER_RECOMPUTE for all others. ValueError for a name that no operator has, or one that has no
/// derivative of its own.
TENON_API CheckpointContexts create_selective_checkpoint_contexts(
    const std::vector<std::string>& operators, bool allow_cache_entry_mutation = false);

}  // namespace tenon::autograd
