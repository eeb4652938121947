#include "autograd/checkpoint/selective_checkpoint.h"

#include <algorithm>

#include "aten/core/thread_state.h"
#include "aten/dispatch/registration.h"
#include "autograd/call_mode.h"
#include "autograd/checkpoint/generator_state.h"
#include "autograd/checkpoint/left_to_checkpoint.h"
#include "autograd/forward/forward_ad.h"
#include "autograd/generated_support/generated_support.h"
#include "autograd/saved/saved_variable.h"
#include "tenon/ops/to.h"

namespace tenon::autograd {

constinit thread_local std::vector<Tensor>* left_to_checkpoint = nullptr;

namespace {

constexpr const char* kNotTheSame =
    " This can happen if the operations in the checkpointed region are nondeterministic or depend "
    "on global state that changed between forward and backward.";

/// The tensors among the values, undefined ones of lists included, in order.
std::vector<Tensor> tensors_of(ArrayRef<Value> values) {
  std::vector<Tensor> tensors;
  for (const Value& value : values) {
    if (value.is_tensor()) tensors.emplace_back(value.to_tensor());
    if (!value.is_tensor_list()) continue;
    for (const TensorBase& t : value.to_tensors()) tensors.emplace_back(t);
  }
  return tensors;
}

/// A result that is kept.
struct KeptTensor {
  Tensor data;  // without history, in the memory of the result or in the CPU's
  Device device = kCPU;
  int64_t version = 0;
  bool required_grad = false;
};

/// What the operator's node saved, in order: an argument, a result, or a tensor of its own.
struct SavedPlace {
  enum Kind { Argument, Result, Other } kind;
  size_t number = 0;
  Tensor other;
};

/// One operator of the first call.
struct RecordedCall {
  const OperatorEntry* op = nullptr;
  bool is_kept = false;
  bool is_used = false;
  Stack results;              // with lists of undefined tensors for those in `kept`
  std::vector<bool> is_list;  // of each result
  std::vector<KeptTensor> kept;
  std::vector<SavedPlace> saved;
  std::vector<GeneratorState> drawn;  // generators that it has drawn from, as they were after it
};

struct Region {
  SelectivePolicy policy;
  bool allow_mutation;
  std::vector<RecordedCall> calls;
};

bool is_same_data(const Tensor& a, const Tensor& b) {
  return a.defined() && b.defined() && a.is_alias_of(b) && a.sizes() == b.sizes() &&
         a.strides() == b.strides() && a.storage_offset() == b.storage_offset() &&
         a.is_conj() == b.is_conj() && a.is_neg() == b.is_neg();
}

SavedPlace place_of(const Tensor& saved, const std::vector<Tensor>& arguments,
                    const std::vector<Tensor>& results) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].is_same(saved)) return {SavedPlace::Argument, i, {}};
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (is_same_data(results[i], saved)) return {SavedPlace::Result, i, {}};
  }
  return {SavedPlace::Other, 0, Tensor(make_detached(saved))};
}

bool offloads(CheckpointPolicy policy) {
  return policy == CheckpointPolicy::MUST_CPU_OFFLOAD ||
         policy == CheckpointPolicy::PREFER_CPU_OFFLOAD;
}
bool keeps(CheckpointPolicy policy) {
  return policy == CheckpointPolicy::MUST_SAVE || policy == CheckpointPolicy::PREFER_SAVE ||
         offloads(policy);
}

/// Of the first call: keeps what the policy says.
class Keeping final : public CallMode {
 public:
  explicit Keeping(std::shared_ptr<Region> region) : region_(std::move(region)) {}

