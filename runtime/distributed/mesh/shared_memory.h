#pragma once

#include <functional>
#include <memory>

#include "runtime/distributed/backends/backend.h"
#include "runtime/distributed/mesh/engine.h"
#include "runtime/distributed/mesh/mesh.h"

namespace tenon::distributed::detail {

/// all_reduce of ranks on one machine, through memory that they share; everything else, and groups
/// over several machines, by the engine that `make_other` makes when first there is something for
/// it. The variable TENON_SHARED_MEMORY=0, of any rank, leaves all to that engine.
std::unique_ptr<Engine>
make_shared_memory_engine(const BackendArguments& arguments, Mesh& mesh,
                          std::function<std::unique_ptr<Engine>()> make_other);

}  // namespace tenon::distributed::detail
