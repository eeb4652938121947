#include "codegen/report/text.h"

#include <algorithm>

namespace tenon::codegen {

std::string valid_utf8(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    const size_t length = utf8_length(text, i);
    result += length == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(i, length);
    i += std::max<size_t>(length, 1);
  }
  return result;
}

uint32_t code_point_column(const Location& location) {
  const std::string_view line = location.file->line(location.line);
  const size_t bytes = std::min<size_t>(location.column - 1, line.size());
  uint32_t column = 1;
  for (size_t i = 0; i < bytes; ++column) i += std::max<size_t>(utf8_length(line, i), 1);
  return column;
}

std::string path_to_uri(std::string_view path) {
  constexpr std::string_view kPlain = "-._~/";
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string uri = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter || kPlain.find(c) != std::string_view::npos) {
      uri += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      uri += '%';
      uri += kHex[byte >> 4];
      uri += kHex[byte & 15];
    }
  }
  return uri;
}

}  // namespace tenon::codegen
