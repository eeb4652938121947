#include "autograd/forward/forward_ad.h"

#include <atomic>
#include <optional>

#include "aten/batching/batched_tensor.h"
#include "aten/dispatch/exclude_layers.h"
#include "aten/dispatch/registration.h"
#include "autograd/autograd.h"
#include "autograd/call_mode.h"
#include "autograd/checkpoint/generator_state.h"
#include "autograd/forward/forward_rules.h"
#include "autograd/forward/tangents.h"
#include "autograd/generated_support/generated_support.h"
#include "autograd/meta.h"
#include "autograd/views/view_history.h"
#include "tenon/ops/alias.h"
#include "tenon/ops/clone.h"
#include "tenon/ops/copy.h"
#include "tenon/ops/expand.h"
#include "tenon/ops/new_empty_strided.h"
#include "tenon/ops/to.h"
#include "tenon/ops/zero.h"
#include "tenon/ops/zeros_like.h"

namespace tenon::autograd::forward_ad {
namespace {

constexpr uint8_t kForwardLayer = DispatchKeySet(DispatchLayer::ForwardGrad).layers;
constexpr uint8_t kAutogradLayer = DispatchKeySet(DispatchLayer::Autograd).layers;

/// Number of the level that this thread is in; 0 outside of levels. No two levels share one, so
/// that a tangent of a level that has ended is none.
constinit thread_local uint64_t current_level = 0;
/// Whether this thread is in a level that it does not see: within forward of a custom Function.
constinit thread_local bool is_suspended = false;

/// Results that nodes have saved and that have tangents: these may lead to the node, and the end of
/// the level undoes the circle.
thread_local std::vector<Tensor> saved_results;

/// Calls record, wherever they are made from, and compute no tangents.
class Recording {
 public:
  Recording()
      : excluded_(thread_state.excluded_layers), grad_mode_(thread_state.grad_mode),
        pruned_(std::exchange(current_task_is_pruned, false)) {
    set(static_cast<uint8_t>((excluded_ | kForwardLayer) & ~kAutogradLayer), true);
  }
  ~Recording() {
    set(excluded_, grad_mode_);
    current_task_is_pruned = pruned_;
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

 private:
  static void set(uint8_t excluded, bool grad_mode) {
    thread_state.excluded_layers = excluded;
    thread_state.grad_mode = grad_mode;
    thread_state.refresh();
  }

  uint8_t excluded_;
  bool grad_mode_;
  bool pruned_;
};

bool has_layout_of(const Tensor& a, const Tensor& b) {
  return a.sizes() == b.sizes() && a.strides() == b.strides() && a.scalar_type() == b.scalar_type();
}

/// The tensor's elements with the strides of `like`, so that views of both see the same elements.
Tensor laid_out_like(const Tensor& tensor, const Tensor& like) {
  if (has_layout_of(tensor, like)) return tensor;
  if (!like.is_non_overlapping_and_dense()) return tensor.to(like.scalar_type()).clone();
  return like.detach().new_empty_strided(like.sizes(), like.strides()).copy_(tensor);
}

void set_tangent(const Tensor& tensor, Tensor tangent) {
  ForwardGrad& own = meta_of(*tensor.unsafe_impl()).forward_grad.get_or_make();
  own.tangent = std::move(tangent);
  own.level = current_level;
}

Tensor own_tangent(const Tensor& tensor) {
  const AutogradMeta* meta =
      tensor.defined() ? tensor.unsafe_impl()->autograd_meta.load() : nullptr;
  const ForwardGrad* own = meta ? meta->forward_grad.get() : nullptr;
  return own && current_level && own->level == current_level ? own->tangent : Tensor();
}

Tensor find_tangent(const Tensor& tensor) {
  if (!current_level || !tensor.defined()) return {};
  Tensor tangent = own_tangent(tensor);
  if (tangent.defined() || !tensor.is_view() || !is_differentiable(tensor.scalar_type()))
    return tangent;
  // A view that is older than its base's tangent.
  const Tensor base = tensor._base();
  const Tensor whole = own_tangent(base);
  if (!whole.defined() || !has_layout_of(whole, base)) return {};
  const Recording recording;
  tangent = replay_view(whole, base, tensor);
  set_tangent(tensor, tangent);
  return tangent;
}

/// A call's arguments with their tangents.
class Arguments {
 public:
  explicit Arguments(Value* begin, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      if (begin[i].is_tensor()) add(Tensor(begin[i].to_tensor()));
      if (!begin[i].is_tensor_list()) continue;
      for (const TensorBase& t : begin[i].to_tensors()) add(Tensor(t));
    }
  }
  bool have_tangents() const {
    for (const Tensor& t : tangents_) {
      if (t.defined()) return true;
    }
    return false;
  }
  bool require_grad() const {
    for (const Tensor& t : tensors_) {
      if (needs_grad(t)) return true;
    }
    return false;
  }
  bool tangents_require_grad() const {
    for (const Tensor& t : tangents_) {
      if (needs_grad(t)) return true;
    }
    return false;
  }
  /// The tensor, whether it has a tangent or not, by the one that stands for it; undefined if none.
  Tensor tangent(const Tensor& tensor) const {
    for (size_t i = 0; i < tensors_.size(); ++i) {
      if (tensors_[i].is_same(tensor)) return tangents_[i];
    }
    return {};
  }

