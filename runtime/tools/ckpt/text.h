#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/serialization/printable.h"

namespace tenon::ckpt {

using Json = nlohmann::ordered_json;

/// Writes JSON to the standard output, in ASCII.
void print_json(const Json& json);

/// A name or a short text from a file, as a terminal may get it.
inline std::string shown(std::string_view text) {
  return serialization::printable(text, serialization::kPrintedName);
}
/// The same, padded with spaces to the width of a column.
std::string padded(std::string_view text, size_t width);

/// "1.5 MiB".
std::string readable_bytes(uint64_t bytes);
/// "[2, 3]".
std::string readable_shape(const std::vector<int64_t>& shape);

}  // namespace tenon::ckpt
