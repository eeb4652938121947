#include "aten/core/operator_entry.h"

#include <algorithm>
#include <map>
#include <mutex>

namespace tenon {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::pair<std::string, std::string>, OperatorEntry*, std::less<>> by_name;
};

Registry& registry() {
  static Registry* instance = new Registry;  // libraries unregister during static clean-up
  return *instance;
}

std::pair<std::string, std::string> key_of(const OperatorEntry& op) {
  return {op.info->name, op.info->overload};
}

}  // namespace

std::string OperatorEntry::qualified_name() const {
  std::string name = info->name;
  if (*info->overload) name.append(".").append(info->overload);
  return name;
}

void OperatorEntry::missing_kernel(DispatchKeySet keys) const {
  const int slot = keys.backend_slot();
  std::string have;
  for (int b = 0; b < kNumBackends; ++b) {
    if (backends()[1 + b]) have.append(have.empty() ? "" : ", ").append(to_string(Backend(b)));
  }
  if (slot == 0) {
    detail::raise<NotImplementedError>("Could not run '", qualified_name(),
                                       "': it needs at least one defined tensor argument (",
                                       info->source, ")");
  }
  detail::raise<NotImplementedError>("Could not run '", qualified_name(),
                                     "' with arguments from the '", to_string(Backend(slot - 1)),
                                     "' backend. The operator is available for: ",
                                     have.empty() ? "no backend" : have, " (", info->source, ")");
}

OperatorLibrary::OperatorLibrary(OperatorEntry* const* table, size_t count)
    : table_(table), count_(count) {
  std::lock_guard lock(registry().mutex);
  for (size_t i = 0; i < count; ++i) registry().by_name.emplace(key_of(*table[i]), table[i]);
}

OperatorLibrary::~OperatorLibrary() {
  std::lock_guard lock(registry().mutex);
  for (size_t i = 0; i < count_; ++i) {
    const auto found = registry().by_name.find(key_of(*table_[i]));
    if (found != registry().by_name.end() && found->second == table_[i])
      registry().by_name.erase(found);
  }
}

OperatorEntry* find_operator(std::string_view name, std::string_view overload) {
  std::string full(name);
  if (full.find("::") == std::string::npos) full.insert(0, "aten::");
  std::lock_guard lock(registry().mutex);
  const auto found = registry().by_name.find(std::pair(full, std::string(overload)));
  return found == registry().by_name.end() ? nullptr : found->second;
}

std::vector<OperatorEntry*> all_operators() {
  std::lock_guard lock(registry().mutex);
  std::vector<OperatorEntry*> all;
  all.reserve(registry().by_name.size());
  for (const auto& [name, op] : registry().by_name) all.push_back(op);
  return all;
}

void set_backend_kernel(OperatorEntry& op, Backend backend, AnyFunction kernel) {
  op.backends()[1 + static_cast<int>(backend)] = kernel;
}

}  // namespace tenon
