#include "aten/dispatch/registration.h"

#include <mutex>

#include "aten/dispatch/check_signature.h"
#include "aten/dispatch/check_value.h"
#include "aten/dispatch/exclude_layers.h"
#include "aten/dispatch/registry.h"
#include "codegen/schema/parser.h"
#include "codegen/schema/printer.h"

namespace tenon {
namespace {

using detail::OperatorRecord;
using detail::Registration;
using detail::Registry;
using detail::registry;

DispatchKeySet keys_of_value(const Value& value) {
  DispatchKeySet keys;
  if (value.is_tensor()) keys = value.to_tensor().key_set();
  if (value.is_tensor_list()) {
    for (const TensorBase& t : value.to_tensors()) keys = keys | t.key_set();
  }
  return keys;
}

/// The highest layer that a call with these keys would take.
std::optional<DispatchLayer> layer_for(const OperatorEntry& op, DispatchKeySet keys) {
  const unsigned layers = static_cast<unsigned>(__atomic_load_n(&op.layer_mask, __ATOMIC_ACQUIRE));
  const unsigned present = keys.layers & layers & ~unsigned{thread_state.skipped_layers};
  if (!present) return std::nullopt;
  return static_cast<DispatchLayer>(std::bit_width(present) - 1);
}

std::string backends_of(const OperatorRecord& record) {
  std::string have;
  for (int b = 0; b <= static_cast<int>(Backend::SparseCsrCPU); ++b) {
    if (!record.original[1 + b] && !record.backend_kernel(1 + b)) continue;
    have.append(have.empty() ? "" : ", ").append(to_string(Backend(b)));
  }
  return have.empty() ? "no backend" : have;
}

[[noreturn]] TENON_COLD void raise_missing_kernel(const OperatorRecord& record,
                                                  DispatchKeySet keys) {
  const OperatorEntry& op = *record.entry;
  if (keys.backend_slot() == 0) {
    // What has tensors in a list alone, such as cat, was given none.
    TENON_CHECK_VALUE(
        std::string_view(op.info->schema).find("Tensor[]") == std::string_view::npos, "[",
        std::string_view(op.info->name).substr(std::string_view(op.info->name).find("::") + 2),
        "] expected a non-empty list of Tensors");
    detail::raise<NotImplementedError>("Could not run '", op.qualified_name(),
                                       "': it needs at least one defined tensor argument (",
                                       op.info->source, ")");
  }
  detail::raise<NotImplementedError>(
      "Could not run '", op.qualified_name(), "' with arguments from the '",
      to_string(Backend(keys.backend_slot() - 1)),
      "' backend. The operator is available for: ", backends_of(record), " (", op.info->source,
      ")");
}

/// The kernel that a call ends in; without `direct` and `boxed` it is one of the generated table.
Kernel resolve(Registry& r, const OperatorEntry& op, DispatchKeySet keys) {
  std::lock_guard lock(r.mutex);
  OperatorRecord& record = r.record(const_cast<OperatorEntry&>(op));
  TENON_CHECK(op.boxed || record.runtime, "operator ", op.qualified_name(), " (", op.info->source,
              ") is no more: the library that defined it has been unloaded");
  if (const auto layer = layer_for(op, keys)) return record.layer_kernel(*layer);
  const int slot = keys.backend_slot();
  if (const Registration* own = record.backend_kernel(slot)) return own->kernel;
  if (record.original[slot]) return {};
  const Registration* fallback =
      slot == 0 ? nullptr : r.fallback(static_cast<DispatchKey>(slot - 1));
  if (!fallback) raise_missing_kernel(record, keys);
  return fallback->kernel;
}

/// TypeError for a result, at the end of the stack, that is not of its type.
void check_results(const OperatorEntry& op, const schema::FunctionSchema& schema,
                   const Stack& stack) {
  const Value* const results = stack.data() + stack.size() - schema.returns.size();
  for (size_t i = 0; i < schema.returns.size(); ++i) {
    try {
      detail::check_value(results[i], schema.returns[i].type);
    } catch (const detail::ValueMismatch& mismatch) {
      detail::raise<TypeError>("[", op.qualified_name(), "] result ", i + 1,
                               " of a boxed kernel: ", mismatch.what());
    }
  }
}

/// A result that is written must be the argument of the same place among those that are written.
void check_written_results(const std::string& what, const schema::FunctionSchema& schema) {
  std::vector<const schema::Argument*> written;
  for (const auto& argument : schema.args) {
    if (argument.is_mutable() && argument.type.is_tensor()) written.push_back(&argument);
  }
  size_t next = 0;
  for (const auto& result : schema.returns) {
    if (!result.is_mutable()) continue;
    TENON_CHECK_VALUE(next < written.size() && result.type.is_tensor() &&
                          result.alias->before == written[next]->alias->before,
                      what, ": result ", next + 1,
                      " that is written must be the argument that is written in the same place\n  ",
                      schema::to_string(schema));
    ++next;
  }
}

}  // namespace

std::shared_ptr<const schema::FunctionSchema> schema_of(const OperatorEntry& op) {
  Registry& r = registry();
  {
    std::shared_lock lock(r.mutex);
    const auto found = r.records.find(&op);
    if (found != r.records.end() && found->second.schema) return found->second.schema;
  }
  auto parsed = schema::parse_schema(op.info->schema);
  TENON_ASSERT(parsed.ok(), op.info->schema);
  auto schema = std::make_shared<const schema::FunctionSchema>(std::move(*parsed.schema));
  std::lock_guard lock(r.mutex);
  OperatorRecord& record = r.record(const_cast<OperatorEntry&>(op));
  if (!record.schema) record.schema = std::move(schema);
  return record.schema;
}

void redispatch_boxed(const OperatorEntry& op, DispatchKeySet keys, Stack& stack) {
  const ExcludeLayers exclude(static_cast<uint8_t>(~keys.layers));
  if (op.boxed) {
    op.boxed(op, stack);
  } else {
    detail::run_boxed_kernel(op, keys, stack);
  }
}

namespace detail {

DispatchKeySet keys_of(const schema::FunctionSchema& schema, const Stack& stack) {
  const Value* arguments = stack.data() + stack.size() - schema.args.size();
  DispatchKeySet keys;
  bool holds_tensors = false;
  for (size_t i = 0; i < schema.args.size(); ++i) {
    if (!schema.args[i].type.holds_tensors()) continue;
    holds_tensors = true;
    keys = keys | keys_of_value(arguments[i]);
  }
  if (holds_tensors) return keys;
  for (size_t i = 0; i < schema.args.size(); ++i) {
    if (!schema.args[i].type.without_optional().is(schema::BaseType::kDevice)) continue;
    keys = keys | detail::keys_of(arguments[i].is_none() ? Device(kCPU) : arguments[i].to_device());
  }
  return keys;
}

void run_boxed_kernel(const OperatorEntry& op, DispatchKeySet keys, Stack& stack) {
  Registry& r = registry();
  if (spring_trap(r, op)) return op.boxed(op, stack);
  const Kernel kernel = resolve(r, op, keys);
  // A generated kernel: another thread has unregistered what this call came for.
  if (!kernel.direct && !kernel.boxed) return op.boxed(op, stack);
  const size_t before = stack.size();
  kernel.run(op, keys, stack);
  if (!kernel.boxed) return;
  const auto schema = schema_of(op);
  // Where the kernel has left another number of results, their number is the error.
  if (stack.size() + schema->args.size() == before + schema->returns.size()) {
    check_results(op, *schema, stack);
  }
}

void claim_namespace(const std::string& ns, const std::string& place) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  const auto owner = r.namespaces.find(ns);
  TENON_CHECK_VALUE(owner == r.namespaces.end(), "namespace ", ns, " (", place,
                    ") is defined already at ", owner->second,
                    "; use Library::FRAGMENT to add operators to it");
  const std::string prefix = ns + "::";
  const auto first = r.by_name.lower_bound(std::pair(prefix, std::string()));
  TENON_CHECK_VALUE(first == r.by_name.end() || first->first.first.rfind(prefix, 0) != 0,
                    "namespace ", ns, " (", place, ") has operators already, such as ",
                    first->second->qualified_name(), " of ", first->second->info->source,
                    "; use Library::FRAGMENT to add operators to it");
  r.namespaces.emplace(ns, place);
}

void release_namespace(const std::string& ns) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  r.namespaces.erase(ns);
}

