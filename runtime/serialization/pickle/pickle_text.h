#pragma once

#include <optional>
#include <string>
#include <string_view>

/// Text as pickles hold it.
namespace tenon::serialization {

/// Whether `text` is UTF-8 as Python takes it, which includes lone surrogates.
bool is_utf8(std::string_view text);
/// The text of Python 2's 'quoted\n' strings; nothing if it is not one.
std::optional<std::string> unquoted(std::string_view text);
/// Text with \uXXXX escapes as UTF-8; nothing for a wrong escape.
std::optional<std::string> unescaped_unicode(std::string_view text);
std::string latin1_to_utf8(std::string_view bytes);
/// Nothing for text beyond Latin-1.
std::optional<std::string> utf8_to_latin1(std::string_view text);

}  // namespace tenon::serialization
