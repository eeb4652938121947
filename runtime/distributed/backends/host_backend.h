#pragma once

#include <deque>
#include <map>
#include <thread>

#include "runtime/distributed/backends/backend.h"
#include "runtime/distributed/mesh/engine.h"
#include "runtime/distributed/mesh/mesh.h"
#include "runtime/distributed/streams.h"

namespace tenon::distributed::detail {

/// Collectives by way of the host's memory, which is where CPU tensors are; those of GPUs are
/// copied to it and back, after what the caller's current streams hold, and done when they are
/// back. Before any data moves, each rank tells all others what it is about to do, over the mesh:
/// calls that differ are an error on every rank, and nothing else happens. What is small goes along
/// with that; the engine moves the rest. Calls run in order, on the calling thread if it waits for
/// them and nothing is queued, else on a thread of the group's.
class TENON_API HostBackend : public Backend {
 public:
  /// Makes the engine when first there is something for it; called on all ranks at once.
  using MakeEngine = std::function<std::unique_ptr<Engine>(Mesh&)>;

  HostBackend(std::string name, const BackendArguments& arguments, MakeEngine make_engine);
  ~HostBackend() override;

  std::string name() const override { return name_; }
  WorkPtr broadcast(const Tensor& tensor, int root, const CallOptions& options) override;
  WorkPtr all_reduce(const Tensor& tensor, ReduceOp op, const CallOptions& options) override;
  WorkPtr reduce(const Tensor& tensor, int root, ReduceOp op, const CallOptions& options) override;
  WorkPtr all_gather(const std::vector<Tensor>& outputs, const Tensor& input,
                     const CallOptions& options) override;
  WorkPtr gather(const std::vector<Tensor>& outputs, const Tensor& input, int root,
                 const CallOptions& options) override;
  WorkPtr scatter(const Tensor& output, const std::vector<Tensor>& inputs, int root,
                  const CallOptions& options) override;
  WorkPtr reduce_scatter(const Tensor& output, const std::vector<Tensor>& inputs, ReduceOp op,
                         const CallOptions& options) override;
  WorkPtr all_to_all(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                     const CallOptions& options) override;
  WorkPtr send(const Tensor& tensor, int dst, int tag, const CallOptions& options) override;
  WorkPtr recv(const Tensor& tensor, int src, int tag, const CallOptions& options) override;
  WorkPtr barrier(const CallOptions& options) override;
  void fail_next_collectives(const std::string& text, int count) override;
  void abort(const std::string& text) override;

 protected:
  /// What a rank tells the others.
  struct Header {
    std::string text = {};            // must be the same on all ranks
    std::vector<int64_t> sizes = {};  // elements, where ranks may differ
    std::string failure = {};         // not empty: why it must fail
    bool is_inline = false;           // the data follows
    std::string_view data = {};
  };
  struct Peers {
    std::vector<std::string> bodies;
    std::vector<Header> headers;
    bool all_inline() const;
  };
  struct Call {
    std::string what = {};  // "all_reduce"
    Header header = {};
    std::function<std::string_view()> small_data =
        {};                                        // what goes along, called when the turn comes
    std::function<void(const Peers&)> check = {};  // of sizes; throws the same on all ranks
    std::function<void(const Peers&, Deadline)> run = {};
    WorkPtr work = std::make_shared<Work>();
    Mark begun = {};  // of the caller's streams, if GPUs' tensors go by way of the host
    Milliseconds timeout{0};
  };

  /// Runs the call in its turn, when all ranks have said that they make the same one.
  WorkPtr submit(Call call, const CallOptions& options);
  /// Finishes what is queued; nothing is accepted any more. Before what calls need is destroyed.
  void close();
  bool has_failed() const;
  /// Throws DistBackendError if the group has failed.
  void throw_if_failed(const std::string& what) const;
  Milliseconds timeout() const { return timeout_; }
  void check_root(const char* what, int root) const;
  void check_count(const char* what, const char* which, size_t count) const;

 private:
  class Receive;
  void run(Call& call) noexcept;
  void run_or_throw(Call& call);
  Peers meet(Call& call, Deadline deadline);
  void serve();
  Engine& engine();
  bool is_small(size_t bytes) const { return size() == 1 || bytes <= small_; }
  /// Completes what was to be received before `last`, and it; without `wait` as far as messages are
  /// there.
  void take_earlier(Receive& last, bool wait, Milliseconds timeout);

  const std::string name_;
  const Milliseconds timeout_;
  const size_t small_;  // bytes that go along with the header
  const MakeEngine make_engine_;
  std::unique_ptr<Mesh> mesh_;  // null in a group of one
  std::mutex engine_mutex_;
  std::unique_ptr<Engine> engine_;
  uint64_t next_number_ = 0;
  std::string last_error_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Call> queue_;
  bool busy_ = false;
  bool closed_ = false;
  std::thread thread_;  // from the first queued call on

  std::mutex receives_mutex_;
  std::deque<std::shared_ptr<Receive>> receives_;
};

/// What moves the data of CPU tensors of several ranks in this build; empty without Gloo.
TENON_API HostBackend::MakeEngine make_host_engine(const BackendArguments& arguments);
/// A HostBackend with an engine from another library.
TENON_API std::shared_ptr<Backend>
make_host_backend(std::string name, const BackendArguments& arguments,
                  std::function<std::unique_ptr<Engine>()> make_engine);
/// "single", for groups of one, and those of the engines that this build has.
std::map<std::string, BackendFactory> built_in_backends();
/// Why there is no backend for several ranks, "; ...", in a build without Gloo; else empty.
std::string missing_engine();

}  // namespace tenon::distributed::detail
