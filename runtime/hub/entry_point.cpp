#include "runtime/hub/entry_point.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <mutex>

#include "codegen/schema/suggest.h"
#include "runtime/hub/repository_name.h"
#include "tenon/config.h"

namespace tenon::hub {
namespace {

/// Of each repository the entry points by name.
using Registry = std::map<std::string, std::map<std::string, EntryPoint>>;

std::mutex mutex;

Registry& registry() {
  static Registry entry_points;
  return entry_points;
}

template <class Map>
std::vector<std::string> keys_of(const Map& map) {
  std::vector<std::string> keys;
  keys.reserve(map.size());
  for (const auto& entry : map) keys.push_back(entry.first);
  return keys;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text.empty() ? "none" : text;
}

/// " Did you mean x?", or nothing.
std::string suggestion(const std::string& word, const std::vector<std::string>& candidates) {
  const std::string near = schema::nearest(word, candidates);
  return near.empty() ? "" : " Did you mean " + near + "?";
}

/// "owner/name" of the repository whose entry points are meant.
std::string key_of(const std::string& repository, const LoadOptions& options) {
  if (options.source != "local") return RepositoryName::parse(repository).without_ref();
  if (!options.repository.empty()) return options.repository;
  const std::lock_guard lock(mutex);
  TENON_CHECK_VALUE(registry().size() == 1,
                    "[hub] set LoadOptions::repository to say whose checkout '", repository,
                    "' is; the program has entry points of: ", joined(keys_of(registry())));
  return registry().begin()->first;
}

std::map<std::string, EntryPoint> entry_points_of(const std::string& key) {
  const std::lock_guard lock(mutex);
  const auto it = registry().find(key);
  const auto known = keys_of(registry());
  TENON_CHECK(it != registry().end(), "[hub] the program has no entry points of ", key, ".",
              suggestion(key, known), " It has those of: ", joined(known));
  return it->second;
}

EntryPoint find(const std::string& repository, const std::string& name,
                const LoadOptions& options) {
  const std::string key = key_of(repository, options);
  const auto all = entry_points_of(key);
  const auto it = all.find(name);
  TENON_CHECK(it != all.end(), "[hub] Cannot find callable ", name, " in hubconf of ", key, ".",
              suggestion(name, keys_of(all)), " It has: ", joined(keys_of(all)));
  return it->second;
}

const std::map<std::string, bool>& build_pieces() {
  static const std::map<std::string, bool> pieces{{"cuda", TENON_HAS_CUDA},
                                                  {"curl", TENON_HAS_CURL},
                                                  {"onednn", TENON_HAS_ONEDNN},
                                                  {"openmp", TENON_HAS_OPENMP},
                                                  {"zlib", TENON_HAS_ZLIB}};
  return pieces;
}

std::string demangled(const std::type_info& type) {
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, nullptr), &std::free);
  return name ? name.get() : type.name();
}

}  // namespace

bool Arguments::contains(const std::string& name) const {
  asked_for_.insert(name);
  return values_.contains(name);
}

const Value& Arguments::require(const std::string& name) const {
  TENON_CHECK(contains(name), "[hub] the argument '", name, "' is missing");
  return values_.at(name);
}

void Arguments::fail(const std::string& name, const std::string& reason) {
  tenon::detail::raise<TypeError>("[hub] argument '", name, "': ", reason);
}

void Arguments::check_all_used(const std::string& entry_point) const {
  const std::vector<std::string> known(asked_for_.begin(), asked_for_.end());
  for (const auto& entry : values_) {
    TENON_CHECK(asked_for_.contains(entry.first), "[hub] ", entry_point, " takes no argument '",
                entry.first, "'.", suggestion(entry.first, known), " It takes: ", joined(known));
  }
}

void register_entry_point(EntryPoint entry_point) {
  const auto repository = RepositoryName::parse(entry_point.repository);
  TENON_CHECK_VALUE(repository.ref.empty(),
                    "[hub] an entry point belongs to all versions of a "
                    "repository: expected \"owner/name\", got \"",
                    entry_point.repository, '"');
  TENON_CHECK_VALUE(!entry_point.name.empty() && entry_point.factory,
                    "[hub] an entry point must have a name and a factory");
  for (const std::string& piece : entry_point.dependencies) {
    TENON_CHECK_VALUE(build_pieces().contains(piece), "[hub] entry point ", entry_point.name,
                      ": a dependency must be one of ", joined(keys_of(build_pieces())), ", got \"",
                      piece, '"');
  }
  const std::lock_guard lock(mutex);
  const std::string key = entry_point.repository, name = entry_point.name;
  TENON_CHECK(registry()[key].emplace(name, std::move(entry_point)).second, "[hub] ", key,
              " has an entry point ", name, " already");
}

std::vector<std::string> list(const std::string& repository, const LoadOptions& options) {
  return keys_of(entry_points_of(key_of(repository, options)));
}

std::string help(const std::string& repository, const std::string& entry_point,
                 const LoadOptions& options) {
  return find(repository, entry_point, options).help;
}

std::any load_any(const std::string& repository, const std::string& entry_point,
                  const Arguments& arguments, const LoadOptions& options) {
  const EntryPoint found = find(repository, entry_point, options);
  std::vector<std::string> missing;
  for (const std::string& piece : found.dependencies) {
    if (!build_pieces().at(piece)) missing.push_back(piece);
  }
  TENON_CHECK(missing.empty(), "[hub] Missing dependencies: ", joined(missing), " (", entry_point,
              " of ", found.repository, " needs a build of Tenon with it)");
  const std::string dir = get_repository(repository, options);
  std::any made = found.factory({dir, arguments});
  arguments.check_all_used(entry_point);
  return made;
}

void detail::wrong_type(const std::string& entry_point, const std::type_info& expected,
                        const std::type_info& got) {
  tenon::detail::raise<TypeError>("[hub] ", entry_point, " returns a ", demangled(got), ", not a ",
                                  demangled(expected));
}

}  // namespace tenon::hub
