#pragma once

#include "codegen/emit/dispatch.h"
#include "codegen/model/backend.h"
#include "codegen/sources/kernel_sources.h"

namespace tenon::codegen {

/// The IR of a library that only has kernels of a backend: per operator the declaration of its
/// kernel, <name>_<cpp_namespace>, and thunks for its forms; one source that registers them.
/// A kernel of a pointwise or structured operator computes into tensors that the thunk has made; of
/// others it is a function of the operator's own type.
Json emit_backend(const BackendKernels& kernels, const Model& base);

/// Reports kernels that no source defines, at the line that asks for them.
void check_backend_kernels(const BackendKernels& kernels, const Json& ir,
                           const KernelSources& sources, DiagnosticSink& sink);

}  // namespace tenon::codegen