  void call(const OperatorEntry& op, DispatchKeySet keys, Stack& stack) override {
    // What is not recorded is not asked for: forward of a custom Function, say.
    if (!GradMode::is_enabled()) return go_on(op, keys, stack);
    const auto schema = schema_of(op);
    RecordedCall recorded;
    recorded.op = &op;
    if (schema->kind() != schema::SchemaKind::kFunctional || schema->is_view() ||
        forward_ad::DualLevel::is_active()) {
      region_->calls.push_back(std::move(recorded));
      return go_on(op, keys, stack);
    }
    const size_t first = stack.size() - schema->args.size();
    const Stack arguments(stack.begin() + static_cast<ptrdiff_t>(first), stack.end());
    std::vector<GeneratorState> before;
    for (const Generator& generator : default_generators()) before.emplace_back(generator);
    std::vector<Tensor> left;
    {
      struct Watch {
        std::vector<Tensor>& left;
        std::vector<Tensor>* outer;
        ~Watch() {
          left_to_checkpoint = outer;
          if (outer) outer->insert(outer->end(), left.begin(), left.end());
        }
      } const watch{left, std::exchange(left_to_checkpoint, &left)};
      go_on(op, keys, stack);
    }
    const ArrayRef<Value> results(stack.data() + first, stack.size() - first);
    const CheckpointPolicy policy = region_->policy({op, arguments, results});
    if (keeps(policy)) {
      keep(recorded, arguments, results, left, offloads(policy));
      for (const GeneratorState& state : before) {
        const GeneratorState after(state.generator());
        if (!(after == state)) recorded.drawn.push_back(after);
      }
    }
    region_->calls.push_back(std::move(recorded));
  }

 private:
  static void keep(RecordedCall& recorded, ArrayRef<Value> arguments, ArrayRef<Value> results,
                   const std::vector<Tensor>& left, bool offload) {
    const std::vector<Tensor> in = tensors_of(arguments), out = tensors_of(results);
    recorded.is_kept = true;
    for (const Value& value : results) {
      // The tensors are in `kept`.
      recorded.results.push_back(value.is_tensor() ? Value(Value::Tensors(1))
                                 : value.is_tensor_list()
                                     ? Value(Value::Tensors(value.to_tensors().size()))
                                     : value);
      recorded.is_list.push_back(value.is_tensor_list());
    }
    for (const Tensor& t : out) {
      KeptTensor kept;
      if (t.defined()) {
        kept.device = t.device();
        kept.required_grad = needs_grad(t);
        kept.data = Tensor(make_detached(t));
        if (offload && !t.is_cpu()) kept.data = kept.data.cpu();
        kept.version = kept.data._version();
      }
      recorded.kept.push_back(std::move(kept));
    }
    for (const Tensor& t : left) recorded.saved.push_back(place_of(t, in, out));
  }

  const std::shared_ptr<Region> region_;
};

/// What a result that was kept leads to in the graph of the second call, which nobody runs.
class KeptResult final : public Node {
 public:
  std::string name() const override { return "KeptByCheckpoint"; }
  variable_list apply(variable_list&&) override {
    tenon::detail::raise<Error>(
        "[checkpoint] backward within a checkpointed call cannot go through an operator whose "
        "result a selective policy has kept");
  }
};

/// Of the second call: gives what was kept, and computes the rest.
class Replaying final : public CallMode {
 public:
  explicit Replaying(std::shared_ptr<Region> region) : region_(std::move(region)) {}

  void call(const OperatorEntry& op, DispatchKeySet keys, Stack& stack) override {
    if (!GradMode::is_enabled()) return go_on(op, keys, stack);
    const size_t number = next_++;
    TENON_CHECK(number < region_->calls.size(), "[checkpoint] ", op.qualified_name(),
                " encountered during backward as operator ", number + 1,
                " of the region, but the forward pass called ", region_->calls.size(), ".",
                kNotTheSame);
    RecordedCall& recorded = region_->calls[number];
    TENON_CHECK(recorded.op == &op, "[checkpoint] ", op.qualified_name(),
                " encountered during backward as operator ", number + 1,
                " of the region, where the forward pass called ", recorded.op->qualified_name(),
                ".", kNotTheSame);
    // Tangents are not kept.
    if (!recorded.is_kept || forward_ad::DualLevel::is_active()) return go_on(op, keys, stack);
    TENON_CHECK(!recorded.is_used,
                "Trying to backward an extra time. You are only allowed to backward once on any "
                "region computed under selective activation checkpoint.");
    recorded.is_used = true;
    replay(op, recorded, stack);
  }

