#include "autograd/views/mutation_guard.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "aten/core/thread_state.h"
#include "aten/dispatch/registration.h"
#include "autograd/messages.h"
#include "tenon/ops/clone.h"

namespace tenon::autograd {

/// What has been saved, by the memory that it lies in. Backward may unpack on other threads.
struct AllowMutationOnSavedTensors::State : std::enable_shared_from_this<State> {
  struct Kept {
    std::shared_ptr<State> state;
    uint64_t generation = 0;
    Tensor tensor;  // the saved one, or a copy of it
    uint32_t version = 0;
  };
  using Weak = std::weak_ptr<Kept>;

  std::mutex mutex;
  uint64_t generation = 0;  // counts what has been given up
  std::unordered_map<const StorageImpl*, std::vector<Weak>> by_storage;
  // Of the operator that is about to change them: the tensors, and their versions before.
  std::vector<std::pair<Tensor, uint32_t>> changing;

  static SavedTensorHooks hooks(const std::shared_ptr<State>& state) {
    return {[state](const Tensor& t) -> std::any { return state->keep(t); },
            [](const std::any& packed) {
              const auto& kept = *std::any_cast<const std::shared_ptr<Kept>&>(packed);
              const std::lock_guard lock(kept.state->mutex);
              TENON_CHECK(kept.generation == kept.state->generation,
                          messages::kOutsideOfMutationGuard);
              if (kept.tensor.unsafe_impl()->version() != kept.version)
                messages::saved_tensor_was_modified(kept.tensor, "", kept.version);
              return kept.tensor;
            }};
  }

  std::shared_ptr<Kept> keep(const Tensor& t) {
    auto kept = std::make_shared<Kept>();
    kept->state = shared_from_this();
    kept->tensor = t;
    kept->version = t.unsafe_impl()->version();
    const std::lock_guard lock(mutex);
    kept->generation = generation;
    // An operator in place saves what it is about to change, and what it has changed.
    for (const auto& [changed, before] : changing) {
      if (t.is_alias_of(changed) && changed.unsafe_impl()->version() == before) {
        copy(*kept);
        return kept;
      }
    }
    std::vector<Weak>& others = by_storage[t.unsafe_impl()->storage.get()];
    if (others.size() == others.capacity())
      std::erase_if(others, [](const Weak& other) { return other.expired(); });
    others.push_back(kept);
    return kept;
  }

  static void copy(Kept& kept) {
    const NoGradGuard no_grad;
    kept.tensor = kept.tensor.detach().clone();
    kept.version = kept.tensor.unsafe_impl()->version();
  }

  void will_change(const Tensor& t) {
    const std::lock_guard lock(mutex);
    changing.emplace_back(t, t.is_inference() ? 0 : t.unsafe_impl()->version());
    const auto found = by_storage.find(t.unsafe_impl()->storage.get());
    if (found == by_storage.end()) return;
    for (const Weak& other : found->second) {
      if (const std::shared_ptr<Kept> kept = other.lock()) copy(*kept);
    }
    by_storage.erase(found);
  }

  void clear() {
    const std::lock_guard lock(mutex);
    ++generation;
    by_storage.clear();
  }
};

class AllowMutationOnSavedTensors::CopyBeforeChange final : public CallMode {
 public:
  explicit CopyBeforeChange(State& state) : state_(state) {}

  void call(const OperatorEntry& op, DispatchKeySet keys, Stack& stack) override {
    const auto schema = schema_of(op);
    const size_t first = stack.size() - schema->args.size();
    struct Changing {
      State& state;
      size_t outer;
      ~Changing() { state.changing.resize(outer); }
    } const changing{state_, state_.changing.size()};
    for (size_t i = 0; i < schema->args.size(); ++i) {
      if (!schema->args[i].is_mutable()) continue;
      const Value& value = stack[first + i];
      if (value.is_tensor()) will_change(value.to_tensor());
      if (!value.is_tensor_list()) continue;
      for (const TensorBase& t : value.to_tensors()) will_change(t);
    }
    go_on(op, keys, stack);
  }

 private:
  void will_change(const TensorBase& t) {
    if (t.defined() && t.has_storage()) state_.will_change(Tensor(t));
  }

  State& state_;
};

namespace {

constinit thread_local bool is_within = false;

}  // namespace

AllowMutationOnSavedTensors::AllowMutationOnSavedTensors()
    : state_(std::make_shared<State>()), mode_(std::make_unique<CopyBeforeChange>(*state_)),
      hooks_(State::hooks(state_)), calls_(*mode_) {
  TENON_CHECK(!is_within, "allow_mutation_on_saved_tensors contexts cannot be nested");
  is_within = true;
}

AllowMutationOnSavedTensors::~AllowMutationOnSavedTensors() {
  is_within = false;
  clear();
}

void AllowMutationOnSavedTensors::clear() { state_->clear(); }

}  // namespace tenon::autograd
