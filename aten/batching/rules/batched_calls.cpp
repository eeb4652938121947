// What operators do with batched tensors: the kernel of the layer Batched, for all that are not
// made of operators, and of BatchedMode, for those that draw random numbers.

#include "aten/batching/rules/batched_calls.h"

#include <mutex>
#include <shared_mutex>
#include <sstream>

#include "aten/batching/rules/random_calls.h"
#include "aten/batching/rules/rule.h"
#include "aten/core/error.h"
#include "aten/dispatch/registration.h"
#include "tenon/ops/copy.h"
#include "tenon/ops/new_empty.h"

namespace tenon::batching {
namespace {

using schema::FunctionSchema;

/// How an operator is batched: its OperatorInfo's text, read once.
struct BatchingRule {
  enum Kind { kElements, kRows, kInplace, kOut, kHand, kShifted, kVia, kLoop } kind = kLoop;
  std::shared_ptr<const FunctionSchema> schema;
  std::vector<std::string> promoting;
  RowNames rows;
  std::string other;  ///< of kInplace and kVia: the operator to call
  Rule hand = nullptr;
  bool random = false;
  bool writes = false;
};

BatchingRule read_rule(const OperatorEntry& op) {
  BatchingRule rule;
  rule.schema = schema_of(op);
  for (const auto& argument : rule.schema->args) rule.writes |= argument.is_mutable();
  std::istringstream text(op.info->batching ? op.info->batching : "");
  std::string word;
  bool first = true;
  while (text >> word) {
    const auto value = [&] { return word.substr(word.find('=') + 1); };
    if (word == "random") {
      rule.random = true;
    } else if (first && word == "elements") {
      rule.kind = BatchingRule::kElements;
    } else if (first && word == "rows") {
      rule.kind = BatchingRule::kRows;
    } else if (first && word == "inplace") {
      rule.kind = BatchingRule::kInplace;
    } else if (first && word == "out") {
      rule.kind = BatchingRule::kOut;
    } else if (first && word == "via") {
      rule.kind = BatchingRule::kVia;
    } else if (first && word == "along") {
      rule.kind = BatchingRule::kShifted;
    } else if (word.starts_with("dim=")) {
      rule.rows.dims.push_back(value());
    } else if (word.starts_with("rows=")) {
      rule.rows.rows.push_back(value());
    } else if (word.starts_with("columns=")) {
      rule.rows.columns.push_back(value());
    } else if (rule.kind == BatchingRule::kInplace || rule.kind == BatchingRule::kVia) {
      rule.other = word.find("::") == std::string::npos ? "aten::" + word : word;
    } else {
      rule.promoting.push_back(word);
    }
    first = false;
  }
  if (const Rule hand = find_rule(op.qualified_name())) {
    rule.kind = BatchingRule::kHand;
    rule.hand = hand;
  }
  return rule;
}

const BatchingRule& rule_of(const OperatorEntry& op) {
  static std::shared_mutex mutex;
  static std::unordered_map<const OperatorEntry*, std::unique_ptr<const BatchingRule>> rules;
  {
    const std::shared_lock lock(mutex);
    const auto found = rules.find(&op);
    if (found != rules.end()) return *found->second;
  }
  auto rule = std::make_unique<const BatchingRule>(read_rule(op));
  const std::lock_guard lock(mutex);
  return *rules.emplace(&op, std::move(rule)).first->second;
}

template <class F>
void for_each_tensor(const Value* arguments, size_t count, const F& f) {
  for (size_t i = 0; i < count; ++i) {
    if (arguments[i].is_tensor()) f(arguments[i].to_tensor(), i);
    if (!arguments[i].is_tensor_list()) continue;
    for (const TensorBase& t : arguments[i].to_tensors()) f(t, i);
  }
}

/// The highest level of the arguments. Error if it has ended.
Level highest_level(const OperatorEntry& op, const Value* arguments, size_t count) {
  Level highest;
  for_each_tensor(arguments, count, [&](const TensorBase& t, size_t) {
    if (!is_batched(t)) return;
    const Level& level = level_of(t);
    TENON_CHECK(!level->ended, "[", op.qualified_name(),
                "] got a batched tensor of a vmap that has ended (level ", level->number,
                "): the function that vmap calls must return its tensors, not keep them");
    if (!highest || level->number > highest->number) highest = level;
  });
  return highest;
}

[[noreturn]] TENON_COLD void raise_not_batched(const std::string& op, const std::string& written,
                                               const std::string& batched) {
  tenon::detail::raise<Error>("vmap: [", op, "] changes '", written,
                              "' in place, which is not batched, with '", batched,
                              "', which is: the examples would overwrite one another. Use the form "
                              "that is not in place, or a tensor that is batched, such as "
                              "zeros_like() of a batched one");
}

/// What is written is batched, or nothing is.
void check_written(const Call& call) {
  const auto& parameters = call.schema().args;
  std::string batched;
  for_each_tensor(&call.at(0), call.count(), [&](const TensorBase& t, size_t i) {
    if (batched.empty() && call.is_batched(t)) batched = parameters[i].name;
  });
  for_each_tensor(&call.at(0), call.count(), [&](const TensorBase& t, size_t i) {
    if (!parameters[i].is_mutable() || !t.defined() || call.is_batched(t)) return;
    raise_not_batched(call.name(), parameters[i].name, batched);
  });
}

/// The arguments, or their lists, that the results are when an operator writes.
void leave_written(const Call& call, Stack& stack) {
  const FunctionSchema& schema = call.schema();
  std::vector<Value> written;
  for_each_tensor(&call.at(0), call.count(), [&](const TensorBase& t, size_t i) {
    if (schema.args[i].is_mutable() && is_batched(t)) refresh_geometry(t);
  });
  for (size_t i = 0; i < call.count(); ++i) {
    if (schema.args[i].is_mutable() && schema.args[i].type.is_tensor())
      written.push_back(call.at(i));
  }
  stack.resize(stack.size() - call.count());
  for (size_t i = 0; i < schema.returns.size(); ++i) stack.push_back(written.at(i));
}

Value wrapped(const Call& call, const Value& result) {
  if (result.is_tensor()) {
    const Tensor t(result.to_tensor());
    // What an operator leaves out is empty.
    if (t.dim() == 1 && t.numel() == 0 && call.batch() > 0)
      return make_batched(t.new_empty({call.batch(), 0}), call.level());
    return make_batched(t, call.level());
  }
  if (!result.is_tensor_list()) return result;
  Value::Tensors list = result.to_tensors();
  for (TensorBase& t : list) {
    if (t.defined()) t = make_batched(t, call.level());
  }
  return list;
}

std::vector<Value> results_of(const Call& call, const BatchingRule& rule) {
  switch (rule.kind) {
  case BatchingRule::kElements: return run_elements(call, rule.promoting);
  case BatchingRule::kRows: return run_rows(call, rule.rows);
  case BatchingRule::kShifted: return run_shifted(call, rule.rows.dims);
  case BatchingRule::kHand: return rule.hand(call);
  case BatchingRule::kVia: return run_other(call, get_operator(rule.other));
  default: return run_loop(call);
  }
}

void run_batched(const OperatorEntry& op, DispatchKeySet, Stack& stack) {
  const BatchingRule& rule = rule_of(op);
  const size_t count = rule.schema->args.size();
  Value* const arguments = stack.data() + stack.size() - count;
  const Call call(op, *rule.schema, arguments, highest_level(op, arguments, count));
  TENON_CHECK(rule.kind != BatchingRule::kOut, "vmap: ", call.name(),
              "(..., out=) is not supported: what is written exists before the batch. Use ",
              call.name(), "(...) without out=");
  if (rule.random && rule.kind != BatchingRule::kHand) check_randomness(call);
  if (rule.writes) check_written(call);
  if (rule.kind == BatchingRule::kInplace) {
    std::vector<Value> values = call.arguments();
    get_operator(rule.other).call_boxed(values);
    const Tensor self(call.at(0).to_tensor()), result(values.at(0).to_tensor());
    TENON_CHECK(self.sizes() == result.sizes(), "[", call.name(), "] the result has shape ",
                result.sizes(), ", which self of shape ", self.sizes(), " cannot hold");
    self.copy_(result);
    return leave_written(call, stack);
  }
  std::vector<Value> results = results_of(call, rule);
  if (rule.writes) return leave_written(call, stack);
  for (Value& result : results) result = wrapped(call, result);
  stack.resize(stack.size() - count);
  for (Value& result : results) stack.push_back(std::move(result));
}

/// A random operator within vmap whose arguments need not be batched.
void run_random_mode(const OperatorEntry& op, DispatchKeySet, Stack& stack) {
  run_random(op, *rule_of(op).schema, stack);
}

bool is_made_of_operators(const OperatorEntry& op) {
  const char* const text = op.info->batching;
  if (!text || find_rule(op.qualified_name())) return false;
  const std::string_view rule = text;
  return rule.empty() || rule == " random";
}

bool is_random(const OperatorEntry& op) {
  const char* const text = op.info->batching;
  return text && std::string_view(text).ends_with(" random");
}

}  // namespace

void register_batched_calls() {
  static const bool registered = [] {
    const auto needs_rule = [](const OperatorEntry& op) { return !is_made_of_operators(op); };
    tenon::detail::add_fallback(DispatchKey::Batched, run_batched, "aten/batching", needs_rule);
    tenon::detail::add_fallback(DispatchKey::BatchedMode, run_random_mode, "aten/batching",
                                is_random);
    return true;
  }();
  static_cast<void>(registered);
}

}  // namespace tenon::batching