 private:
  void add(const Tensor& t) {
    if (!t.defined()) return;
    tensors_.push_back(t);
    tangents_.push_back(find_tangent(t));
  }

  std::vector<Tensor> tensors_;
  std::vector<Tensor> tangents_;
};

/// The values with every tensor replaced by what `replace` makes of it.
template <class Replace>
Value replaced(const Value& value, const Replace& replace) {
  if (value.is_tensor()) return TensorBase(replace(Tensor(value.to_tensor())));
  if (!value.is_tensor_list()) return value;
  Value::Tensors list;
  for (const TensorBase& t : value.to_tensors())
    list.push_back(t.defined() ? TensorBase(replace(Tensor(t))) : t);
  return list;
}

/// For each value what `find` gives for its tensors; undefined for those that are.
template <class Find>
std::vector<std::vector<Tensor>> tangents_of(const Stack& values, const Find& find) {
  std::vector<std::vector<Tensor>> all(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const auto add = [&](const TensorBase& t) {
      all[i].push_back(t.defined() ? find(Tensor(t)) : Tensor());
    };
    if (values[i].is_tensor()) add(values[i].to_tensor());
    if (!values[i].is_tensor_list()) continue;
    for (const TensorBase& t : values[i].to_tensors()) add(t);
  }
  return all;
}

/// Calls run(first, second) for the tensors at the same places of two values.
template <class Run>
void for_each_pair(const Value& first, const Value& second, const Run& run) {
  if (first.is_tensor()) run(Tensor(first.to_tensor()), Tensor(second.to_tensor()));
  if (!first.is_tensor_list()) return;
  const auto& a = first.to_tensors();
  const auto& b = second.to_tensors();
  for (size_t i = 0; i < a.size(); ++i) run(Tensor(a[i]), Tensor(b[i]));
}

/// What a node that has changed `self` in place has saved gets tangents: the result, and what was
/// there `before`, of which the node has made a copy.
void set_tangents_of_saved_by_change(const Node& node, const Tensor& self, const Tensor& before) {
  const NoGradGuard no_grad;
  const Tensor now = own_tangent(self);
  for (const SavedEntry& entry : node.saved()) {
    if (entry.kind != SavedKind::Tensor) continue;
    const auto& saved = *static_cast<const SavedVariable*>(entry.value);
    if (!saved.was_defined()) continue;
    Tensor data;
    try {
      data = saved.unpack(*entry.node);
    } catch (const Error&) {
      continue;  // an input that the change has changed as well: backward will say so
    }
    if (own_tangent(data).defined() || data.sizes() != self.sizes()) continue;
    const bool is_result = data.is_alias_of(self);
    if (!is_result && entry.name != "self") continue;
    const Tensor& tangent = is_result ? now : before;
    if (!tangent.defined()) continue;
    set_tangent(data, tangent);
    saved_results.push_back(data);
  }
}

/// One call of an operator that has a derivative.
class Call {
 public:
  Call(const OperatorEntry& op, DispatchKeySet keys, Stack& stack)
      : op_(op), keys_(keys.remove(DispatchLayer::ForwardGrad)), stack_(stack),
        schema_(schema_of(op)), first_(stack.size() - schema_->args.size()),
        arguments_(stack.data() + first_, schema_->args.size()) {}

