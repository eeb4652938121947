#pragma once

#include <string>
#include <string_view>

#include "codegen/yaml/diagnostic.h"

namespace tenon::codegen {

/// The text with U+FFFD for each byte that is no UTF-8: JSON holds nothing else, a message may
/// quote a file that does.
std::string valid_utf8(std::string_view text);

/// The 1-based column of a place in code points; Location counts bytes.
uint32_t code_point_column(const Location& location);

/// A path as a URI reference: percent-encoded, `file://` before an absolute one.
std::string path_to_uri(std::string_view path);

}  // namespace tenon::codegen
