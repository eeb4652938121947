#include "aten/dispatch/load_library.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <mutex>
#include <set>

#include "aten/dispatch/registry.h"
#include "tenon/config.h"

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

std::atomic<void (*)(const void*, const std::string&)> start_stable_library{nullptr};

/// The libraries that a shared library names as its own needs; empty if it cannot be read, of which
/// loading it says more.
std::vector<std::string> needed_libraries(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  const auto read = [&]<class T>(T& value, uint64_t at) {
    if (at > bytes.size() || bytes.size() - at < sizeof(T)) return false;
    std::memcpy(&value, bytes.data() + at, sizeof(T));
    return true;
  };
  std::vector<std::string> names;
  Elf64_Ehdr header;
  if (!read(header, 0) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64)
    return names;
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section, strings;
    const auto place = [&](uint64_t k) { return header.e_shoff + k * header.e_shentsize; };
    if (!read(section, place(i)) || section.sh_type != SHT_DYNAMIC) continue;
    if (!read(strings, place(section.sh_link))) continue;
    Elf64_Dyn entry;
    for (uint64_t at = 0; at < section.sh_size && read(entry, section.sh_offset + at);
         at += sizeof(entry)) {
      const uint64_t name = strings.sh_offset + entry.d_un.d_val;
      if (entry.d_tag == DT_NEEDED && name < bytes.size()) names.emplace_back(&bytes[name]);
    }
  }
  return names;
}

/// The operators that a library registers through the stable interface, when it is loaded for the
/// first time.
std::vector<std::string> start_once(Registry& r, const void* library,
                                    void (*start)(const void*, const std::string&),
                                    const std::string& path) {
  static std::mutex mutex;
  static std::map<const void*, std::vector<std::string>> started;
  std::lock_guard one_at_a_time(mutex);
  if (const auto found = started.find(library); found != started.end()) return found->second;
  const auto names = [&] {
    std::shared_lock lock(r.mutex);
    std::set<std::string> all;
    for (const auto& [name, op] : r.by_name) all.insert(name.first);
    return all;
  };
  const std::set<std::string> before = names();
  start(library, path);
  std::vector<std::string>& own = started[library];
  for (const std::string& name : names()) {
    if (!before.contains(name)) own.push_back(name);
  }
  return own;
}

/// Error if the library needs a Tenon of another version, whose C++ types are others.
void check_version(const std::string& path) {
  const std::string own = detail::concat(TENON_VERSION_MAJOR, ".", TENON_VERSION_MINOR);
  for (const std::string& name : needed_libraries(path)) {
    const size_t suffix = name.find(".so.");
    if (name.rfind("libtenon", 0) != 0 || suffix == std::string::npos) continue;
    const std::string version = name.substr(suffix + 4);
    TENON_CHECK(version == own || version.rfind(own + ".", 0) == 0, path,
                " was built against Tenon ", version, "; this is Tenon ", TENON_VERSION,
                ". Build it again, or build it once for several versions "
                "(docs/stable_interface.md)");
  }
}

}  // namespace

namespace detail {

void set_starter_of_stable_libraries(void (*start)(const void*, const std::string&)) {
  start_stable_library = start;
}

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
  check_version(path);
  const Replacing replacing(same_name == SameName::Replace);
  // Never closed: the registry refers to what is in it.
  void* const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  TENON_CHECK(handle, "the library of operators cannot be loaded: ", ::dlerror());
  const link_map* library = nullptr;
  TENON_CHECK(::dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void*>(&library)) == 0, path, ": ",
              ::dlerror());
  Registry& r = detail::registry();
  if (const void* const stable = ::dlsym(handle, "tenon_stable_library")) {
    const auto start = start_stable_library.load();
    TENON_CHECK(start, path, " needs the stable interface, which this program leaves out");
    return start_once(r, stable, start, path);
  }
  std::lock_guard lock(r.mutex);
  const std::set<std::string> names = names_of(r, library);
  if (same_name == SameName::Replace) {
    erase_operators(r, names);
    insert_operators(r, library);
  }
  return {names.begin(), names.end()};
}

}  // namespace tenon
