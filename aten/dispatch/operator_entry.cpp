#include "aten/dispatch/operator_entry.h"

#include <cstdio>

#include "aten/dispatch/alias_library.h"
#include "aten/dispatch/check_value.h"
#include "aten/dispatch/load_library.h"
#include "aten/dispatch/registration.h"
#include "aten/dispatch/registry.h"
#include "aten/dispatch/trace_operators.h"
#include "codegen/schema/suggest.h"

namespace tenon {
namespace {

using detail::registry;

std::pair<std::string, std::string> key_of(const OperatorEntry& op) {
  return {op.info->name, op.info->overload};
}

/// TypeError for the first argument that is not of its type.
void check_arguments(const OperatorEntry& op, const Stack& stack) {
  const auto schema = schema_of(op);
  const Value* const arguments = stack.data() + stack.size() - schema->args.size();
  for (size_t i = 0; i < schema->args.size(); ++i) {
    try {
      detail::check_value(arguments[i], schema->args[i].type);
    } catch (const detail::ValueMismatch& mismatch) {
      detail::raise<TypeError>("[", op.qualified_name(), "] argument '", schema->args[i].name,
                               "': ", mismatch.what());
    }
  }
}

}  // namespace

std::string OperatorEntry::qualified_name() const {
  std::string name = info->name;
  if (*info->overload) name.append(".").append(info->overload);
  return name;
}

void OperatorEntry::call_boxed(Stack& stack) const {
  const size_t before = stack.size();
  try {
    if (boxed) return boxed(*this, stack);
    const auto schema = schema_of(*this);
    TENON_CHECK(before >= schema->args.size(), "[", qualified_name(), "] a boxed call needs ",
                schema->args.size(), " values, got ", before);
    detail::run_boxed_kernel(*this, detail::keys_of(*schema, stack), stack);
  } catch (const detail::ValueMismatch&) {
    // Else the arguments have been taken already.
    if (stack.size() == before) check_arguments(*this, stack);
    throw;
  }
}

OperatorLibrary::OperatorLibrary(OperatorEntry* const* table, size_t count)
    : table_(table), count_(count) {
  // Before the lock: the loader has its own, which it may hold while it waits for this one.
  detail::keep_loaded(table);
  const void* const library = detail::library_of(table);
  detail::Registry& r = registry();
  std::lock_guard lock(r.mutex);
  r.tables.push_back({table, count, library});
  for (size_t i = 0; i < count; ++i) {
    OperatorEntry& op = *table[i];
    const auto [place, fresh] = r.by_name.emplace(key_of(op), &op);
    if (!fresh && !detail::replacing_operators) {
      std::fprintf(
          stderr,
          "tenon: warning: operator %s of %s exists already (%s); calls by name go to that\n",
          op.qualified_name().c_str(), op.info->source, place->second->info->source);
    }
    if (r.has_layer_fallback()) r.record(op).update_table();
    if (r.trace) detail::trap(r, op);
  }
}

OperatorLibrary::~OperatorLibrary() {
  detail::Registry& r = registry();
  std::lock_guard lock(r.mutex);
  std::erase_if(r.tables, [&](const auto& one) { return one.operators == table_; });
  for (size_t i = 0; i < count_; ++i) {
    const auto found = r.by_name.find(key_of(*table_[i]));
    if (found != r.by_name.end() && found->second == table_[i]) r.by_name.erase(found);
    r.records.erase(table_[i]);
  }
}

AliasLibrary::AliasLibrary(const OperatorAlias* table, size_t count)
    : table_(table), count_(count) {
  const void* const library = detail::library_of(table);
  detail::Registry& r = registry();
  std::lock_guard lock(r.mutex);
  r.alias_tables.push_back({table, count, library});
  for (size_t i = 0; i < count; ++i) {
    r.aliases.emplace(std::pair(table[i].name, table[i].overload), table[i].op);
  }
}

AliasLibrary::~AliasLibrary() {
  detail::Registry& r = registry();
  std::lock_guard lock(r.mutex);
  std::erase_if(r.alias_tables, [&](const auto& one) { return one.aliases == table_; });
  for (size_t i = 0; i < count_; ++i) {
    const auto found =
        r.aliases.find(std::pair<std::string, std::string>(table_[i].name, table_[i].overload));
    if (found != r.aliases.end() && found->second == table_[i].op) r.aliases.erase(found);
  }
}

OperatorEntry* find_operator(std::string_view name, std::string_view overload) {
  if (const size_t dot = name.find('.'); overload.empty() && dot != std::string_view::npos) {
    overload = name.substr(dot + 1);
    name = name.substr(0, dot);
  }
  std::string full(name);
  if (full.find("::") == std::string::npos) full.insert(0, "aten::");
  detail::Registry& r = registry();
  std::shared_lock lock(r.mutex);
  const std::pair key(full, std::string(overload));
  if (const auto found = r.by_name.find(key); found != r.by_name.end()) return found->second;
  const auto alias = r.aliases.find(key);
  return alias == r.aliases.end() ? nullptr : alias->second;
}

OperatorEntry& get_operator(std::string_view name) {
  if (OperatorEntry* op = find_operator(name)) return *op;
  std::vector<std::string> names;
  for (const OperatorEntry* op : all_operators()) names.push_back(op->qualified_name());
  const std::string near = schema::nearest(name, names);
  detail::raise<ValueError>("no operator '", name, "'",
                            near.empty() ? "" : "; did you mean '" + near + "'?");
}

std::vector<OperatorEntry*> operators_named(std::string_view name) {
  detail::Registry& r = registry();
  std::shared_lock lock(r.mutex);
  std::vector<OperatorEntry*> found;
  for (const auto* names : {&r.by_name, &r.aliases}) {
    for (auto one = names->lower_bound(std::pair(std::string(name), std::string()));
         one != names->end() && one->first.first == name; ++one) {
      found.push_back(one->second);
    }
  }
  return found;
}

std::vector<std::pair<std::string, OperatorEntry*>> all_aliases() {
  detail::Registry& r = registry();
  std::shared_lock lock(r.mutex);
  std::vector<std::pair<std::string, OperatorEntry*>> all;
  for (const auto& [name, op] : r.aliases) all.emplace_back(name.first, op);
  return all;
}

std::vector<OperatorEntry*> all_operators() {
  detail::Registry& r = registry();
  std::shared_lock lock(r.mutex);
  std::vector<OperatorEntry*> all;
  all.reserve(r.by_name.size());
  for (const auto& [name, op] : r.by_name) all.push_back(op);
  return all;
}

}  // namespace tenon
