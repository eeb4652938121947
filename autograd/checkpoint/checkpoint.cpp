#include "autograd/checkpoint/checkpoint.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include "aten/core/thread_state.h"
#include "aten/dispatch/registration.h"
#include "autograd/autocast.h"
#include "autograd/autograd.h"
#include "autograd/call_mode.h"
#include "autograd/checkpoint/generator_state.h"
#include "autograd/checkpoint/left_to_checkpoint.h"
#include "autograd/engine/engine.h"
#include "autograd/messages.h"
#include "autograd/saved/saved_variable.h"

namespace tenon::autograd {
namespace {

thread_local std::optional<bool> early_stop_of_scope;
thread_local std::optional<bool> debug_of_scope;

void warn(const char* text) { std::fprintf(stderr, "tenon: warning: [checkpoint] %s\n", text); }

using RngState = std::vector<GeneratorState>;

/// Of the CPU and of the devices where inputs are; nothing unless it is to be kept.
RngState rng_state(const variable_list& inputs, bool keep) {
  RngState states;
  if (!keep) return states;
  std::vector<Device> devices{kCPU};
  for (const Tensor& t : inputs) {
    if (!t.defined() || t.device().type() == kMeta) continue;
    if (std::find(devices.begin(), devices.end(), t.device()) == devices.end())
      devices.push_back(t.device());
  }
  for (const Device device : devices) states.emplace_back(default_generator(device));
  return states;
}

/// Draws from `state` until the end of the scope, and goes on from where it was after that.
class RngScope {
 public:
  explicit RngScope(const RngState& state) {
    for (const GeneratorState& s : state) before_.emplace_back(s.generator());
    for (const GeneratorState& s : state) s.restore();
  }
  ~RngScope() {
    for (const GeneratorState& s : before_) s.restore();
  }
  RngScope(const RngScope&) = delete;
  RngScope& operator=(const RngScope&) = delete;

 private:
  RngState before_;
};

// ---- reentrant ----

struct ReentrantCall {
  Checkpointed f;
  RngState rng;
  autocast::AutocastState casts;
};
/// A call, until the last pass through it: the function may hold what the call has returned, and
/// with that itself.
class KeptCall {
 public:
  explicit KeptCall(ReentrantCall call)
      : call_(std::make_shared<const ReentrantCall>(std::move(call))) {}
  /// Null once it has been given up.
  std::shared_ptr<const ReentrantCall> get() const {
    const std::lock_guard lock(mutex_);
    return call_;
  }
  void give_up() {
    std::shared_ptr<const ReentrantCall> call;  // destroyed after the lock has been given up
    const std::lock_guard lock(mutex_);
    call_.swap(call);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const ReentrantCall> call_;
};
using SharedCall = std::shared_ptr<KeptCall>;

struct CheckpointFunction : Function<CheckpointFunction> {
  static variable_list forward(AutogradContext* context, const SharedCall& call,
                               const variable_list& inputs) {
    context->save_for_backward(inputs);
    context->state = call;
    return call->get()->f(inputs);
  }
  static variable_list backward(AutogradContext* context, variable_list grads);
};

variable_list CheckpointFunction::backward(AutogradContext* context, variable_list grads) {
  TENON_CHECK(
      !current_task_is_pruned,
      "When use_reentrant=True, checkpoint is incompatible with .grad() or passing an `inputs` "
      "parameter to .backward(). To resolve this error, you can either set use_reentrant=False, or "
      "call .backward() without passing the `inputs` argument.");
  TENON_CHECK(!GradMode::is_enabled(),
              "When use_reentrant=True, checkpoint is incompatible with create_graph=True, which "
              "would lose the second derivative. Set use_reentrant=False.");
  variable_list inputs = context->get_saved_variables();
  const auto shared = std::any_cast<SharedCall>(context->state);
  const std::shared_ptr<const ReentrantCall> call = shared->get();
  if (!call) messages::graph_was_freed();
  for (Tensor& t : inputs) {
    if (!t.defined()) continue;
    const bool requires_grad = t.requires_grad();
    t = t.detach();
    t.set_requires_grad(requires_grad);
  }
  variable_list outputs;
  {
    const RngScope rng(call->rng);
    const autocast::AutocastGuard same_casts(call->casts);
    const AutoGradMode recorded(true);
    outputs = call->f(inputs);
  }
  std::vector<Tensor> roots, root_grads;
  for (size_t i = 0; i < outputs.size() && i < grads.size(); ++i) {
    if (!outputs[i].defined() || !outputs[i].requires_grad()) continue;
    roots.push_back(outputs[i]);
    root_grads.push_back(grads[i]);
  }
  TENON_CHECK(!roots.empty(),
              "none of output has requires_grad=True, this checkpoint() is not necessary");
  autograd::backward(roots, root_grads);
  if (!current_pass_keeps_graph()) shared->give_up();
  variable_list result(1);  // of the call itself
  for (const Tensor& t : inputs) result.push_back(t.defined() ? t.grad() : Tensor());
  return result;
}

variable_list checkpoint_reentrant(const Checkpointed& f, const variable_list& inputs,
                                   const CheckpointOptions& options) {
  TENON_CHECK_VALUE(!options.context_fn && !options.debug,
                    "Passing `context_fn` or `debug` is only supported when use_reentrant=False.");
  if (std::none_of(inputs.begin(), inputs.end(),
                   [](const Tensor& t) { return t.defined() && t.requires_grad(); })) {
    warn("None of the inputs have requires_grad=True. Gradients will be None");
  }
  return CheckpointFunction::apply(
      std::make_shared<KeptCall>(
          ReentrantCall{f, rng_state(inputs, options.preserve_rng_state), autocast::state()}),
      inputs);
}

// ---- not reentrant ----

/// Ends the second call. No std::exception, so that f does not take it for an error of its own.
struct StopRecomputation {
  const void* frame;
};

/// What is compared between the calls.
struct TensorKind {
  std::vector<int64_t> sizes;
  ScalarType dtype;
  Device device;

