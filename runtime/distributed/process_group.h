#pragma once

#include <functional>

#include "runtime/distributed/backends/backend.h"
#include "runtime/distributed/stores/rendezvous.h"

namespace tenon::distributed {

/// Ranks that work together, and the backend that carries their collectives.
class TENON_API ProcessGroup {
 public:
  static constexpr Milliseconds kDefaultTimeout = std::chrono::minutes(30);

  /// Returns when all ranks have made theirs. `store` is the group's alone (a PrefixStore).
  /// `global_ranks`: of the members, in their order; not given: 0, 1, ...
  ProcessGroup(const std::string& backend, std::shared_ptr<Store> store, int rank, int size,
               Milliseconds timeout = kDefaultTimeout, std::vector<int> global_ranks = {});

  int rank() const { return backend_->rank(); }
  int size() const { return backend_->size(); }
  Milliseconds timeout() const { return timeout_; }
  Backend& backend() const { return *backend_; }
  const std::shared_ptr<Store>& store() const { return store_; }
  const std::vector<int>& global_ranks() const { return global_ranks_; }
  /// The member that is this rank of the run. ValueError if none is.
  int group_rank(int global_rank) const;

 private:
  std::shared_ptr<Store> store_;
  Milliseconds timeout_;
  std::vector<int> global_ranks_;
  std::shared_ptr<Backend> backend_;
};
using GroupPtr = std::shared_ptr<ProcessGroup>;

struct InitOptions {
  std::string backend = {};      ///< "gloo" where this build has it, else "single"
  std::string init_method = {};  ///< the backend's own if it has one ("mpi://"), else "env://"
  int rank = -1;
  int world_size = -1;
  std::shared_ptr<Store> store =
      {};  ///< instead of init_method; rank and world_size are needed then
  Milliseconds timeout = ProcessGroup::kDefaultTimeout;
};

/// Joins the run: makes the default group, of all ranks. Error if there is one already; see
/// rendezvous() for others.
TENON_API void init_process_group(const InitOptions& options = {});
/// Leaves the default group.
TENON_API void destroy_process_group();
TENON_API bool is_initialized();
/// Whether the launcher has started this process.
TENON_API bool is_launched();
/// The default group. Error "... call init_process_group first".
TENON_API GroupPtr default_group();
/// A group of some of the ranks; null on the others. All ranks of the run must call it, in the same
/// order. ValueError, on those that differ from the first, if the lists do.
TENON_API GroupPtr new_group(const std::vector<int>& ranks, Milliseconds timeout = Milliseconds(0),
                             const std::string& backend = {});
/// This process's rank; with a group that it is no member of, -1. A null group is the default.
TENON_API int get_rank(const GroupPtr& group = nullptr);
TENON_API int get_world_size(const GroupPtr& group = nullptr);

// Collectives, of the default group if none is given. Ranks (`src`, `dst`) are those of the run.
// Without `async_op` errors are thrown here, with it by wait() of the Work.
// DistBackendError on every rank, naming both, if ranks call different collectives or give
// different dtypes or shapes; on every other rank, naming it and the cause, if a rank ends, is too
// late, or calls abort().

TENON_API WorkPtr broadcast(const Tensor& tensor, int src, const GroupPtr& group = nullptr,
                            const CallOptions& options = {});
TENON_API WorkPtr all_reduce(const Tensor& tensor, ReduceOp op = ReduceOp::SUM,
                             const GroupPtr& group = nullptr, const CallOptions& options = {});
/// Tensors of any dtypes and devices, the small ones joined to few messages; returns when done.
TENON_API void broadcast_coalesced(const std::vector<Tensor>& tensors, int src,
                                   const GroupPtr& group = nullptr);
/// Several tensors of one dtype, on one device, at once.
TENON_API WorkPtr all_reduce_coalesced(const std::vector<Tensor>& tensors,
                                       ReduceOp op = ReduceOp::SUM, const GroupPtr& group = nullptr,
                                       const CallOptions& options = {});
TENON_API WorkPtr reduce(const Tensor& tensor, int dst, ReduceOp op = ReduceOp::SUM,
                         const GroupPtr& group = nullptr, const CallOptions& options = {});
TENON_API WorkPtr all_gather(const std::vector<Tensor>& outputs, const Tensor& input,
                             const GroupPtr& group = nullptr, const CallOptions& options = {});
/// output: the ranks' inputs one after another, [size * n, ...] or [size, n, ...].
TENON_API WorkPtr all_gather_into_tensor(const Tensor& output, const Tensor& input,
                                         const GroupPtr& group = nullptr,
                                         const CallOptions& options = {});
TENON_API WorkPtr gather(const Tensor& input, const std::vector<Tensor>& outputs, int dst,
                         const GroupPtr& group = nullptr, const CallOptions& options = {});
TENON_API WorkPtr scatter(const Tensor& output, const std::vector<Tensor>& inputs, int src,
                          const GroupPtr& group = nullptr, const CallOptions& options = {});
TENON_API WorkPtr reduce_scatter(const Tensor& output, const std::vector<Tensor>& inputs,
                                 ReduceOp op = ReduceOp::SUM, const GroupPtr& group = nullptr,
                                 const CallOptions& options = {});
TENON_API WorkPtr reduce_scatter_tensor(const Tensor& output, const Tensor& input,
                                        ReduceOp op = ReduceOp::SUM,
                                        const GroupPtr& group = nullptr,
                                        const CallOptions& options = {});
TENON_API WorkPtr all_to_all(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                             const GroupPtr& group = nullptr, const CallOptions& options = {});
/// Rows of `input`, input_splits[r] of them to rank r, and of `output`; no splits: equal parts.
TENON_API WorkPtr all_to_all_single(const Tensor& output, const Tensor& input,
                                    std::vector<int64_t> output_splits = {},
                                    std::vector<int64_t> input_splits = {},
                                    const GroupPtr& group = nullptr,
                                    const CallOptions& options = {});
/// A message to one rank, which keeps it until it asks: returns when it is on its way.
TENON_API void send(const Tensor& tensor, int dst, const GroupPtr& group = nullptr, int tag = 0);
/// The next message of `src`, or of any rank if src is -1, with the tag: the rank it came from.
/// DistBackendError, here alone, if it has another dtype or size.
TENON_API int recv(const Tensor& tensor, int src = -1, const GroupPtr& group = nullptr,
                   int tag = 0);
TENON_API WorkPtr isend(const Tensor& tensor, int dst, const GroupPtr& group = nullptr,
                        int tag = 0);
TENON_API WorkPtr irecv(const Tensor& tensor, int src = -1, const GroupPtr& group = nullptr,
                        int tag = 0);
TENON_API WorkPtr barrier(const GroupPtr& group = nullptr, const CallOptions& options = {});
/// A barrier of its own timeout, 0 for the group's: DistBackendError that names the ranks that did
/// not come.
TENON_API void monitored_barrier(const GroupPtr& group = nullptr,
                                 Milliseconds timeout = Milliseconds(0));

// Objects: bytes of any length.

TENON_API std::vector<std::string> all_gather_object(const std::string& object,
                                                     const GroupPtr& group = nullptr);
/// Empty on ranks other than dst.
TENON_API std::vector<std::string> gather_object(const std::string& object, int dst,
                                                 const GroupPtr& group = nullptr);
/// The list of src; the others' lists must have its length.
TENON_API void broadcast_object_list(std::vector<std::string>& objects, int src,
                                     const GroupPtr& group = nullptr);
/// Element `rank` of the list of src.
TENON_API std::string scatter_object_list(const std::vector<std::string>& objects, int src,
                                          const GroupPtr& group = nullptr);

/// Calls f on rank 0, as for writing a checkpoint, and returns on all ranks when it is done. If it
/// throws, every rank does: DistBackendError with its text on the others.
TENON_API void run_on_rank_0(const std::function<void()>& f, const GroupPtr& group = nullptr);
/// For what all ranks write together, as a checkpoint of which each has a part: calls write() on
/// all, and commit() on rank 0 with what they gave, by rank; returns on all ranks when that is
/// done. If any of them throws, every rank does, DistBackendError with its text on the others, and
/// nothing is committed.
TENON_API void save_together(const std::function<std::string()>& write,
                             const std::function<void(const std::vector<std::string>&)>& commit,
                             const GroupPtr& group = nullptr);
/// Calls f, a program's work. If it throws, the other ranks fail with its text instead of waiting,
/// the launcher is told of it, and the exception goes on.
TENON_API void record(const std::function<void()>& f);

}  // namespace tenon::distributed
