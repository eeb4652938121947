#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "autograd/engine/spin_lock.h"
#include "tenon/tensor.h"

namespace tenon::autograd {

using variable_list = SmallVector<Tensor, 3>;
struct AnomalyRecord;
struct AutogradMeta;

/// Called with the gradients of a node's results, before the node runs. Its result replaces them.
using PreHook = std::function<variable_list(const variable_list& grads)>;
/// Called after a node has run. Its result replaces grad_inputs.
using PostHook = std::function<variable_list(const variable_list& grad_inputs,
                                             const variable_list& grad_outputs)>;
/// Called with the gradient of one tensor. A defined result replaces it.
using TensorHook = std::function<Tensor(const Tensor& grad)>;
/// Called with a leaf after a gradient has been added to its grad().
using PostAccumulateHook = std::function<void(const Tensor& leaf)>;

/// A list from which hooks are removed by their number.
struct RemovableHooks {
  virtual ~RemovableHooks() = default;
  virtual bool remove(uint32_t id) = 0;
  virtual bool has(uint32_t id) const = 0;
};
/// No two hooks of a process have the same number.
TENON_API uint32_t next_hook_id();

/// Refers to a registered hook, whatever happens to the tensor afterwards.
class HookHandle {
 public:
  HookHandle() = default;
  HookHandle(std::weak_ptr<RemovableHooks> place, uint32_t id)
      : place_(std::move(place)), id_(id) {}
  /// Removes the hook. False if it was removed before, or its graph has been freed.
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

/// Hooks in the order of registration. If a running hook, or another thread, adds or removes one,
/// the change takes effect in the next run.
template <class Hook>
class HookList {
 public:
  HookHandle add(Hook hook) {
    const uint32_t id = next_hook_id();
    entries_->change([&](std::vector<Entry>& list) { list.push_back({id, hook}); });
    return HookHandle(entries_, id);
  }
  bool empty() const { return entries_->current()->empty(); }
  /// Calls run(hook) for each.
  template <class Run>
  void for_each(Run&& run) const {
    const auto running = entries_->current();
    for (const Entry& entry : *running) run(entry.hook);
  }

 private:
  struct Entry {
    uint32_t id;
    Hook hook;
  };
  // A list is never changed in place: a changed copy replaces it. Hooks are copied and destroyed
  // outside the lock, because that may wait for the interpreter's lock, whose holder may wait for
  // this one.
  struct Entries final : RemovableHooks {
    using List = std::shared_ptr<const std::vector<Entry>>;

    List current() const {
      const std::lock_guard held(lock);
      return list;
    }
    template <class Change>
    void change(Change&& change) {
      while (true) {
        List before = current();
        auto changed = std::make_shared<std::vector<Entry>>(*before);
        change(*changed);
        const std::lock_guard held(lock);
        if (list != before) continue;  // another thread was quicker
        list = std::move(changed);
        return;
      }
    }
    bool has(uint32_t id) const override {
      const List now = current();
      return std::any_of(now->begin(), now->end(), [&](const Entry& e) { return e.id == id; });
    }
    bool remove(uint32_t id) override {
      bool found = false;
      change([&](std::vector<Entry>& list) {
        found = std::erase_if(list, [&](const Entry& e) { return e.id == id; }) > 0;
      });
      return found;
    }

    mutable SpinLock lock;
    List list = std::make_shared<const std::vector<Entry>>();
  };

  std::shared_ptr<Entries> entries_ = std::make_shared<Entries>();
};

/// An object that is created on first use, by any thread.
template <class T>
class OnDemand {
 public:
  OnDemand() = default;
  OnDemand(const OnDemand&) = delete;
  OnDemand& operator=(const OnDemand&) = delete;
  ~OnDemand() { delete object_.load(std::memory_order_relaxed); }

  T* get() const { return object_.load(std::memory_order_acquire); }
  T* operator->() const { return get(); }
  explicit operator bool() const { return get(); }
  T& get_or_make() {
    if (T* found = get()) return *found;
    auto made = std::make_unique<T>();
    T* found = nullptr;
    if (object_.compare_exchange_strong(found, made.get(), std::memory_order_acq_rel))
      return *made.release();
    return *found;
  }

 private:
  std::atomic<T*> object_{nullptr};
};

/// Connects a tensor whose retain_grad() was called with the node that the gradient arrives at.
class RetainedGrad {
 public:
  explicit RetainedGrad(AutogradMeta& meta) : meta_(&meta) {}
  /// Adds to the tensor's grad(), which never shares memory with `grad`.
  void add(const Tensor& grad);
  /// To be called when the tensor is destroyed or becomes the result of another node.
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
