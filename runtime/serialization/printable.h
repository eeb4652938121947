#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "aten/core/macros.h"

namespace tenon::serialization {

/// Text from a file as a message or a terminal may show it: control characters, marks that turn the
/// direction of writing and what is not UTF-8 are escaped ("\x1b", "\u202e"), and text of more than
/// `most` bytes is cut in its middle and says how much is missing.
TENON_API std::string printable(std::string_view text, size_t most);

/// Of a name in a message.
inline constexpr size_t kPrintedName = 200;

}  // namespace tenon::serialization
