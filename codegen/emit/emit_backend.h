#pragma once

#include "codegen/ir/library.h"
#include "codegen/meaning/backend_kernels.h"
#include "codegen/model/model.h"

namespace tenon::codegen {

/// A library that only has kernels of a backend: per operator the declaration of its
/// kernel, <name>_<cpp_namespace>, and thunks for its forms; one source that registers them.
/// A kernel of a pointwise or structured operator computes into tensors that the thunk has made; of
/// others it is a function of the operator's own type.
ir::Library emit_backend(const BackendKernels& kernels, const Model& base);

}  // namespace tenon::codegen