  explicit TensorKind(const Tensor& t)
      : sizes(t.sizes().vec()), dtype(t.scalar_type()), device(t.device()) {}
  friend bool operator==(const TensorKind&, const TensorKind&) = default;
  std::string text() const {
    return tenon::detail::concat(dtype, IntArrayRef(sizes), " on ", device);
  }
};

/// The operators of a call, "aten::mul.Tensor(float32[2], float32[]) -> float32[2]".
class OperatorLog final : public CallMode {
 public:
  void call(const OperatorEntry& op, DispatchKeySet keys, Stack& stack) override {
    const size_t first = stack.size() - schema_of(op)->args.size();
    const size_t number = lines_.size();
    lines_.push_back(op.qualified_name() + "(" + text(stack, first) + ")");
    go_on(op, keys, stack);
    lines_[number] += " -> " + text(stack, first);
  }
  const std::vector<std::string>& lines() const { return lines_; }

  /// Where this call, the second, differs from the first.
  std::string difference_from(const OperatorLog& other) const {
    const auto& before = other.lines_;
    size_t i = 0;
    while (i < lines_.size() && i < before.size() && lines_[i] == before[i]) ++i;
    const auto line = [&i](const std::vector<std::string>& lines) {
      return i < lines.size() ? lines[i] : std::string("none");
    };
    if (i == lines_.size() && i == before.size())
      return tenon::detail::concat("Both calls have the same ", i, " operators.");
    return tenon::detail::concat("The first operator that differs is number ", i + 1,
                                 ":\noriginal forward: ", line(before),
                                 "\nrecomputation: ", line(lines_));
  }

 private:
  static std::string text(const Stack& stack, size_t first) {
    std::string all;
    const auto add = [&all](const std::string& one) { all += (all.empty() ? "" : ", ") + one; };
    for (size_t i = first; i < stack.size(); ++i) {
      if (stack[i].is_tensor()) add(of(stack[i].to_tensor()));
      if (!stack[i].is_tensor_list()) continue;
      for (const TensorBase& t : stack[i].to_tensors()) add(t.defined() ? of(t) : "none");
    }
    return all;
  }
  static std::string of(const TensorBase& t) {
    return tenon::detail::concat(t.scalar_type(), t.sizes());
  }

