#include "aten/dispatch/load_library.h"

#include <dlfcn.h>
#include <link.h>

#include <mutex>
#include <set>

#include "aten/dispatch/registry.h"

namespace tenon {
namespace {

using detail::Registry;

/// While it lives, what this thread loads gives no warning about names that are taken.
class Replacing {
 public:
  explicit Replacing(bool on) : before_(std::exchange(detail::replacing_operators, on)) {}
  ~Replacing() { detail::replacing_operators = before_; }
  Replacing(const Replacing&) = delete;
  Replacing& operator=(const Replacing&) = delete;

 private:
  bool before_;
};

std::set<std::string> names_of(const Registry& r, const void* library) {
  std::set<std::string> names;
  for (const detail::OperatorTable& table : r.tables) {
    if (table.library != library) continue;
    for (size_t i = 0; i < table.count; ++i) names.insert(table.operators[i]->info->name);
  }
  for (const detail::AliasTable& table : r.alias_tables) {
    if (table.library != library) continue;
    for (size_t i = 0; i < table.count; ++i) names.insert(table.aliases[i].name);
  }
  return names;
}

/// Takes out all overloads of the names, with the forms in place and the aliases of the operators
/// that had them.
void erase_operators(Registry& r, const std::set<std::string>& names) {
  std::set<const OperatorEntry*> erased;
  for (const auto& [key, op] : r.by_name) {
    if (names.contains(key.first)) erased.insert(op);
  }
  for (const detail::OperatorTable& table : r.tables) {
    for (size_t i = 0; i < table.count; ++i) {
      if (!erased.contains(table.operators[i])) continue;
      const std::string in_place = std::string(table.operators[i]->info->name) + "_";
      for (size_t k = 0; k < table.count; ++k) {
        if (table.operators[k]->info->name == in_place) erased.insert(table.operators[k]);
      }
    }
  }
  std::erase_if(r.by_name, [&](const auto& one) { return erased.contains(one.second); });
  std::erase_if(r.aliases, [&](const auto& one) {
    return names.contains(one.first.first) || erased.contains(one.second);
  });
}

void insert_operators(Registry& r, const void* library) {
  for (const detail::OperatorTable& table : r.tables) {
    if (table.library != library) continue;
    for (size_t i = 0; i < table.count; ++i) {
      const OperatorInfo& info = *table.operators[i]->info;
      r.by_name.emplace(std::pair(info.name, info.overload), table.operators[i]);
    }
  }
  for (const detail::AliasTable& table : r.alias_tables) {
    if (table.library != library) continue;
    for (size_t i = 0; i < table.count; ++i) {
      const OperatorAlias& alias = table.aliases[i];
      r.aliases.emplace(std::pair(alias.name, alias.overload), alias.op);
    }
  }
}

}  // namespace

namespace detail {

thread_local bool replacing_operators = false;

const void* library_of(const void* address) {
  Dl_info place;
  void* map = nullptr;
  return ::dladdr1(address, &place, &map, RTLD_DL_LINKMAP) ? map : nullptr;
}

void keep_loaded(const void* address) {
  const auto* library = static_cast<const link_map*>(library_of(address));
  // The program itself has no name.
  if (library && *library->l_name) {
    ::dlopen(library->l_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  }
}

}  // namespace detail

std::vector<std::string> load_library(const std::string& path, SameName same_name) {
  const Replacing replacing(same_name == SameName::Replace);
  // Never closed: the registry refers to what is in it.
  void* const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  TENON_CHECK(handle, "the library of operators cannot be loaded: ", ::dlerror());
  const link_map* library = nullptr;
  TENON_CHECK(::dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void*>(&library)) == 0, path, ": ",
              ::dlerror());
  Registry& r = detail::registry();
  std::lock_guard lock(r.mutex);
  const std::set<std::string> names = names_of(r, library);
  if (same_name == SameName::Replace) {
    erase_operators(r, names);
    insert_operators(r, library);
  }
  return {names.begin(), names.end()};
}

}  // namespace tenon
