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

  /// Whether forward calls are to be reduced: not under no_sync(), nor without gradients.
  bool is_watching() const;
  /// Before each forward call; talks to nobody unless it is_watching().
  void before_forward(const std::vector<Tensor>& buffers);
  /// The outputs of a forward call again, such that a backward pass through them reduces.
  std::vector<Tensor> watch(std::vector<Tensor> outputs) {
    return reducer_->watch(std::move(outputs));
  }
  bool sync() const { return sync_; }
  void set_sync(bool sync) { sync_ = sync; }

  /// A loop of iterations of which ranks may have different numbers begins.
  void begin_join(const JoinOptions& options);
  /// This rank is through: takes part in what the others do until they are.
  void finish_join(const std::vector<Tensor>& buffers);
  /// The parts of finish_join(): takes part in one iteration of the others, unless there is none,
  bool stand_in(const std::vector<Tensor>& buffers);
  /// and takes over what a rank has that made the last one.
  void agree_with_last(bool is_last, const std::vector<Tensor>& buffers);
  /// It is over, well or not.
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
