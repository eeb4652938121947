#pragma once

#include <atomic>
#include <chrono>

#include "autograd/engine/node.h"
#include "runtime/distributed/ddp/comm_hooks.h"
#include "runtime/distributed/ddp/timeline.h"
#include "runtime/distributed/streams.h"

namespace tenon::distributed {

struct DistributedDataParallelOptions {
  GroupPtr group = {};  ///< by default the default group
  /// Gradients are reduced in buckets of this size; the first is smaller, so that reduction begins
  /// early.
  double bucket_cap_mb = 25;
  size_t first_bucket_bytes = 1 << 20;
  /// Allow that some parameters take no part in computing the outputs.
  bool find_unused_parameters = false;
  /// Every iteration uses the same parameters, each as often: allows reentrant checkpoints.
  bool static_graph = false;
  /// Rank 0's buffers go to all before each forward call whose gradients are reduced.
  bool broadcast_buffers = true;
  /// Gradients are views of the buckets, which saves a copy and memory.
  bool gradient_as_bucket_view = false;
  /// Compare the models and give all ranks rank 0's. Without it they must be equal already.
  bool init_sync = true;
};

namespace detail {

/// Averages gradients over all ranks during backward: the reduction of a bucket begins when its
/// last gradient has been computed. A backward pass through outputs of forward calls that
/// accumulates into parameters ends with all gradients reduced, or with an error on every rank that
/// names the parameters.
class TENON_API Reducer : public std::enable_shared_from_this<Reducer> {
 public:
  struct Parameter {
    std::string name;
    Tensor tensor;
  };

  Reducer(std::vector<Parameter> parameters, const DistributedDataParallelOptions& options);
  ~Reducer();
  Reducer(const Reducer&) = delete;
  Reducer& operator=(const Reducer&) = delete;

  /// Before each forward call whose gradients are to be reduced: rebuilds the buckets in the order
  /// in which gradients came, once, and cleans up after a pass that ended with an error.
  void prepare_for_forward();
  /// Returns the outputs with a hook in their graph: a backward pass through them reduces. The
  /// graph owns the reducer.
  std::vector<Tensor> prepare_for_backward(std::vector<Tensor> outputs);
  void register_comm_hook(CommHook hook);
  /// Gradients are divided by this from now on.
  void set_divisor(int divisor) { divisor_ = divisor; }
  /// Takes part in the reductions of one iteration without having gradients.
  void shadow_backward();
  const DdpTimeline& timeline() const { return timeline_; }
  const std::vector<std::vector<size_t>>& buckets() const { return assignment_; }

 private:
  struct Bucket {
    std::vector<size_t> indices;
    Tensor flat = {};
    std::vector<Tensor> views = {};  // in the parameters' layout
    StreamOrdering ordering = {};  // gradients may come in several streams, and be used in another
    size_t pending = 0;
    WorkPtr work = {};
    std::function<void()> finish = {};  // of a hook
    // When the reduction was done, which its own thread writes.
    std::shared_ptr<std::atomic<int64_t>> reduced = {};
  };
  friend class OutputHook;

  void build(std::vector<std::vector<size_t>> assignment);
  void rebuild();
  /// The pass that runs has come to an output.
  void on_output();
  /// Gradients of the pass that runs are reduced from here on.
  void begin_in_pass();
  void begin();
  void on_gradient(size_t index);
  void on_no_gradient(size_t index);
  void mark_ready(size_t index);
  void launch_ready();
  void launch(Bucket& bucket);
  void launch_used_map();
  void finalize();
  void finalize_first_static();
  /// Ends the pass with an error on all ranks: "rank 1: <text>".
  void fail_pass(const std::string& text);
  /// Waits for the reductions and writes the gradients.
  void complete();
  /// Waits for what has been launched: the first error.
  std::exception_ptr end_pass();
  void copy_out(Bucket& bucket);
  std::string names_of(const std::vector<size_t>& indices) const;
  /// How the reducer knows which parameters get a gradient, by the two options.
  enum class GraphMode {
    kAllUsed,          ///< neither: each parameter gets exactly one in each pass
    kFindUnused,       ///< find_unused_parameters: each pass is searched
    kStatic,           ///< static_graph: counted in the first pass, in which all are used
    kStaticWithUnused  ///< both: counted in the first pass, in which some may be unused
  };
  static GraphMode graph_mode(const DistributedDataParallelOptions& options);
  bool finds_unused_in_each_pass() const { return mode_ == GraphMode::kFindUnused; }
  bool is_static() const {
    return mode_ == GraphMode::kStatic || mode_ == GraphMode::kStaticWithUnused;
  }
  bool may_have_unused() const {
    return mode_ == GraphMode::kFindUnused || mode_ == GraphMode::kStaticWithUnused;
  }
  /// Whether the ranks tell each other which parameters they have used.
  bool sends_used_map() const { return may_have_unused() && !counted_; }
  int64_t now() const;

  const DistributedDataParallelOptions options_;
  const GraphMode mode_;
  const GroupPtr group_;
  std::vector<Parameter> parameters_;
  std::vector<IntrusivePtr<autograd::Node>> accumulators_;
  std::vector<autograd::HookHandle> hooks_;
  int divisor_;
  CommHook comm_hook_;

  std::vector<std::vector<size_t>> assignment_;
  std::vector<Bucket> buckets_;
  std::vector<std::pair<size_t, size_t>> place_;  // of each parameter: bucket, number in it
  bool has_reduced_ = false;                      // on this rank, and so on all
  bool rebuilt_ = false;

  // Parameters that have had gradients since the last reduction, some of them under no_sync().
  std::vector<bool> used_here_;
  // Whether a graph of gradients of outputs has been recorded since: a pass through that adds to
  // gradients without coming to the outputs.
  bool has_gradient_graph_ = false;

  // Of the pass under way:
  bool active_ = false;
  int64_t pass_ = -1;
  size_t next_bucket_ = 0;
  std::vector<bool> ready_;
  Tensor used_map_;
  WorkPtr used_work_;
  std::vector<int> left_;  // static graph: gradients to come

  std::vector<int> counts_;  // static graph: gradients per pass, known after the first
  bool counted_ = false;
  std::vector<bool> used_somewhere_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point forward_;
  DdpTimeline timeline_;
  TimelineLog log_;
};

}  // namespace detail

}  // namespace tenon::distributed
