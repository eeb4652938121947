#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "codegen/model/keys.h"

namespace tenon::codegen {

/// The one spelling of a scalar of this form: a schema as the printer has it, `a, b` for names,
/// True and False; any other text as it is.
std::string canonical_text(std::optional<ValueForm> form, const std::string& text);

/// Names of a key, "CPU, CUDA".
std::string canonical_key(const std::string& text);

/// The text as a YAML scalar without quotes, where that is the same string to every YAML reader
/// (no number, no `yes`), within brackets or not. Empty where it needs quotes.
std::optional<std::string> plain_scalar(const std::string& text, bool in_flow);

/// The text in quotes, double ones where it holds none.
std::string quoted_scalar(const std::string& text);

}  // namespace tenon::codegen