  std::vector<std::string> lines_;
};

/// The place of a saved tensor, which the node that saved it owns: empty but during a pass.
struct Holder {
  struct Value {
    Tensor tensor;
    bool taken = false;
  };
  size_t position;
  std::map<int64_t, Value> by_pass;
};

/// One checkpointed call.
class Frame : public std::enable_shared_from_this<Frame> {
 public:
  Frame(Checkpointed f, const variable_list& inputs, const CheckpointOptions& options,
        CheckpointContext context)
      : f_(std::move(f)), context_(std::move(context)),
        rng_(rng_state(inputs, options.preserve_rng_state)),
        determinism_check_(options.determinism_check),
        early_stop_(options.early_stop.value_or(early_stop_of_scope.value_or(true))),
        log_(options.debug ? std::make_unique<OperatorLog>() : nullptr),
        inputs_node_(make_node<Inputs>(inputs)) {}

  /// Saved-tensor hooks of the first call.
  SavedTensorHooks saving() {
    const auto self = shared_from_this();
    return {[self](const Tensor& t) -> std::any { return self->leave(t); },
            [self](const std::any& packed) {
              return self->take(*std::any_cast<const std::shared_ptr<Holder>&>(packed));
            }};
  }
  void set_completed() { completed_ = true; }
  /// Of the first call; null unless it is to be kept.
  OperatorLog* log() const { return log_.get(); }

 private:
  /// The inputs, as if a node had saved them: an outer checkpoint's hooks apply to them.
  class Inputs final : public Node {
   public:
    explicit Inputs(const variable_list& inputs) {
      for (const Tensor& t : inputs) saved_.emplace_back(t);
    }
    std::string name() const override { return "CheckpointInputs"; }
    variable_list apply(variable_list&&) override { return {}; }
    variable_list unpack() const {
      variable_list inputs;
      for (const SavedVariable& s : saved_) inputs.push_back(s.unpack(*this));
      return inputs;
    }

   private:
    std::vector<SavedVariable> saved_;
  };
  /// What is known of the second call within one pass.
  struct Pass {
    bool recomputed = false;
    size_t count = 0;  // of tensors saved by it
  };

  std::shared_ptr<Holder> leave(const Tensor& t) {
    const std::lock_guard lock(mutex_);
    auto holder = std::make_shared<Holder>();
    holder->position = holders_.size();
    holders_.push_back(holder);
    kinds_.emplace_back(t);
    if (left_to_checkpoint) left_to_checkpoint->push_back(t);
    return holder;
  }

  Tensor take(Holder& holder) {
    static std::atomic<int64_t> outside{-1};
    // Outside of a pass each question is one of its own.
    const int64_t pass = current_pass_id() >= 0 ? current_pass_id() : --outside;
    if (!begin(pass)) recompute(pass);
    Tensor value = value_of(holder, pass);
    if (pass < 0) forget(pass);
    return value;
  }

  Tensor value_of(Holder& holder, int64_t pass) {
    const std::lock_guard lock(mutex_);
    const auto found = holder.by_pass.find(pass);
    TENON_CHECK_AS(
        CheckpointError, found != holder.by_pass.end(),
        "torch.utils.checkpoint: the recomputation did not reach the tensor at position ",
        holder.position);
    TENON_CHECK_AS(CheckpointError, !found->second.taken,
                   "torch.utils.checkpoint: Unpack is being triggered for a tensor that was "
                   "already unpacked once. If you are calling get_saved_variables() in backward, "
                   "make sure to do so only once.");
    found->second.taken = true;
    return std::move(found->second.tensor);
  }

  /// Whether the pass has computed the values already.
  bool begin(int64_t pass) {
    bool fresh;
    {
      const std::lock_guard lock(mutex_);
      const auto [found, added] = passes_.try_emplace(pass);
      if (found->second.recomputed) return true;
      found->second.count = 0;
      fresh = added;
    }
    if (fresh && pass >= 0) {
      queue_callback([self = weak_from_this(), pass] {
        if (const auto frame = self.lock()) frame->forget(pass);
      });
    }
    return false;
  }

