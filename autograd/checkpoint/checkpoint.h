#pragma once

#include <optional>

#include "autograd/engine/hooks.h"

namespace tenon::autograd {

/// What a checkpointed call does differently when it is computed again.
class TENON_API CheckpointError : public Error {
 public:
  using Error::Error;
};

/// Enters a context: what it returns is destroyed when the context is left.
using CheckpointContext = std::function<std::shared_ptr<void>()>;

struct CheckpointOptions {
  /// Two ways, below. Not given: a warning, and reentrant, as in PyTorch.
  std::optional<bool> use_reentrant = std::nullopt;
  /// Draw the same random numbers again: the CPU's, and those of the devices of the inputs.
  bool preserve_rng_state = true;
  /// Contexts around the first call and around each later one. Not reentrant alone.
  std::function<std::pair<CheckpointContext, CheckpointContext>()> context_fn = nullptr;
  /// Compare sizes, dtype and device of what is saved with what was saved the first time.
  bool determinism_check = true;
  /// End the second call when all that is needed has been computed; not given: as
  /// CheckpointEarlyStopGuard says, else true. Not reentrant alone.
  std::optional<bool> early_stop = std::nullopt;
  /// Keep the names and shapes of the operators of both calls, so that a CheckpointError names the
  /// first that differs. Not beside context_fn, ValueError; not reentrant alone.
  bool debug = false;
};

/// What `debug` is for the checkpointed calls of this scope, whatever they say themselves; nullopt:
/// what they say.
class TENON_API CheckpointDebugGuard {
 public:
  explicit CheckpointDebugGuard(std::optional<bool> enabled);
  ~CheckpointDebugGuard();
  CheckpointDebugGuard(const CheckpointDebugGuard&) = delete;
  CheckpointDebugGuard& operator=(const CheckpointDebugGuard&) = delete;

 private:
  std::optional<bool> previous_;
};

/// Whether checkpointed calls of this scope stop early. It is the forward pass's scope that counts.
class TENON_API CheckpointEarlyStopGuard {
 public:
  explicit CheckpointEarlyStopGuard(bool enabled);
  ~CheckpointEarlyStopGuard();
  CheckpointEarlyStopGuard(const CheckpointEarlyStopGuard&) = delete;
  CheckpointEarlyStopGuard& operator=(const CheckpointEarlyStopGuard&) = delete;

 private:
  std::optional<bool> previous_;
};

using Checkpointed = std::function<variable_list(const variable_list& inputs)>;

/// f(inputs), of which backward keeps the inputs alone: what else it needs, it computes by calling
/// f again, under the autocast state of the first call. f must do the same each time, and may be
/// called from another pass or thread.
///
/// Not reentrant: recorded as ever, but nothing is saved; the first saved tensor that a backward
/// pass needs has f called again, and each is freed as it is used, also where the graph is kept. f
/// may itself run backward and call checkpoint(). CheckpointError, a RuntimeError in PyTorch, if
/// the second call saves other tensors than the first: it names the first that differs.
///
/// Reentrant: f runs unrecorded the first time, and within backward recorded, with a backward pass
/// of its own. Only gradients of inputs and of leaves that f uses are known, so that one input at
/// least must require grad (a warning otherwise); neither grad(), `inputs` of backward() nor
/// create_graph are possible.
TENON_API variable_list checkpoint(const Checkpointed& f, const variable_list& inputs,
                                   const CheckpointOptions& options = {});
/// The same for one tensor.
TENON_API Tensor checkpoint(const std::function<Tensor(const Tensor&)>& f, const Tensor& input,
                            const CheckpointOptions& options = {});

/// The functions one after another in `segments` parts of equal length, of which all but the last
/// are checkpointed. ValueError unless 1 <= segments <= number of functions.
TENON_API Tensor
checkpoint_sequential(const std::vector<std::function<Tensor(const Tensor&)>>& functions,
                      int64_t segments, const Tensor& input, const CheckpointOptions& options = {});

}  // namespace tenon::autograd
