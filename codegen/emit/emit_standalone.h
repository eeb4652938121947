#pragma once

#include <string>
#include <vector>

#include "codegen/ir/library.h"
#include "codegen/model/model.h"
#include "codegen/yaml/diagnostic.h"

namespace tenon::codegen {

/// What is generated: a library of operators, or their kernels alone, for C, for PyTorch or for the
/// stable interface.
enum class OutputTarget : uint8_t { kLibrary, kC, kTorch, kStable };

/// Fills in what kernels without the library need of each operator, and gives the files to render.
/// An entry that has no kernel from an expression is an error, which goes to `sink`.
std::vector<ir::File> emit_standalone(const Model& model, OutputTarget target, bool cuda,
                                      ir::Library& library, DiagnosticSink& sink);

}  // namespace tenon::codegen
