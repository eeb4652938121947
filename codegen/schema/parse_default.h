#pragma once

#include <optional>
#include <string_view>

#include "codegen/schema/default_value.h"
#include "codegen/schema/token_stream.h"

namespace tenon::schema::detail {

/// Reads the default value at the current token: None, True, a number, a string, a name or a list
/// of these. Reports what is wrong and gives false.
bool parse_default(TokenStream& tokens, DefaultValue& result);

/// The integer that `text` spells, sign allowed; empty when it is none or does not fit.
std::optional<int64_t> whole_number(std::string_view text);

}  // namespace tenon::schema::detail