  bool has_tangents() const { return arguments_.have_tangents(); }

  void run() {
    recorded_ =
        GradMode::is_enabled() && (arguments_.require_grad() || arguments_.tangents_require_grad());
    switch (schema_->kind()) {
    case schema::SchemaKind::kFunctional: return schema_->is_view() ? view() : functional();
    case schema::SchemaKind::kInplace: return inplace();
    case schema::SchemaKind::kOut: throw_out_requires_grad(schema_->name.c_str());
    default: throw_no_formula(op_.qualified_name());
    }
  }

 private:
  /// The view of the tangent is that of the tensor.
  void view() {
    Stack of_tangents(stack_.begin() + static_cast<ptrdiff_t>(first_), stack_.end());
    for (Value& value : of_tangents) {
      value = replaced(value, [&](const Tensor& t) {
        const Tensor tangent = arguments_.tangent(t);
        if (!tangent.defined()) return t;
        // Pairs of real numbers have no conjugate bit.
        return schema_->name == "view_as_real" ? tangent.resolve_conj() : tangent;
      });
    }
    redispatch_boxed(op_, keys_, stack_);
    {
      const ExcludeLayers below(DispatchLayer::ForwardGrad);
      op_.call_boxed(of_tangents);
    }
    for (size_t i = 0; i < of_tangents.size(); ++i) {
      for_each_pair(stack_[first_ + i], of_tangents[i],
                    [](const Tensor& t, const Tensor& tangent) { set_tangent(t, tangent); });
    }
  }

  /// A tensor that stands for an argument in a call that is recorded: itself if it is to be
  /// recorded anyhow, else a leaf where its tangent enters.
  Tensor stand_in(const Tensor& t, std::vector<Inflow>& inflows) const {
    const Tensor tangent = arguments_.tangent(t);
    for (const auto& [from, to] : stand_ins_) {
      if (from.is_same(t)) return to;
    }
    // A view that was made without recording requires grad as its base does, but leads nowhere.
    const bool keep = outer_grad_mode_ && needs_grad(t) && gradient_edge(t).is_valid();
    Tensor with = keep ? t : t.detach();
    if (tangent.defined() && !keep) with.requires_grad_();
    if (tangent.defined()) {
      if (!keep) set_tangent(with, tangent);  // what is saved of it
      inflows.push_back(
          {gradient_edge(with), tangent.is_same(before_) ? copy_of_before_ : tangent});
    }
    stand_ins_.emplace_back(t, with);
    return with;
  }

  void functional() {
    std::vector<Inflow> inflows;
    std::vector<Tensor> results, like, tangents;
    const bool outer_requires_grad = outer_grad_mode_ && arguments_.require_grad();
    const Stack given(stack_.begin() + static_cast<ptrdiff_t>(first_), stack_.end());
    {
      const Recording recording;
      for (size_t i = first_; i < stack_.size(); ++i) {
        stack_[i] = replaced(stack_[i], [&](const Tensor& t) { return stand_in(t, inflows); });
      }
      op_.call_boxed(stack_);
      results = results_from(first_);
      IntrusivePtr<Node> node = node_of(results, like);
      tangents.resize(results.size());
      if (node) {
        const auto of_arguments =
            tangents_of(given, [&](const Tensor& t) { return arguments_.tangent(t); });
        const ForwardCall call{given, results, of_arguments, false};
        tangents = tangents_of_results(op_, *node, call, like, inflows, recorded_);
        lay_out(tangents, results);
        if (outer_requires_grad) set_tangents_of_saved_results(*node, results, tangents);
      }
    }
    size_t at = 0;
    for (size_t i = first_; i < stack_.size(); ++i) {
      stack_[i] = replaced(stack_[i], [&](const Tensor& t) {
        const size_t k = at++;
        for (const auto& [from, to] : stand_ins_) {
          if (to.is_same(t)) return from;  // the operator gave an argument back
        }
        const Tensor result = outer_requires_grad ? t : t.detach();
        if (tangents[k].defined()) set_tangent(result, tangents[k]);
        return result;
      });
    }
  }