  void forget(int64_t pass) {
    const std::lock_guard lock(mutex_);
    passes_.erase(pass);
    for (const auto& weak : holders_) {
      if (const auto holder = weak.lock()) holder->by_pass.erase(pass);
    }
  }

  void recompute(int64_t pass) {
    if (!log_) {
      call_again(pass);
      return check(pass);
    }
    OperatorLog log;
    try {
      const CallModeGuard watched(log);
      call_again(pass);
      check(pass);
    } catch (const CheckpointError& error) {
      tenon::detail::raise<CheckpointError>(error.what(), "\n", log.difference_from(*log_));
    }
  }

  void call_again(int64_t pass) {
    const variable_list inputs = inputs_node_->unpack();
    try {
      const SavedTensorHooksGuard hooks(
          {[this, pass](const Tensor& t) -> std::any { return fill(t, pass); },
           [](const std::any& packed) { return std::any_cast<const Tensor&>(packed); }});
      const AutoGradMode recorded(true);
      const RngScope rng(rng_);
      const autocast::AutocastGuard same_casts(casts_);
      const std::shared_ptr<void> context = context_ ? context_() : nullptr;
      f_(inputs);
    } catch (const StopRecomputation& stop) {
      if (stop.frame != this) throw;
    }
  }

  /// A tensor that the second call saves goes where the first one left its place.
  Tensor fill(const Tensor& t, int64_t pass) {
    Tensor kept = t.requires_grad() ? t.detach() : t;
    const std::lock_guard lock(mutex_);
    const size_t position = passes_[pass].count++;
    if (position >= holders_.size()) {
      if (!completed_) {  // the first call is going on, and asked for its own tensors
        ignore_differences_ = true;
        return kept;
      }
      tenon::detail::raise<CheckpointError>(
          "torch.utils.checkpoint: trying to save more tensors during recomputation than during "
          "the original forward pass.\nNumber of tensors saved during forward: ",
          holders_.size(), ". The first that is too many is ", TensorKind(t).text());
    }
    // One whose place has gone is not needed any more.
    if (const auto holder = holders_[position].lock()) holder->by_pass[pass] = {kept, false};
    if (early_stop_ && position + 1 == holders_.size()) throw StopRecomputation{this};
    return kept;
  }

  void check(int64_t pass) {
    const std::lock_guard lock(mutex_);
    Pass& notes = passes_[pass];
    notes.recomputed = true;
    if (ignore_differences_) return;
    TENON_CHECK_AS(CheckpointError, notes.count == holders_.size(),
                   "torch.utils.checkpoint: A different number of tensors was saved during the "
                   "original forward and recomputation.\nNumber of tensors saved during forward: ",
                   holders_.size(), "\nNumber of tensors saved during recomputation: ", notes.count,
                   ". The first that is missing is ", kinds_[notes.count].text());
    if (!determinism_check_) return;
    std::string differences;
    for (size_t i = 0; i < holders_.size(); ++i) {
      const auto holder = holders_[i].lock();
      if (!holder) continue;
      const TensorKind now(holder->by_pass.at(pass).tensor);
      if (now == kinds_[i]) continue;
      differences +=
          tenon::detail::concat("tensor at position ", i, ":\nsaved metadata: ", kinds_[i].text(),
                                "\nrecomputed metadata: ", now.text(), "\n");
    }
    TENON_CHECK_AS(CheckpointError, differences.empty(),
                   "torch.utils.checkpoint: Recomputed values for the following tensors have "
                   "different metadata than during the forward pass.\n",
                   differences);
  }

  const Checkpointed f_;
  const CheckpointContext context_;
  const RngState rng_;
  const autocast::AutocastState casts_ = autocast::state();
  const bool determinism_check_;
  const bool early_stop_;
  const std::unique_ptr<OperatorLog> log_;
  const IntrusivePtr<Inputs> inputs_node_;

