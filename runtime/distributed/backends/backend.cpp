#include "runtime/distributed/backends/backend.h"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>

#include "runtime/distributed/backends/host_backend.h"

namespace tenon::distributed {

void Backend::missing(const char* collective) const {
  detail::raise<NotImplementedError>("[", collective, "] the backend ", name(),
                                     " does not provide it");
}

WorkPtr Backend::broadcast(const Tensor&, int, const CallOptions&) { missing("broadcast"); }
WorkPtr Backend::all_reduce(const Tensor&, ReduceOp, const CallOptions&) { missing("all_reduce"); }
WorkPtr Backend::reduce(const Tensor&, int, ReduceOp, const CallOptions&) { missing("reduce"); }
WorkPtr Backend::all_gather(const std::vector<Tensor>&, const Tensor&, const CallOptions&) {
  missing("all_gather");
}
WorkPtr Backend::gather(const std::vector<Tensor>&, const Tensor&, int, const CallOptions&) {
  missing("gather");
}
WorkPtr Backend::scatter(const Tensor&, const std::vector<Tensor>&, int, const CallOptions&) {
  missing("scatter");
}
WorkPtr Backend::reduce_scatter(const Tensor&, const std::vector<Tensor>&, ReduceOp,
                                const CallOptions&) {
  missing("reduce_scatter");
}
WorkPtr Backend::all_to_all(const std::vector<Tensor>&, const std::vector<Tensor>&,
                            const CallOptions&) {
  missing("all_to_all");
}
WorkPtr Backend::send(const Tensor&, int, int, const CallOptions&) { missing("send"); }
WorkPtr Backend::recv(const Tensor&, int, int, const CallOptions&) { missing("recv"); }
WorkPtr Backend::barrier(const CallOptions&) { missing("barrier"); }
void Backend::fail_next_collectives(const std::string&, int) { missing("fail_next_collectives"); }

namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, BackendFactory> factories = detail::built_in_backends();
};

Registry& registry() {
  static Registry instance;
  return instance;
}

}  // namespace

void register_backend(const std::string& name, BackendFactory factory) {
  const std::lock_guard lock(registry().mutex);
  TENON_CHECK_VALUE(registry().factories.emplace(name, std::move(factory)).second,
                    "[register_backend] there is a backend '", name, "' already");
}

namespace {

constexpr std::string_view kPrefix = "libtenon_distributed_", kSuffix = ".so";

/// Where this library lies.
std::filesystem::path own_folder() {
  Dl_info info{};
  if (!::dladdr(reinterpret_cast<void*>(&register_backend), &info) || !info.dli_fname) return {};
  std::error_code error;
  return std::filesystem::canonical(info.dli_fname, error).parent_path();
}

bool is_registered(const std::string& name) {
  const std::lock_guard lock(registry().mutex);
  return registry().factories.contains(name);
}

/// Loads the backend's library if it is not registered: why there is none, else nothing.
std::string load_backend(const std::string& name) {
  static std::mutex loading;
  const std::lock_guard lock(loading);
  if (is_registered(name)) return {};
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  if (name.empty() || !std::all_of(name.begin(), name.end(), is_plain)) return "not a name";
  const std::string file = std::string(kPrefix) + name + std::string(kSuffix);
  std::error_code error;
  const auto path = own_folder() / file;
  if (!std::filesystem::exists(path, error)) return "there is no " + file;
  // MPI's own libraries look for its symbols among those of the program.
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!library) return ::dlerror();
  const auto add = reinterpret_cast<void (*)()>(::dlsym(library, "tenon_register_backend"));
  if (!add) return file + " has no function tenon_register_backend";
  add();
  return is_registered(name) ? std::string() : file + " registers something else";
}

}  // namespace

std::vector<std::string> available_backends() {
  std::set<std::string> names;
  {
    const std::lock_guard lock(registry().mutex);
    for (const auto& [name, factory] : registry().factories) names.insert(name);
  }
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(own_folder(), error)) {
    const std::string file = entry.path().filename();
    if (file.starts_with(kPrefix) && file.ends_with(kSuffix))
      names.insert(file.substr(kPrefix.size(), file.size() - kPrefix.size() - kSuffix.size()));
  }
  return {names.begin(), names.end()};
}

bool is_backend_available(const std::string& name) { return load_backend(name).empty(); }

void check_backend(const std::string& name) {
  const std::string reason = load_backend(name);
  if (reason.empty()) return;
  std::string names;
  for (const std::string& one : available_backends()) names += (names.empty() ? "" : ", ") + one;
  detail::raise<ValueError>("[init_process_group] there is no backend '", name, "' in this build (",
                            reason, "); there are: ", names, detail::missing_engine());
}

std::shared_ptr<Backend> make_backend(const std::string& name, const BackendArguments& arguments) {
  check_backend(name);
  BackendFactory factory;
  {
    const std::lock_guard lock(registry().mutex);
    factory = registry().factories.at(name);
  }
  return factory(arguments);
}

}  // namespace tenon::distributed
