// Operators without a rule: one example after another.

#include <atomic>
#include <mutex>
#include <set>

#include "aten/batching/rules/rule.h"
#include "aten/dispatch/warning.h"
#include "tenon/ops/select.h"
#include "tenon/ops/stack.h"

namespace tenon::batching {
namespace {

Value example(const Call& call, const Value& argument, int64_t k) {
  if (argument.is_tensor()) {
    const Tensor t(argument.to_tensor());
    return call.is_batched(t) ? Value(value_of(t).select(0, k)) : argument;
  }
  if (!argument.is_tensor_list()) return argument;
  Value::Tensors list = argument.to_tensors();
  for (TensorBase& t : list) {
    if (call.is_batched(t)) t = value_of(t).select(0, k);
  }
  return list;
}

/// The same result of all examples, as one.
Value together(const Call& call, const std::vector<Value>& of_examples) {
  if (of_examples[0].is_tensor()) {
    std::vector<Tensor> all;
    for (const Value& one : of_examples) all.emplace_back(one.to_tensor());
    for (const Tensor& t : all) {
      TENON_CHECK(t.sizes() == all[0].sizes(), "[", call.name(), "] in vmap the results of all ",
                  "examples must have one shape, got ", all[0].sizes(), " and ", t.sizes());
    }
    return tenon::stack(all, 0);
  }
  if (of_examples[0].is_tensor_list()) {
    Value::Tensors lists;
    for (size_t i = 0; i < of_examples[0].to_tensors().size(); ++i) {
      std::vector<Tensor> all;
      for (const Value& one : of_examples) all.emplace_back(one.to_tensors()[i]);
      lists.push_back(tenon::stack(all, 0));
    }
    return lists;
  }
  TENON_CHECK(of_examples[0].is_none(), "[", call.name(),
              "] in vmap a result must be a tensor, which differs from example to example, got ",
              of_examples[0].type_name());
  return of_examples[0];
}

/// Once for each operator.
bool first_loop_of(const OperatorEntry& op) {
  static std::mutex mutex;
  static std::set<const OperatorEntry*> known;
  const std::lock_guard lock(mutex);
  return known.insert(&op).second || WarningUtils::get_warnAlways();
}

std::atomic<bool> warns{true};

}  // namespace

bool loop_warnings() { return warns; }
void set_loop_warnings(bool warn) { warns = warn; }

std::vector<Value> run_loop(const Call& call) {
  TENON_CHECK(call.batch() > 0, "[", call.name(),
              "] has no batching rule, and runs for each example: a batch of 0 has none");
  if (loop_warnings() && first_loop_of(call.op())) {
    TENON_WARN("There is a performance drop because we have not yet implemented the batching rule "
               "for ",
               call.op().qualified_name(),
               ", which runs for each example. In its entry `batched:` gives the rule.");
  }
  const BelowLevel below(*call.level());
  const bool writes = call.schema().kind() != schema::SchemaKind::kFunctional;
  std::vector<std::vector<Value>> results;
  for (int64_t k = 0; k < call.batch(); ++k) {
    std::vector<Value> arguments = call.arguments();
    for (Value& argument : arguments) argument = example(call, argument, k);
    const std::vector<Value> given = writes ? arguments : Values();
    std::vector<DimVector> sizes;
    for (const Value& one : given) {
      if (one.is_tensor()) sizes.push_back(DimVector(one.to_tensor().sizes()));
    }
    std::vector<Value> of_example = call.call(std::move(arguments));
    size_t next = 0;
    for (const Value& one : given) {
      TENON_CHECK_NOT_IMPLEMENTED(!one.is_tensor() ||
                                      one.to_tensor().sizes() == IntArrayRef(sizes[next++]),
                                  "vmap: [", call.name(),
                                  "] gives a tensor another shape in place, which vmap does not "
                                  "support. Use the form that returns a new tensor");
    }
    results.resize(of_example.size());
    if (writes) continue;  // into the values
    for (size_t i = 0; i < of_example.size(); ++i) results[i].push_back(std::move(of_example[i]));
  }
  std::vector<Value> all;
  for (const auto& of_examples : results)
    all.push_back(writes ? Value() : together(call, of_examples));
  return all;
}

}  // namespace tenon::batching
