#pragma once

#include <functional>

#include "runtime/distributed/backends/reduce_op.h"
#include "runtime/distributed/work.h"
#include "tenon/tensor.h"

namespace tenon::distributed {

/// How a call of a collective is made.
struct CallOptions {
  bool async_op = false;    ///< return before it is done
  Milliseconds timeout{0};  ///< 0: the group's
};

/// What carries out the collectives of one group. All ranks of a group must call the same
/// collectives in the same order; calls return a Work, already done unless `async_op`. What a
/// backend does not provide throws NotImplementedError.
class TENON_API Backend {
 public:
  Backend(int rank, int size) : rank_(rank), size_(size) {}
  virtual ~Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  virtual std::string name() const = 0;

  /// The tensor of `root` goes to all.
  virtual WorkPtr broadcast(const Tensor& tensor, int root, const CallOptions& options);
  /// All get the reduction of all.
  virtual WorkPtr all_reduce(const Tensor& tensor, ReduceOp op, const CallOptions& options);
  /// `root` gets the reduction of all; others' tensors stay as they are.
  virtual WorkPtr reduce(const Tensor& tensor, int root, ReduceOp op, const CallOptions& options);
  /// outputs[r] gets the input of rank r; the ranks' inputs may have different sizes.
  virtual WorkPtr all_gather(const std::vector<Tensor>& outputs, const Tensor& input,
                             const CallOptions& options);
  /// The same to one rank; others give no outputs.
  virtual WorkPtr gather(const std::vector<Tensor>& outputs, const Tensor& input, int root,
                         const CallOptions& options);
  /// Rank r gets inputs[r] of `root`; others give no inputs.
  virtual WorkPtr scatter(const Tensor& output, const std::vector<Tensor>& inputs, int root,
                          const CallOptions& options);
  /// Rank r gets the reduction of all ranks' inputs[r].
  virtual WorkPtr reduce_scatter(const Tensor& output, const std::vector<Tensor>& inputs,
                                 ReduceOp op, const CallOptions& options);
  /// outputs[r] gets inputs[own rank] of rank r.
  virtual WorkPtr all_to_all(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                             const CallOptions& options);
  /// Done when the message is on its way.
  virtual WorkPtr send(const Tensor& tensor, int dst, int tag, const CallOptions& options);
  /// From any rank if src is -1.
  virtual WorkPtr recv(const Tensor& tensor, int src, int tag, const CallOptions& options);
  /// Nobody returns before all have called it.
  virtual WorkPtr barrier(const CallOptions& options);
  /// Takes part in the next `count` collectives, whatever they are, only to make them fail on all
  /// ranks: "rank 1: <text>". Returns when all have been told; the group goes on.
  virtual void fail_next_collectives(const std::string& text, int count);
  /// Fails everything under way and to come, here and on the other ranks, and wakes who waits.
  virtual void abort(const std::string& text) = 0;

 private:
  [[noreturn]] void missing(const char* collective) const;

  int rank_;
  int size_;
};

struct BackendArguments {
  std::shared_ptr<Store> store;  ///< of the group alone
  int rank;
  int size;
  Milliseconds timeout;
};
using BackendFactory = std::function<std::shared_ptr<Backend>(const BackendArguments&)>;

/// Makes a backend available under a name, as "gloo" is. ValueError if the name is taken.
TENON_API void register_backend(const std::string& name, BackendFactory factory);
/// Names of the backends there are, sorted: those registered, and those in libraries beside this
/// one, libtenon_distributed_<name>.so. Such a library is loaded when its backend is asked for; it
/// registers it in its function `extern "C" void tenon_register_backend()`.
TENON_API std::vector<std::string> available_backends();
/// Whether there is one and, if it is in a library of its own, that can be loaded.
TENON_API bool is_backend_available(const std::string& name);
/// ValueError, with the names there are and what the build is without, for an unknown one.
TENON_API void check_backend(const std::string& name);
TENON_API std::shared_ptr<Backend> make_backend(const std::string& name,
                                                const BackendArguments& arguments);

}  // namespace tenon::distributed
