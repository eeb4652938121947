#include "autograd/engine/multi_grad_hook.h"

#include <map>

#include "autograd/autograd.h"
#include "autograd/engine/engine.h"

namespace tenon::autograd {
namespace {

void check(const std::vector<Tensor>& tensors) {
  TENON_CHECK_VALUE(!tensors.empty(), "[register_multi_grad_hook] expected at least one tensor");
  for (size_t i = 0; i < tensors.size(); ++i) {
    TENON_CHECK(tensors[i].defined() && tensors[i].requires_grad(),
                "[register_multi_grad_hook] expected tensors that require grad, tensor ", i,
                " does not");
  }
}

/// What has arrived, by the number of the pass.
struct Arrived {
  struct Pass {
    size_t missing = 0;
    std::vector<Tensor> grads;
    bool called = false;
  };

  std::function<void(const std::vector<Tensor>&)> hook;
  std::vector<const Node*> nodes;  // only to be compared: a hook must not keep what it is on
  std::vector<HookHandle> handles;
  std::mutex mutex;
  std::map<int64_t, Pass> passes;

  /// When the last one of a pass arrives, or the pass ends.
  void call(int64_t id) {
    std::vector<Tensor> grads;
    {
      const std::lock_guard lock(mutex);
      Pass& pass = passes.at(id);
      if (std::exchange(pass.called, true)) return;
      grads = std::move(pass.grads);
    }
    hook(grads);
  }
};

}  // namespace

MultiGradHandle
register_multi_grad_hook(const std::vector<Tensor>& tensors,
                         std::function<void(const std::vector<Tensor>& grads)> hook) {
  check(tensors);
  const auto arrived = std::make_shared<Arrived>();
  arrived->hook = std::move(hook);
  for (const Tensor& t : tensors) arrived->nodes.push_back(gradient_edge(t).function.get());
  for (size_t i = 0; i < tensors.size(); ++i) {
    arrived->handles.push_back(register_hook(tensors[i], [arrived, i](const Tensor& grad) {
      const int64_t id = current_pass_id();
      bool first, last;
      {
        const std::lock_guard lock(arrived->mutex);
        const auto [found, fresh] = arrived->passes.try_emplace(id);
        Arrived::Pass& pass = found->second;
        if (fresh) {
          pass.grads.resize(arrived->nodes.size());
          for (size_t k = 0; k < arrived->nodes.size(); ++k) {
            if (arrived->handles[k].is_active() && will_execute(arrived->nodes[k])) ++pass.missing;
          }
        }
        first = fresh;
        pass.grads[i] = grad;
        last = --pass.missing == 0;
      }
      if (first) {
        queue_callback([arrived, id] {
          arrived->call(id);
          const std::lock_guard lock(arrived->mutex);
          arrived->passes.erase(id);
        });
      }
      if (last) arrived->call(id);
      return Tensor();
    }));
  }
  return MultiGradHandle(arrived->handles);
}

MultiGradHandle register_any_grad_hook(const std::vector<Tensor>& tensors,
                                       std::function<void(const Tensor& grad)> hook) {
  check(tensors);
  struct Seen {
    std::mutex mutex;
    std::map<int64_t, bool> passes;
  };
  const auto seen = std::make_shared<Seen>();
  std::vector<HookHandle> handles;
  for (const Tensor& t : tensors) {
    handles.push_back(register_hook(t, [seen, hook](const Tensor& grad) {
      const int64_t id = current_pass_id();
      bool first;
      {
        const std::lock_guard lock(seen->mutex);
        first = seen->passes.try_emplace(id, true).second;
      }
      if (!first) return Tensor();
      queue_callback([seen, id] {
        const std::lock_guard lock(seen->mutex);
        seen->passes.erase(id);
      });
      hook(grad);
      return Tensor();
    }));
  }
  return MultiGradHandle(std::move(handles));
}

}  // namespace tenon::autograd