 private:
  void replay(const OperatorEntry& op, RecordedCall& recorded, Stack& stack) const {
    const size_t first = stack.size() - schema_of(op)->args.size();
    const std::vector<Tensor> in =
        tensors_of(ArrayRef<Value>(stack.data() + first, stack.size() - first));
    std::vector<Tensor> out;
    const auto node = make_node<KeptResult>();
    for (const Tensor& t : in) add_edge(*node, t);
    for (KeptTensor& kept : recorded.kept) {
      Tensor& t = out.emplace_back();
      if (!kept.data.defined()) continue;
      TENON_CHECK(region_->allow_mutation || kept.data._version() == kept.version,
                  "Tensor cached during selective activation checkpoint has been mutated: a result "
                  "of ",
                  op.qualified_name(), " is at version ", kept.data._version(), ", expected ",
                  kept.version);
      t = Tensor(make_detached(kept.data));
      if (t.device() != kept.device) t = t.to(kept.device, t.scalar_type());
      if (kept.required_grad) set_history(t, node);
    }
    // The places in the second call are filled as if the operator had been called.
    for (const SavedPlace& place : recorded.saved) {
      if (place.kind == SavedPlace::Argument) {
        const SavedVariable saved(in[place.number]);
      } else {
        const SavedVariable saved(
            place.kind == SavedPlace::Result ? out[place.number] : place.other, *node);
      }
    }
    // What is computed after it draws the same numbers.
    for (const GeneratorState& state : recorded.drawn) state.restore();
    stack.resize(first);
    size_t at = 0;
    for (size_t i = 0; i < recorded.results.size(); ++i) {
      const Value& value = recorded.results[i];
      if (!value.is_tensor_list()) {
        stack.push_back(value);
        continue;
      }
      Value::Tensors list;
      for (size_t k = 0; k < value.to_tensors().size(); ++k) list.push_back(out[at++]);
      stack.push_back(recorded.is_list[i] ? Value(std::move(list)) : Value(list[0]));
    }
    recorded.kept.clear();
    recorded.saved.clear();
  }

  const std::shared_ptr<Region> region_;
  size_t next_ = 0;
};

/// A mode that is in force as long as it lives.
template <class Mode>
struct Entered {
  explicit Entered(const std::shared_ptr<Region>& region) : mode(region), guard(mode) {}
  Mode mode;
  CallModeGuard guard;
};

}  // namespace

CheckpointContexts create_selective_checkpoint_contexts(SelectivePolicy policy,
                                                        bool allow_cache_entry_mutation) {
  TENON_CHECK_TYPE(policy, "policy_fn_or_list must be either a function or a list of ops.");
  const auto region =
      std::make_shared<Region>(Region{std::move(policy), allow_cache_entry_mutation, {}});
  return {
      [region]() -> std::shared_ptr<void> { return std::make_shared<Entered<Keeping>>(region); },
      [region]() -> std::shared_ptr<void> { return std::make_shared<Entered<Replaying>>(region); }};
}

CheckpointContexts create_selective_checkpoint_contexts(const std::vector<std::string>& operators,
                                                        bool allow_cache_entry_mutation) {
  // What the policy is asked about: no forms in place or with `out`, and nothing that is made of
  // other operators.
  const auto is_seen = [](const OperatorEntry& op) {
    return op.layer_mask & DispatchKeySet(DispatchLayer::Autograd).layers &&
           schema_of(op)->kind() == schema::SchemaKind::kFunctional;
  };
  std::vector<const OperatorEntry*> kept;
  for (const std::string& name : operators) {
    const std::string full = name.find("::") == std::string::npos ? "aten::" + name : name;
    bool is_known = false;
    const size_t before = kept.size();
    for (const OperatorEntry* op : all_operators()) {
      if (full != op->info->name && full != op->qualified_name()) continue;
      is_known = true;
      if (is_seen(*op)) kept.push_back(op);
    }
    if (!is_known) get_operator(name);  // says which it may be
    TENON_CHECK_VALUE(kept.size() > before, "[create_selective_checkpoint_contexts] ", name,
                      " has no derivative of its own: name the operators that it is made of");
  }
  return create_selective_checkpoint_contexts(
      [kept = std::move(kept)](const SelectiveCall& call) {
        return std::find(kept.begin(), kept.end(), &call.op) != kept.end()
                   ? CheckpointPolicy::MUST_SAVE
                   : CheckpointPolicy::PREFER_RECOMPUTE;
      },
      allow_cache_entry_mutation);
}

}  // namespace tenon::autograd
