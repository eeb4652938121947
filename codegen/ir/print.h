#pragma once

#include <nlohmann/json.hpp>

#include "codegen/ir/library.h"

namespace tenon::codegen::ir {

using Json = nlohmann::ordered_json;

/// The document that docs/ir.md describes, keys in the order given there.
Json print(const Library& library);

}  // namespace tenon::codegen::ir
