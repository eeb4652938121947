#include "aten/sparse/sparse_fallback.h"

#include <algorithm>
#include <memory>

#include "aten/common/thread_value.h"
#include "aten/dispatch/alias_library.h"
#include "aten/dispatch/registration.h"
#include "aten/dispatch/registry.h"
#include "aten/sparse/sparse_tensor.h"
#include "codegen/schema/function_schema.h"
#include "tenon/ops/any.h"
#include "tenon/ops/coalesce.h"
#include "tenon/ops/ne.h"
#include "tenon/ops/zeros.h"

namespace tenon::sparse {
namespace {

using schema::FunctionSchema;

[[noreturn]] void raise_missing(const OperatorEntry& op, const TensorBase& t) {
  tenon::detail::raise<NotImplementedError>(
      "Could not run '", op.qualified_name(), "' with arguments from the '",
      t.layout() == kSparse ? "SparseCPU" : "SparseCsrCPU", "' backend: it has no kernel for ",
      "tensors of layout ", t.layout(), ". Convert them with to_dense() (", op.info->source, ")");
}

/// The functional form of an operator that writes to its first or to its last argument.
const OperatorEntry* functional_form(const OperatorEntry& op, const FunctionSchema& schema,
                                     bool inplace) {
  std::string name = op.info->name;
  if (inplace) {
    if (!name.ends_with("_")) return nullptr;
    name.pop_back();
    return find_operator(name, op.info->overload);
  }
  for (const OperatorEntry* one : operators_named(name)) {
    if (one == &op) continue;
    const auto other = schema_of(*one);
    if (other->args.size() + 1 != schema.args.size() || other->has_mutable_arg()) continue;
    bool same = true;
    for (size_t i = 0; i < other->args.size(); ++i)
      same = same && other->args[i].name == schema.args[i].name &&
             other->args[i].type == schema.args[i].type;
    if (same) return one;
  }
  return nullptr;
}

/// Operators whose functional form runs: one that calls the in-place form has no kernel of its own.
thread_local ThreadValue<std::vector<const OperatorEntry*>> running;

/// Runs the functional form and makes the written argument its result.
bool run_functional(const OperatorEntry& op, const FunctionSchema& schema, Stack& stack) {
  const size_t count = schema.args.size(), first = stack.size() - count;
  size_t written = count;
  for (size_t i = 0; i < count; ++i) {
    if (!schema.args[i].is_mutable()) continue;
    if (written != count || !stack[first + i].is_tensor()) return false;
    written = i;
  }
  if (written == count || (written != 0 && written + 1 != count)) return false;
  const OperatorEntry* functional = functional_form(op, schema, written == 0);
  if (!functional || std::find(running->begin(), running->end(), &op) != running->end())
    return false;
  const Tensor to(stack[first + written].to_tensor());
  Stack call(stack.begin() + static_cast<std::ptrdiff_t>(first), stack.end());
  if (written != 0) call.pop_back();
  {
    running->push_back(&op);
    const std::unique_ptr<const OperatorEntry, void (*)(const OperatorEntry*)> done(
        &op, [](const OperatorEntry*) { running->pop_back(); });
    functional->call_boxed(call);
  }
  if (call.size() != 1 || !call[0].is_tensor()) return false;
  const Tensor result(call[0].to_tensor());
  to.unsafe_impl()->check_may_change();
  if (to.layout() == kStrided && result.layout() == kStrided) {
    Tensor(to).copy_(result);
  } else {
    become(to, result);
    to.unsafe_impl()->bump_version();
  }
  stack.resize(first);
  stack.emplace_back(static_cast<const TensorBase&>(to));
  return true;
}

/// Runs an elementwise operator of one tensor on the elements.
bool run_on_values(const OperatorEntry& op, const FunctionSchema& schema, Stack& stack) {
  const std::string_view rule = op.info->batching ? op.info->batching : "";
  if (!rule.starts_with("elements") || rule.find("random") != std::string_view::npos) return false;
  const size_t count = schema.args.size(), first = stack.size() - count;
  size_t place = count;
  for (size_t i = 0; i < count; ++i) {
    if (!schema.args[i].type.holds_tensors() || stack[first + i].is_none()) continue;
    if (place != count || !stack[first + i].is_tensor()) return false;
    place = i;
  }
  if (place == count || schema.returns.size() != 1) return false;
  Tensor self(stack[first + place].to_tensor());
  const auto run = [&](const Tensor& t) {
    Stack call(stack.begin() + static_cast<std::ptrdiff_t>(first), stack.end());
    call[place] = Value(static_cast<const TensorBase&>(t));
    op.call_boxed(call);
    return Tensor(call.at(0).to_tensor());
  };
  const Tensor at_zero = run(tenon::zeros({1}, self.scalar_type()));
  if (ops::any::call(ops::ne_Scalar::call(at_zero, 0)).item<bool>()) return false;
  if (self.layout() == kSparse) self = ops::coalesce::call(self);
  const Tensor result = with_values(self, run(values_of(self)));
  stack.resize(first);
  stack.emplace_back(static_cast<const TensorBase&>(result));
  return true;
}

}  // namespace

void fallback(const OperatorEntry& op, DispatchKeySet, Stack& stack) {
  const auto schema = schema_of(op);
  const size_t first = stack.size() - schema->args.size();
  TensorBase sparse_one;
  for (size_t i = first; i < stack.size(); ++i) {
    if (stack[i].is_tensor() && stack[i].to_tensor().layout() != kStrided)
      sparse_one = stack[i].to_tensor();
    if (!stack[i].is_tensor_list()) continue;
    for (const TensorBase& t : stack[i].to_tensors())
      if (t.defined() && t.layout() != kStrided) sparse_one = t;
  }
  if (schema->has_mutable_arg() ? run_functional(op, *schema, stack)
                                : run_on_values(op, *schema, stack))
    return;
  raise_missing(op, sparse_one);
}

}  // namespace tenon::sparse
