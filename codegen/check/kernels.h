#pragma once

#include "codegen/meaning/backend_kernels.h"
#include "codegen/meaning/kernel_declarations.h"
#include "codegen/model/model.h"
#include "codegen/sources/kernel_sources.h"
#include "codegen/yaml/diagnostic.h"

namespace tenon::codegen {

/// Reports each hand-written function that an entry of the model leads to (for `targets`) and none
/// of `sources` defines: where it is expected, its signature, the nearest name that is defined. The
/// compiler compares the signatures; a missing function it would only report when linking.
/// `folders` are the paths that were scanned; one named after a backend is where a kernel is
/// expected.
void check_kernels(const Model& model, const Targets& targets, const KernelSources& sources,
                   const std::vector<std::string>& folders, DiagnosticSink& sink);

/// The same of a device's kernels, at the lines that ask for them. `base` is the library that has
/// the operators.
void check_backend_kernels(const BackendKernels& kernels, const Model& base,
                           const KernelSources& sources, DiagnosticSink& sink);

}  // namespace tenon::codegen
