#include "runtime/serialization/pickle/safe_globals.h"

#include <mutex>

namespace tenon::serialization {
namespace {

using Map = std::map<std::string, SafeGlobal>;

struct Registry {
  std::mutex mutex;
  // Replaced, never changed: a load goes on with what was allowed when it began.
  std::shared_ptr<const Map> map = std::make_shared<const Map>();
};

Registry& registry() {
  static Registry r;
  return r;
}

/// "a.b.C" as "a.b C".
std::string canonical(std::string name) {
  if (name.find(' ') == name.npos)
    if (const size_t dot = name.rfind('.'); dot != name.npos) name[dot] = ' ';
  const size_t space = name.find(' ');
  TENON_CHECK_VALUE(space != name.npos && space > 0 && space + 1 < name.size(),
                    "[add_safe_globals] expected \"module.name\", got \"", name, "\"");
  TENON_CHECK_VALUE(!is_blocked(name.substr(0, space)), "[add_safe_globals] module ",
                    name.substr(0, space), " is blocked: nothing in it can be allowed");
  return name;
}

template <class F>
void change(F&& f) {
  const std::lock_guard lock(registry().mutex);
  auto copy = std::make_shared<Map>(*registry().map);
  f(*copy);
  registry().map = std::move(copy);
}

}  // namespace

bool is_blocked(const std::string& module) {
  const std::string package = module.substr(0, module.find('.'));
  return package == "sys" || package == "os" || package == "posix" || package == "nt";
}

std::shared_ptr<const Map> registered_globals() {
  const std::lock_guard lock(registry().mutex);
  return registry().map;
}

void add_safe_globals(const std::vector<SafeGlobal>& globals) {
  change([&](Map& map) {
    for (const SafeGlobal& global : globals) {
      const std::string name = canonical(global.name);
      map.insert_or_assign(name, SafeGlobal(name, global.construct, global.set_state));
    }
  });
}

std::vector<std::string> get_safe_globals() {
  std::vector<std::string> names;
  for (const auto& entry : *registered_globals()) names.push_back(entry.first);
  return names;
}

void clear_safe_globals() {
  change([](Map& map) { map.clear(); });
}

SafeGlobals::SafeGlobals(const std::vector<SafeGlobal>& globals) {
  const std::shared_ptr<const Map> map = registered_globals();
  for (const SafeGlobal& global : globals) {
    const std::string name = canonical(global.name);
    const auto it = map->find(name);
    before_.push_back({name, it == map->end() ? std::nullopt : std::optional(it->second)});
  }
  add_safe_globals(globals);
}

SafeGlobals::~SafeGlobals() {
  change([this](Map& map) {
    for (const Before& before : before_) {
      map.erase(before.name);
      if (before.global) map.emplace(before.name, *before.global);
    }
  });
}

}  // namespace tenon::serialization
