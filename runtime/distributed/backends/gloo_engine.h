#pragma once

#include <memory>

#include "runtime/distributed/backends/backend.h"
#include "runtime/distributed/mesh/engine.h"
#include "runtime/distributed/mesh/mesh.h"

namespace tenon::distributed::detail {

/// Gloo, over TCP. From then on the process ignores SIGPIPE, unless it does something else with it:
/// Gloo writes to connections that a dying peer has closed.
std::unique_ptr<Engine> make_gloo_engine(const BackendArguments& arguments, Mesh& mesh);

}  // namespace tenon::distributed::detail
