#pragma once

#include "codegen/model/diagnostic.h"
#include "codegen/model/model.h"

namespace tenon::codegen {

/// Runs every rule of the model's dialect and reports all violations.
void run_checks(const Model& model, DiagnosticSink& sink);

}  // namespace tenon::codegen