  /// The same on a copy; then the change itself, and that of the tangent.
  void inplace() {
    const Tensor self(stack_[first_].to_tensor());
    before_ = arguments_.tangent(self);
    std::vector<Inflow> inflows;
    std::vector<Tensor> tangents(1);
    {
      const Recording recording;
      // What is recorded must see neither the change nor that of the tangent.
      if (before_.defined()) copy_of_before_ = recorded_ ? before_.clone() : before_;
      const auto will_change = [&](const Tensor& t) { return recorded_ && t.is_alias_of(self); };
      const auto tangent = [&](const Tensor& t) {
        const Tensor of = arguments_.tangent(t);
        if (of.defined() && of.is_same(before_)) return copy_of_before_;
        return of.defined() && will_change(t) ? of.clone() : of;
      };
      const auto copied = [&](const Tensor& t) {
        const Tensor copy = stand_in(t, inflows).clone();
        if (const Tensor of = tangent(t); of.defined())
          inflows.push_back({gradient_edge(copy), of});
        return copy;
      };
      Stack copies(stack_.begin() + static_cast<ptrdiff_t>(first_), stack_.end());
      for (size_t i = 1; i < copies.size(); ++i) {
        copies[i] = replaced(copies[i], [&](const Tensor& t) {
          return will_change(t) ? copied(t) : stand_in(t, inflows);
        });
      }
      const Tensor copy = copied(self);
      copies[0] = TensorBase(copy);
      const std::optional<GeneratorState> draws = generator_state();
      op_.call_boxed(copies);
      if (draws) draws->restore();  // the change itself draws the same
      std::vector<Tensor> like;
      const std::vector<Tensor> results = {copy};
      if (const IntrusivePtr<Node> node = node_of(results, like)) {
        Stack given(stack_.begin() + static_cast<ptrdiff_t>(first_), stack_.end());
        const auto of_arguments = tangents_of(given, tangent);
        for (Value& value : given) {
          value = replaced(value, [&](const Tensor& t) { return will_change(t) ? t.clone() : t; });
        }
        const ForwardCall call{given, results, of_arguments, true};
        tangents = tangents_of_results(op_, *node, call, like, inflows, recorded_);
      }
    }
    const DimVector sizes(self.sizes()), strides(self.strides());
    redispatch_boxed(op_, keys_, stack_);
    const ExcludeLayers below(DispatchLayer::ForwardGrad);
    if (self.sizes() == IntArrayRef(sizes) && self.strides() == IntArrayRef(strides)) {
      write_tangent(self, before_, tangents[0]);
    } else {
      show_as_self(self, tangents[0]);
    }
    const Tensor changed = self.is_view() ? self._base() : self;
    if (outer_grad_mode_ && needs_grad(changed)) {
      if (const IntrusivePtr<Node> node = grad_fn_of(changed))
        set_tangents_of_saved_by_change(*node, self, copy_of_before_);
    }
  }

  /// Of the generator that the call draws from, if it draws.
  std::optional<GeneratorState> generator_state() const {
    for (size_t i = 0; i < schema_->args.size(); ++i) {
      if (schema_->args[i].type.base != schema::BaseType::kGenerator) continue;
      const Value& given = stack_[first_ + i];
      return GeneratorState(given.is_none() ? default_generator(stack_[first_].to_tensor().device())
                                            : given.to_generator());
    }
    return std::nullopt;
  }

  /// After a change of what `self` shows of its memory (t_), not of what is there: a view's tangent
  /// shows the same of its base's.
  static void show_as_self(const Tensor& self, const Tensor& tangent) {
    set_tangent(self, {});
    if (!find_tangent(self).defined() && tangent.defined())
      set_tangent(self, laid_out_like(tangent, self));
  }

