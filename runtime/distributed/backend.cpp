#include "runtime/distributed/backend.h"

#include <map>
#include <mutex>

#include "runtime/distributed/host_backend.h"

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
void Backend::forfeit(const std::string&, int) { missing("forfeit"); }

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

std::vector<std::string> available_backends() {
  const std::lock_guard lock(registry().mutex);
  std::vector<std::string> names;
  for (const auto& [name, factory] : registry().factories) names.push_back(name);
  return names;
}

bool is_backend_available(const std::string& name) {
  const std::lock_guard lock(registry().mutex);
  return registry().factories.contains(name);
}

void check_backend(const std::string& name) {
  if (!is_backend_available(name)) {
    std::string names;
    for (const std::string& one : available_backends()) names += (names.empty() ? "" : ", ") + one;
    detail::raise<ValueError>("[init_process_group] there is no backend '", name,
                              "' in this build; there are: ", names, detail::missing_engine());
  }
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
