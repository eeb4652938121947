#pragma once

#include <vector>

#include "tenon/tensor.h"

namespace tenon::autograd {

/// While a call is watched, the tensors that it leaves to a checkpointed call; else null. Results
/// of the operator are there without history, sharing its memory.
extern constinit thread_local std::vector<Tensor>* left_to_checkpoint;

}  // namespace tenon::autograd
