#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "codegen/model/diagnostic.h"
#include "codegen/model/model.h"

namespace tenon::codegen {

using Json = nlohmann::ordered_json;

/// "native_functions.yaml" for generated comments. Without the line: one more entry in the file
/// would otherwise change every file generated from those after it. The IR has the lines.
std::string short_source(const Location& location);

/// What every output needs to know of one schema (an entry's own, or a derived form of it): names,
/// C++ parameters with and without folded TensorOptions, results, arguments that decide the
/// dispatch.
Json emit_form(const Operator& op, const VariantSchema& form);

/// Names of the output parameters of a kernel that computes into given tensors.
Json output_names(const schema::FunctionSchema& schema);

}  // namespace tenon::codegen
