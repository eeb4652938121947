#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "tenon/tensor.h"

namespace tenon::autograd {

using variable_list = SmallVector<Tensor, 3>;
struct AnomalyRecord;
struct AutogradMeta;

/// Sees the gradients that a node is about to take; what it returns replaces them.
using PreHook = std::function<variable_list(const variable_list& grads)>;
/// Sees the gradients that a node has given and taken; what it returns replaces those given.
using PostHook = std::function<variable_list(const variable_list& grad_inputs,
                                             const variable_list& grad_outputs)>;
/// Sees the gradient of one tensor; a defined result replaces it.
using TensorHook = std::function<Tensor(const Tensor& grad)>;
/// Called with a leaf whose grad() has been added to.
using PostAccumulateHook = std::function<void(const Tensor& leaf)>;

/// A list from which hooks are removed by their number.
struct RemovableHooks {
  virtual ~RemovableHooks() = default;
  virtual bool remove(uint32_t id) = 0;
  virtual bool has(uint32_t id) const = 0;
};
/// No two hooks of a process have the same number.
TENON_API uint32_t next_hook_id();

/// Names a hook at the place where it was registered, whatever happens to the tensor afterwards.
class HookHandle {
 public:
  HookHandle() = default;
  HookHandle(std::weak_ptr<RemovableHooks> place, uint32_t id)
      : place_(std::move(place)), id_(id) {}
  /// Takes the hook away. False if it had been taken away before, or its graph has gone.
  bool remove() const {
    const auto place = place_.lock();
    return place && place->remove(id_);
  }
  uint32_t id() const { return id_; }
  /// Whether the hook is still there.
  bool is_active() const {
    const auto place = place_.lock();
    return place && place->has(id_);
  }

 private:
  std::weak_ptr<RemovableHooks> place_;
  uint32_t id_ = 0;
};

/// Hooks in the order they were registered. Those that a running hook adds or removes count from
/// the next run on.
template <class Hook>
class HookList {
 public:
  HookHandle add(Hook hook) {
    if (!entries_) entries_ = std::make_shared<Entries>();
    const uint32_t id = next_hook_id();
    entries_->writable().push_back({id, std::move(hook)});
    return HookHandle(entries_, id);
  }
  bool empty() const { return !entries_ || entries_->list->empty(); }
  /// Calls run(hook) for each.
  template <class Run>
  void for_each(Run&& run) const {
    if (empty()) return;
    const auto running = entries_->list;
    for (const auto& entry : *running) run(entry.hook);
  }

 private:
  struct Entry {
    uint32_t id;
    Hook hook;
  };
  struct Entries final : RemovableHooks {
    std::shared_ptr<std::vector<Entry>> list = std::make_shared<std::vector<Entry>>();

    /// The list, or a copy of it while a run goes through it.
    std::vector<Entry>& writable() {
      if (list.use_count() > 1) list = std::make_shared<std::vector<Entry>>(*list);
      return *list;
    }
    bool has(uint32_t id) const override {
      for (const Entry& entry : *list) {
        if (entry.id == id) return true;
      }
      return false;
    }
    bool remove(uint32_t id) override {
      return std::erase_if(writable(), [&](const Entry& entry) { return entry.id == id; }) > 0;
    }
  };

  std::shared_ptr<Entries> entries_;
};

/// What a tensor whose retain_grad() was called and the node that makes its gradient know of each
/// other.
class RetainedGrad {
 public:
  explicit RetainedGrad(AutogradMeta& meta) : meta_(&meta) {}
  /// Adds to the tensor's grad(), which never shares memory with `grad`.
  void add(const Tensor& grad);
  /// The tensor has gone, or is another node's result now.
  void forget() noexcept {
    const std::lock_guard lock(mutex_);
    meta_ = nullptr;
  }

 private:
  std::mutex mutex_;
  AutogradMeta* meta_;
};

/// Hooks of a node and of the tensors it made; most nodes have none.
struct NodeHooks {
  struct OnTensor {
    uint32_t output_nr;
    TensorHook call;
  };
  struct Retained {
    uint32_t output_nr;
    std::shared_ptr<RetainedGrad> grad;
  };
  HookList<OnTensor> on_tensors;
  std::vector<Retained> retained;
  HookList<PreHook> pre;
  HookList<PostHook> post;
  std::shared_ptr<AnomalyRecord> anomaly;  ///< kept in anomaly mode
};

}  // namespace tenon::autograd
