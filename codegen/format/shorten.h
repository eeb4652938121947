#pragma once

#include <string>

#include "codegen/model/model.h"
#include "codegen/yaml/source_file.h"

namespace tenon::codegen {

/// The file without what follows from the rest of each entry (model/defaults.h), with the short
/// forms of schemas (model/short_schema.h), and entries that differ by `Tensor` or `Scalar` as one.
/// `text` is formatted; so is the result.
std::string shorten(const std::string& text);

/// The entries mean the same, in the same order, however they say it.
bool same_operators(const Model& a, const Model& b);

}  // namespace tenon::codegen
