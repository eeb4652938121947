#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/distributed/ddp/comm_hooks.h"

namespace tenon::distributed {

struct PowerSGDOptions {
  /// r: a gradient of n rows and m columns is sent as (n + m) r numbers.
  int64_t matrix_approximation_rank = 1;
  /// Iterations before this one reduce in full. At least 2 with error feedback or warm start: the
  /// buckets are rebuilt after the first iteration.
  int64_t start_powerSGD_iter = 1000;
  /// Gradients that would not become smaller by more than this factor are sent in full, as vectors
  /// are.
  double min_compression_rate = 2;
  /// What was lost in one iteration is added to the gradients of the next.
  bool use_error_feedback = true;
  /// Begin from the approximation of the last iteration, not from random numbers.
  bool warm_start = true;
  /// Added to the norms of columns that are made orthogonal.
  double orthogonalization_epsilon = 0;
  /// The same on all ranks.
  uint64_t random_seed = 0;
};

/// What PowerSGD keeps from one iteration to the next. For one model.
class TENON_API PowerSGDState {
 public:
  /// ValueError for a rank below 1, a negative rate, or a start_powerSGD_iter that is too small.
  explicit PowerSGDState(const PowerSGDOptions& options);
  const PowerSGDOptions& options() const { return options_; }
  int64_t iteration() const { return iteration_; }
  /// Numbers of gradients since compression began, and how many were sent for them.
  int64_t numel_before() const { return numel_before_; }
  int64_t numel_after() const { return numel_after_; }
  /// [m, r] of each compressed gradient of a bucket, the same on all ranks.
  std::vector<Tensor> factors(size_t bucket) const;
  /// What this rank has lost of a bucket; undefined if nothing.
  Tensor error(size_t bucket) const;

  /// All that is kept, for a checkpoint: "iteration", "factors_drawn", "numel_before",
  /// "numel_after" [] Long, "factors.<bucket>.<number>", "error.<bucket>". The errors are this
  /// rank's own; everything else is the same on all ranks. The tensors are the state's own.
  std::map<std::string, Tensor> state_dict() const;
  /// Goes on from there: the first iteration reduces in full, as buckets are rebuilt after it, and
  /// the next ones as if there had been no end. On all ranks, each with its own errors. ValueError
  /// for keys that are missing or no state's, and nothing is loaded.
  void load_state_dict(const std::map<std::string, Tensor>& state);

 private:
  friend TENON_API CommHook powerSGD_hook(std::shared_ptr<PowerSGDState> state);
  struct Pass;

  std::function<void()> reduce(const GradBucket& bucket);
  void finish(Pass& pass);
  Tensor new_factor(int64_t columns, int64_t rank, ScalarType dtype);

  const PowerSGDOptions options_;
  int64_t iteration_ = 0;
  int64_t factors_drawn_ = 0;
  bool resumed_ = false;  // no iteration has ended since
  int64_t numel_before_ = 0, numel_after_ = 0;
  std::map<size_t, std::vector<Tensor>> factors_;
  std::map<size_t, Tensor> errors_;
};

/// PowerSGD (Vogels, Karimireddy, Jaggi 2019): each matrix of gradients M is sent as its product
/// with a few columns, P = M Q and then Q = M^T P with the columns of P made orthonormal, and is
/// P Q^T afterwards. The first product is on its way while backward goes on.
TENON_API CommHook powerSGD_hook(std::shared_ptr<PowerSGDState> state);

}  // namespace tenon::distributed