  std::vector<Tensor> results_from(size_t first) const {
    std::vector<Tensor> results;
    for (size_t i = first; i < stack_.size(); ++i) {
      if (stack_[i].is_tensor()) results.emplace_back(stack_[i].to_tensor());
      if (!stack_[i].is_tensor_list()) continue;
      for (const TensorBase& t : stack_[i].to_tensors()) results.emplace_back(t);
    }
    return results;
  }

  /// The node that the call has recorded, null if it has no gradient; `like`: its results.
  IntrusivePtr<Node> node_of(const std::vector<Tensor>& results, std::vector<Tensor>& like) const {
    IntrusivePtr<Node> node;
    for (const Tensor& t : results) {
      like.emplace_back();
      if (!t.defined() || is_stand_in(t)) continue;
      const IntrusivePtr<Node>& made_by = grad_fn_of(t);
      if (!made_by) continue;
      TENON_CHECK(!node || node == made_by, "[", op_.qualified_name(),
                  "] forward mode needs an operator that one node records");
      node = made_by;
      like.back() = t;
    }
    return node;
  }
  bool is_stand_in(const Tensor& t) const {
    for (const auto& [from, to] : stand_ins_) {
      if (to.is_same(t)) return true;
    }
    return false;
  }
  static void lay_out(std::vector<Tensor>& tangents, const std::vector<Tensor>& results) {
    for (size_t i = 0; i < tangents.size(); ++i) {
      if (tangents[i].defined()) tangents[i] = laid_out_like(tangents[i], results[i]);
    }
  }