OperatorEntry& define_operator(schema::FunctionSchema schema, const std::string& place) {
  check_written_results(detail::concat("[", schema.qualified_name(), "] (", place, ")"), schema);
  auto op = std::make_unique<RuntimeOperator>();
  op->name = detail::concat(schema.ns, "::", schema.name);
  op->overload = schema.overload;
  op->schema = schema::to_string(schema);
  op->place = place;
  op->info = {op->name.c_str(), op->overload.c_str(), op->schema.c_str(), op->place.c_str()};
  op->entry = {};
  op->entry.info = &op->info;

  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  const auto [found, fresh] = r.by_name.emplace(std::pair(op->name, op->overload), &op->entry);
  TENON_CHECK_VALUE(fresh, "operator ", schema.qualified_name(), " (", place,
                    ") is defined already by ", found->second->info->source);
  OperatorEntry& entry = op->entry;
  OperatorRecord& record = r.record(entry);
  record.schema = std::make_shared<const schema::FunctionSchema>(std::move(schema));
  record.runtime = std::move(op);
  record.update_table();
  return entry;
}

void remove_operator(OperatorEntry& op) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  const auto record = r.records.find(&op);
  TENON_ASSERT(record != r.records.end() && record->second.runtime, op.qualified_name());
  const auto named =
      r.by_name.find(std::pair<std::string, std::string>(op.info->name, op.info->overload));
  if (named != r.by_name.end() && named->second == &op) r.by_name.erase(named);
  record->second.kernels.clear();
  r.removed.push_back(std::move(record->second.runtime));
  record->second.update_table();
  r.records.erase(record);
}

