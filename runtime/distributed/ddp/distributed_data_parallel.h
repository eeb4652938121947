#pragma once

#include <tuple>

#include "runtime/distributed/ddp/replica.h"
#include "runtime/nn/module.h"

namespace tenon::distributed {

/// What DistributedDataParallel does that depends on no type of module.
class TENON_API DistributedDataParallelBase : public nn::Module {
 public:
  /// The state_dict() of the module that is trained, without "module." before its keys.
  nn::StateDict module_state_dict() const;
  /// Takes keys with and without "module.".
  void load_state_dict(const nn::StateDict& state, bool strict = true);

  /// Takes the place of all_reduce from here on. Once only.
  void register_comm_hook(CommHook hook) { replica_.reducer().register_comm_hook(std::move(hook)); }
  /// While it lives, forward calls of this thread are not to be reduced: their gradients are added
  /// up on each rank, for the first pass after it.
  class TENON_API NoSyncGuard {
   public:
    explicit NoSyncGuard(DistributedDataParallelBase& module)
        : module_(module), before_(module.replica_.sync()) {
      module.replica_.set_sync(false);
    }
    ~NoSyncGuard() { module_.replica_.set_sync(before_); }
    NoSyncGuard(const NoSyncGuard&) = delete;
    NoSyncGuard& operator=(const NoSyncGuard&) = delete;

   private:
    DistributedDataParallelBase& module_;
    bool before_;
  };
  NoSyncGuard no_sync() { return NoSyncGuard(*this); }

  /// Calls f, a loop of iterations of which ranks may have different numbers: a rank that is
  /// through takes part in what the others do until they are, without gradients of its own. All
  /// have the same parameters afterwards: those of a rank that made the last iteration.
  void join(const std::function<void()>& f, const JoinOptions& options = {});

  const DdpTimeline& timeline() const { return replica_.reducer().timeline(); }
  /// Numbers of parameters, bucket by bucket.
  const std::vector<std::vector<size_t>>& buckets() const { return replica_.reducer().buckets(); }

 protected:
  DistributedDataParallelBase(std::shared_ptr<nn::Module> module,
                              DistributedDataParallelOptions options);
  void before_forward();
  bool requires_grad_sync() const { return replica_.requires_grad_sync(); }
  std::vector<Tensor> prepare_for_backward(std::vector<Tensor> outputs) {
    return replica_.prepare_for_backward(std::move(outputs));
  }

 private:
  std::shared_ptr<nn::Module> wrapped_;
  detail::Replica replica_;
};

/// A module that is trained on several ranks, each with its own part of a batch: after backward()
/// every rank has the gradients' mean over all ranks. `M` is a holder, as Linear or Sequential.
///     DistributedDataParallel<LeNet> net(LeNet{});
///     cross_entropy(net(batch), target).backward();
/// Rank 0's parameters and buffers go to all when it is made; the ranks must then do the same steps
/// with their optimizers. Error, on every rank and with names, if the modules differ.
///
/// Forward's outputs are tensors, or vectors, pairs and tuples of them.
template <class M>
class DistributedDataParallel : public DistributedDataParallelBase {
 public:
  explicit DistributedDataParallel(M module, DistributedDataParallelOptions options = {})
      : DistributedDataParallelBase(module.ptr(), std::move(options)), module_(std::move(module)) {}

  const M& module() const { return module_; }
  M& operator->() { return module_; }
  template <class... Args>
  auto forward(Args&&... args) {
    before_forward();
    auto output = module_(std::forward<Args>(args)...);
    if (requires_grad_sync()) {
      std::vector<Tensor> tensors;
      each_tensor(output, [&](Tensor& t) { tensors.push_back(t); });
      tensors = prepare_for_backward(std::move(tensors));
      size_t next = 0;
      each_tensor(output, [&](Tensor& t) { t = tensors[next++]; });
    }
    return output;
  }
  template <class... Args>
  auto operator()(Args&&... args) {
    return forward(std::forward<Args>(args)...);
  }

 private:
  template <class F>
  static void each_tensor(Tensor& t, F&& f) {
    f(t);
  }
  template <class F>
  static void each_tensor(std::vector<Tensor>& list, F&& f) {
    for (Tensor& t : list) f(t);
  }
  template <class... T, class F>
  static void each_tensor(std::tuple<T...>& all, F&& f) {
    std::apply([&](auto&... one) { (each_tensor(one, f), ...); }, all);
  }
  template <class A, class B, class F>
  static void each_tensor(std::pair<A, B>& both, F&& f) {
    each_tensor(both.first, f);
    each_tensor(both.second, f);
  }

  M module_;
};

}  // namespace tenon::distributed