  const OperatorEntry& op_;
  const DispatchKeySet keys_;
  Stack& stack_;
  const std::shared_ptr<const schema::FunctionSchema> schema_;
  const size_t first_;
  const Arguments arguments_;
  const bool outer_grad_mode_ = GradMode::is_enabled();
  bool recorded_ = false;
  Tensor before_, copy_of_before_;  // the tangent of what is changed in place
  mutable std::vector<std::pair<Tensor, Tensor>> stand_ins_;
};

class ForwardMode final : public CallMode {
 public:
  void call(const OperatorEntry& op, DispatchKeySet keys, Stack& stack) override {
    if (current_level && !InferenceMode::is_enabled()) {
      Call call(op, keys, stack);
      if (call.has_tangents()) return call.run();
    }
    go_on(op, keys, stack);
  }
};

ForwardMode forward_mode;
thread_local std::optional<CallModeGuard> guard_of_level;

}  // namespace

void write_tangent(const Tensor& self, const Tensor& before, const Tensor& tangent) {
  if (before.defined()) {
    if (tangent.defined()) {
      before.copy_(tangent);
    } else {
      before.zero_();
    }
    return;
  }
  if (!tangent.defined()) return;
  if (!self.is_view()) return set_tangent(self, laid_out_like(tangent, self));
  const Tensor base = self._base();
  Tensor whole = own_tangent(base);
  if (!whole.defined()) {
    whole = laid_out_like(zeros_like(base.detach()), base);
    set_tangent(base, whole);
  }
  const Tensor part = replay_view(whole, base, self);
  part.copy_(tangent);
  set_tangent(self, part);
}

void set_tangents_of_saved_results(const Node& node, const std::vector<Tensor>& results,
                                   const std::vector<Tensor>& tangents) {
  const NoGradGuard no_grad;  // what is saved itself, without the history that it is given else
  const auto visit = [&](const SavedVariable& saved) {
    if (!saved.was_defined()) return;
    const Tensor data = saved.unpack(node);
    for (size_t i = 0; i < results.size(); ++i) {
      // No input shares the memory of a result that is no view.
      if (!tangents[i].defined() || !data.is_alias_of(results[i])) continue;
      if (own_tangent(data).defined()) continue;  // an input of a custom Function
      set_tangent(data, tangents[i]);
      saved_results.push_back(data);
    }
  };
  for (const SavedEntry& entry : node.saved()) {
    if (entry.kind == SavedKind::Tensor) visit(*static_cast<const SavedVariable*>(entry.value));
    if (entry.kind != SavedKind::TensorList) continue;
    for (const auto& s : *static_cast<const std::vector<SavedVariable>*>(entry.value)) visit(s);
  }
}

void check_tangent_sizes(const Tensor& tensor, const Tensor& tangent) {
  TENON_CHECK(tensor.sizes() == tangent.sizes(),
              "Trying to set a forward gradient that has a different size than that of the "
              "original Tensor, this is not supported. Tensor is of size ",
              tensor.sizes(), " while the given forward gradient is of size ", tangent.sizes(),
              ".");
}

void set_tangent_of(const Tensor& tensor, const Tensor& tangent) {
  const ExcludeLayers below(DispatchLayer::ForwardGrad);
  set_tangent(tensor, laid_out_like(tangent, tensor));
}

SuspendedLevel::SuspendedLevel()
    : level_(std::exchange(current_level, 0)), was_suspended_(is_suspended) {
  if (level_) is_suspended = true;
}
SuspendedLevel::~SuspendedLevel() {
  current_level = level_;
  is_suspended = was_suspended_;
}

DualLevel::DualLevel() {
  TENON_CHECK(!current_level && !is_suspended,
              "Nested forward mode AD is not supported at the moment");
  static std::atomic<uint64_t> next{0};
  current_level = ++next;
  guard_of_level.emplace(forward_mode);
}

DualLevel::~DualLevel() {
  for (const Tensor& t : saved_results) set_tangent(t, {});
  saved_results.clear();
  current_level = 0;
  guard_of_level.reset();
}

bool DualLevel::is_active() { return current_level != 0; }

Tensor tangent_of(const Tensor& tensor) {
  if (TENON_LIKELY(!tensor.defined() || !batching::is_batched(tensor))) return find_tangent(tensor);
  return batching::on_values({tensor}, [](const auto& values) { return tangent_of(values[0]); });
}

Tensor make_dual(const Tensor& primal, const Tensor& tangent) {
  TENON_CHECK(current_level,
              "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
              "enter_dual_level() first.");
  TENON_CHECK(primal.defined() && tangent.defined(), "[make_dual] expected two tensors");
  if (TENON_UNLIKELY(batching::is_batched(primal) || batching::is_batched(tangent))) {
    return batching::on_values({primal, tangent},
                               [](const auto& values) { return make_dual(values[0], values[1]); });
  }
  TENON_CHECK_VALUE(
      is_differentiable(primal.scalar_type()),
      "Expected primal to be floating point or complex, but got: ", primal.scalar_type());
  TENON_CHECK_VALUE(
      is_differentiable(tangent.scalar_type()),
      "Expected tangent to be floating point or complex, but got: ", tangent.scalar_type());
  check_tangent_sizes(primal, tangent);
  TENON_CHECK(primal.scalar_type() == tangent.scalar_type(),
              "Trying to set a forward gradient whose dtype differs from that of the original "
              "Tensor, ",
              primal.scalar_type(), ", got ", tangent.scalar_type());
  TENON_CHECK(
      !find_tangent(tangent).defined(),
      "Setting a forward grad that itself has a forward gradient at the same level 0 is not "
      "supported.");
  const ExcludeLayers below(DispatchLayer::ForwardGrad);
  const Tensor dual = alias(primal);
  set_tangent(dual, laid_out_like(tangent, primal));
  return dual;
}

UnpackedDualTensor unpack_dual(const Tensor& tensor) {
  if (!current_level) return {tensor, {}};
  if (TENON_UNLIKELY(batching::is_batched(tensor))) {
    const Tensor tangent = tangent_of(tensor);
    const Tensor primal = batching::on_values(
        {tensor}, [](const auto& values) { return unpack_dual(values[0]).primal; });
    return {primal, tangent};
  }
  const ExcludeLayers below(DispatchLayer::ForwardGrad);
  return {alias(tensor), find_tangent(tensor)};
}

}  // namespace tenon::autograd::forward_ad
