#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/meaning/backend_kernels.h"
#include "codegen/model/model.h"
#include "codegen/yaml/diagnostic.h"
#include "codegen/yaml/yaml.h"

namespace tenon::codegen {

/// Reads the file; what is wrong with it is reported in `sink`: keys, a backend other than
/// PrivateUse1, operators that do not exist, that are given twice, that are composite.
std::optional<BackendKernels> load_backend(const std::string& path, const Model& base,
                                           DiagnosticSink& sink);

/// Mistakes of such a file that are none of its operators.
void check_backend_form(const YamlNode& root, DiagnosticSink& sink);

}  // namespace tenon::codegen
