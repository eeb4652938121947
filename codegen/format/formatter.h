#pragma once

#include <optional>
#include <string>

#include "codegen/model/operator.h"
#include "codegen/yaml/diagnostic.h"
#include "codegen/yaml/source_file.h"

namespace tenon::codegen {

/// The file in its one form: entries at the left margin with one empty line between them, keys in
/// the order of entry_keys(), schemas as the printer has them, `a, b`, True and False, no quotes
/// where none are needed, two spaces before a comment on a line. Comments stay where they are, with
/// what follows them; formulas of several lines and entries with anchors are left alone. Entries of
/// Tenon's dialect are said as shortly as they can be (shorten.h).
///
/// Reports the mistakes of the file's form in `sink` and gives nothing when there are any, or when
/// the result would not read back as the same data with the same comments.
std::optional<std::string> format_yaml(const SourceFile& file, Dialect dialect,
                                       DiagnosticSink& sink);

}  // namespace tenon::codegen