  std::mutex mutex_;  // of what follows; never held while f runs
  bool completed_ = false;
  bool ignore_differences_ = false;
  std::vector<std::weak_ptr<Holder>> holders_;
  std::vector<TensorKind> kinds_;
  std::map<int64_t, Pass> passes_;
};

variable_list checkpoint_without_reentry(const Checkpointed& f, const variable_list& inputs,
                                         const CheckpointOptions& options) {
  std::pair<CheckpointContext, CheckpointContext> contexts;
  if (options.context_fn) contexts = options.context_fn();
  const auto enter = [&] { return contexts.first ? contexts.first() : nullptr; };
  TENON_CHECK_VALUE(!options.debug || !options.context_fn,
                    "debug=True is incompatible with non-default context_fn");
  if (!GradMode::is_enabled()) {
    const std::shared_ptr<void> context = enter();
    return f(inputs);
  }
  const auto frame = std::make_shared<Frame>(f, inputs, options, contexts.second);
  variable_list outputs;
  {
    const SavedTensorHooksGuard hooks(frame->saving());
    const std::shared_ptr<void> context = enter();
    std::optional<CallModeGuard> watched;
    if (frame->log()) watched.emplace(*frame->log());
    outputs = f(inputs);
  }
  frame->set_completed();
  return outputs;
}

}  // namespace

CheckpointEarlyStopGuard::CheckpointEarlyStopGuard(bool enabled)
    : previous_(std::exchange(early_stop_of_scope, enabled)) {}
CheckpointEarlyStopGuard::~CheckpointEarlyStopGuard() { early_stop_of_scope = previous_; }

CheckpointDebugGuard::CheckpointDebugGuard(std::optional<bool> enabled)
    : previous_(std::exchange(debug_of_scope, enabled)) {}
CheckpointDebugGuard::~CheckpointDebugGuard() { debug_of_scope = previous_; }

variable_list checkpoint(const Checkpointed& f, const variable_list& inputs,
                         const CheckpointOptions& given) {
  CheckpointOptions options = given;
  if (!given.use_reentrant.value_or(true)) options.debug = debug_of_scope.value_or(given.debug);
  TENON_CHECK(f, "[checkpoint] expected a function to call, got an empty one");
  if (!options.use_reentrant) {
    warn("the use_reentrant parameter should be passed explicitly. use_reentrant=false is "
         "recommended; without it, it is true.");
  }
  return options.use_reentrant.value_or(true) ? checkpoint_reentrant(f, inputs, options)
                                              : checkpoint_without_reentry(f, inputs, options);
}

Tensor checkpoint(const std::function<Tensor(const Tensor&)>& f, const Tensor& input,
                  const CheckpointOptions& options) {
  TENON_CHECK(f, "[checkpoint] expected a function to call, got an empty one");
  return checkpoint(
      Checkpointed([f](const variable_list& inputs) { return variable_list{f(inputs[0])}; }),
      variable_list{input}, options)[0];
}

Tensor checkpoint_sequential(const std::vector<std::function<Tensor(const Tensor&)>>& functions,
                             int64_t segments, const Tensor& input,
                             const CheckpointOptions& options) {
  const auto count = static_cast<int64_t>(functions.size());
  TENON_CHECK_VALUE(1 <= segments && segments <= count,
                    "[checkpoint_sequential] expected between 1 segment and one for each of ",
                    count, " functions, got ", segments);
  const int64_t length = count / segments;
  const auto run = [](const std::vector<std::function<Tensor(const Tensor&)>>& part, Tensor t) {
    for (const auto& f : part) t = f(t);
    return t;
  };
  Tensor t = input;
  for (int64_t i = 0; i + 1 < segments; ++i) {
    std::vector part(functions.begin() + i * length, functions.begin() + (i + 1) * length);
    t = checkpoint([part, run](const Tensor& in) { return run(part, in); }, t, options);
  }
  return run({functions.begin() + (segments - 1) * length, functions.end()}, t);
}

}  // namespace tenon::autograd
