#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/distributed/ddp/reducer.h"

namespace tenon::distributed {

struct JoinOptions {
  /// Divide gradients by the number of all ranks; else by that of those which still have inputs.
  bool divide_by_initial_world_size = true;
  /// Instead of going on without them, fail on all ranks when one has run out of inputs.
  bool throw_on_early_termination = false;
};

namespace detail {

/// One rank's copy of a model that all ranks train, whatever its modules are: what makes the copies
/// equal and keeps them so. Buffers are given anew each time: modules may replace them.
class TENON_API Replica {
 public:
  using Named = std::vector<std::pair<std::string, Tensor>>;

  /// Compares the models of all ranks and gives them rank 0's, unless options.init_sync is false.
  /// `name` is the model's. DistBackendError on every rank, with the first difference;
  /// NotImplementedError for parameters on other devices than CPUs and GPUs; ValueError if none is
  /// trained.
  Replica(const std::string& name, Named parameters, const Named& buffers,
          DistributedDataParallelOptions options);

  /// Whether the gradients of forward calls are reduced: not under no_sync() or no_grad.
  bool requires_grad_sync() const;
  /// Before each forward call. Communicates only if requires_grad_sync().
  void before_forward(const std::vector<Tensor>& buffers);
  /// Returns the outputs of a forward call such that a backward pass through them reduces.
  std::vector<Tensor> prepare_for_backward(std::vector<Tensor> outputs) {
    return reducer_->prepare_for_backward(std::move(outputs));
  }
  bool sync() const { return sync_; }
  void set_sync(bool sync) { sync_ = sync; }

  /// A loop of iterations of which ranks may have different numbers begins.
  void begin_join(const JoinOptions& options);
  /// This rank has no inputs left: shadows the iterations of the others until they have none.
  void finish_join(const std::vector<Tensor>& buffers);
  /// First part of finish_join(): joins the collectives of one iteration. False if no rank has one.
  bool shadow_iteration(const std::vector<Tensor>& buffers);
  /// Second part: takes over the parameters and buffers of a rank that made the last iteration.
  void agree_with_last(bool is_last, const std::vector<Tensor>& buffers);
  /// The join has finished or failed.
  void end_join();

  Reducer& reducer() const { return *reducer_; }
  const DistributedDataParallelOptions& options() const { return options_; }

 private:
  void broadcast_all(const std::vector<Tensor>& tensors, int src) const;
  /// Each rank tells all whether it makes another iteration: the highest that does, or -1.
  int find_active(bool active);

  DistributedDataParallelOptions options_;
  std::vector<Tensor> parameters_;  // those without gradients as well
  std::shared_ptr<Reducer> reducer_;
  bool sync_ = true;
  std::optional<JoinOptions> joining_;
};

}  // namespace detail

}  // namespace tenon::distributed
