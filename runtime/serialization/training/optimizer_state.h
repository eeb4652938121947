#pragma once

#include "runtime/optim/optimizer.h"
#include "runtime/serialization/values/value.h"

namespace tenon::serialization {

/// An optimizer's state and hyperparameters in the form of PyTorch's state_dict():
/// {"state": {0: {"step": ..., "exp_avg": ...}, ...}, "param_groups": [{"lr": ..., "params": [0,
/// ...]}]}. The tensors are the optimizer's own.
TENON_API Value optimizer_state_dict(optim::Optimizer& optimizer);

/// Restores what optimizer_state_dict() or PyTorch's state_dict() gave. ValueError for another
/// number of parameters or groups, another shape, or a step that is no count; TypeError for a
/// hyperparameter of another kind. The optimizer then stays as it was.
TENON_API void load_optimizer_state_dict(optim::Optimizer& optimizer, const Value& state);

}  // namespace tenon::serialization
