#pragma once

#include "runtime/distributed/process_group.h"
#include "runtime/nn/module.h"
#include "runtime/nn/modules/bases.h"

namespace tenon::distributed {

/// What batch_norm() computes in training, with the mean and the variance of all ranks' batches
/// together, which may have different sizes, also 0.
///     input [N, C, ...]; weight, bias, running_mean, running_var [C] or undefined
/// The input's gradient is that of the joined batch; those of weight and bias are this rank's part,
/// whose sum over the ranks is theirs: DistributedDataParallel gives their mean. Two collectives,
/// one of 2 C + 1 numbers forward and one of 2 C backward: all ranks must do both. ValueError on
/// all ranks for fewer than two values per channel in all. Gradients of gradients are those of the
/// joined batch and of the sum of all ranks' results; with create_graph, backward makes four
/// collectives, and so does theirs.
TENON_API Tensor sync_batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias,
                                 const Tensor& running_mean, const Tensor& running_var,
                                 double momentum, double eps, const GroupPtr& group = nullptr);

/// Makes all batch normalisation in the module, at any depth, use sync_batch_norm() in training.
/// Parameters, buffers and what evaluation does stay as they are.
TENON_API void convert_sync_batchnorm(nn::Module& module, const GroupPtr& group = nullptr);

}  // namespace tenon::distributed
