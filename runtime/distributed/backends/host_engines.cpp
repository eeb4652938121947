// The backends that this build has by itself.

#include "runtime/distributed/backends/host_backend.h"
#include "runtime/distributed/mesh/shared_memory.h"
#include "tenon/config.h"
#if TENON_HAS_GLOO
#include "runtime/distributed/backends/gloo_engine.h"
#endif

namespace tenon::distributed::detail {

HostBackend::MakeEngine make_host_engine([[maybe_unused]] const BackendArguments& arguments) {
#if TENON_HAS_GLOO
  return [arguments](Mesh& mesh) {
    return make_shared_memory_engine(
        arguments, mesh, [&mesh, arguments] { return make_gloo_engine(arguments, mesh); });
  };
#else
  return {};
#endif
}

std::shared_ptr<Backend> make_host_backend(std::string name, const BackendArguments& arguments,
                                           std::function<std::unique_ptr<Engine>()> make_engine) {
  return std::make_shared<HostBackend>(std::move(name), arguments,
                                       [make = std::move(make_engine)](Mesh&) { return make(); });
}

std::string missing_engine() {
#if TENON_HAS_GLOO
  return {};
#else
  return "; several ranks need Gloo, and this build is without it: TENON_GLOO=OFF, or CMake did "
         "not "
         "find it (libgloo-dev)";
#endif
}

std::map<std::string, BackendFactory> built_in_backends() {
  std::map<std::string, BackendFactory> all;
  all["single"] = [](const BackendArguments& arguments) -> std::shared_ptr<Backend> {
    TENON_CHECK_VALUE(arguments.size == 1, "[init_process_group] the backend single is for one ",
                      "rank, got ", arguments.size, missing_engine());
    return std::make_shared<HostBackend>("single", arguments, HostBackend::MakeEngine());
  };
#if TENON_HAS_GLOO
  all["gloo"] = [](const BackendArguments& arguments) -> std::shared_ptr<Backend> {
    return std::make_shared<HostBackend>("gloo", arguments, make_host_engine(arguments));
  };
#endif
  return all;
}

}  // namespace tenon::distributed::detail