uint64_t add_kernel(OperatorEntry& op, DispatchKey key, Kernel kernel, const std::string& place) {
  const std::string what =
      concat("[", op.qualified_name(), "] kernel for ", to_string(key), " (", place, ")");
  if (kernel.signature) check_signature(what, *schema_of(op), *kernel.signature);
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  OperatorRecord& record = r.record(op);
  TENON_CHECK(op.boxed || record.runtime, what, ": the operator is no more");
  const Registration* taken = record.find(key);
  TENON_CHECK_VALUE(!taken, what, ": the key has a kernel already, registered at ", taken->place);
  const uint64_t id = r.next_id++;
  record.kernels.push_back({id, key, std::move(kernel), place});
  record.update_table();
  return id;
}

void remove_kernel(const OperatorEntry& op, uint64_t id) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  const auto record = r.records.find(&op);
  if (record == r.records.end()) return;
  if (std::erase_if(record->second.kernels, [&](const auto& one) { return one.id == id; })) {
    record->second.update_table();
  }
}

void add_fallback(DispatchKey key, BoxedKernel kernel, const std::string& place,
                  bool (*serves)(const OperatorEntry&)) {
  const bool layer = layer_of(key).has_value() && key != DispatchKey::Autograd;
  TENON_CHECK_VALUE(
      layer || backend_of(key), "fallback (", place, "): the key must be a backend, ",
      "Python, PythonMode, ForwardGrad, Autocast, Batched, Profiler or BatchedMode, got ",
      to_string(key));
  Kernel shared;
  shared.boxed = std::make_shared<const BoxedKernel>(std::move(kernel));
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  const Registration* taken = r.fallback(key);
  TENON_CHECK_VALUE(!taken, "fallback (", place, "): ", to_string(key),
                    " has a fallback already, registered at ", taken->place);
  r.fallbacks.emplace(key, Registration{r.next_id++, key, std::move(shared), place, serves});
  if (!layer) return;
  for (const auto& [name, op] : r.by_name) r.record(*op).update_table();
}

void remove_fallback(DispatchKey key) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  if (!r.fallbacks.erase(key) || backend_of(key)) return;
  for (const auto& [name, op] : r.by_name) r.record(*op).update_table();
}

void set_autograd_of_runtime_operators(BoxedKernel kernel) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  r.autograd_of_runtime_operators = std::make_shared<const BoxedKernel>(std::move(kernel));
}

bool runs_composite_implicit(const OperatorEntry& op, DispatchKeySet keys) {
  Registry& r = registry();
  std::shared_lock lock(r.mutex);
  const auto record = r.records.find(&op);
  if (record == r.records.end()) return false;
  const Registration* own = record->second.backend_kernel(keys.backend_slot());
  return own && own->key == DispatchKey::CompositeImplicit;
}

}  // namespace detail
}  // namespace tenon
