#include "runtime/serialization/pickle/pickle_text.h"

#include <cstdint>

namespace tenon::serialization {
namespace {

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// The number of `count` hexadecimal digits at `at`; nothing if they are not there.
std::optional<uint32_t> hexadecimal(std::string_view text, size_t at, size_t count) {
  if (count > text.size() || at > text.size() - count) return std::nullopt;
  uint32_t value = 0;
  for (size_t i = at; i < at + count; ++i) {
    if (digit_of(text[i]) < 0) return std::nullopt;
    value = value << 4 | static_cast<uint32_t>(digit_of(text[i]));
  }
  return value;
}

void put_utf8(std::string& to, uint32_t code) {
  const auto tail = [&](int shift) { to += static_cast<char>(0x80 | ((code >> shift) & 0x3F)); };
  if (code < 0x80) {
    to += static_cast<char>(code);
  } else if (code < 0x800) {
    to += static_cast<char>(0xC0 | code >> 6);
    tail(0);
  } else if (code < 0x10000) {
    to += static_cast<char>(0xE0 | code >> 12);
    tail(6);
    tail(0);
  } else {
    to += static_cast<char>(0xF0 | code >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace

bool is_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<uint8_t>(text[i++]);
    if (lead < 0x80) continue;
    const int tails = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
    if (lead < 0xC2 || lead > 0xF4) return false;
    uint32_t code = lead & (0x3Fu >> tails);
    for (int k = 0; k < tails; ++k, ++i) {
      if (i == text.size() || (static_cast<uint8_t>(text[i]) & 0xC0) != 0x80) return false;
      code = code << 6 | (static_cast<uint8_t>(text[i]) & 0x3F);
    }
    // The shortest form only, and no more than there is.
    if (tails == 2 && code < 0x800) return false;
    if (tails == 3 && (code < 0x10000 || code > 0x10FFFF)) return false;
  }
  return true;
}

std::string latin1_to_utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  for (const char c : bytes) put_utf8(text, static_cast<uint8_t>(c));
  return text;
}

std::optional<std::string> utf8_to_latin1(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const auto lead = static_cast<uint8_t>(text[i]);
    if (lead < 0x80) {
      bytes += text[i];
    } else if ((lead == 0xC2 || lead == 0xC3) && i + 1 < text.size()) {
      bytes += static_cast<char>((lead & 3) << 6 | (static_cast<uint8_t>(text[++i]) & 0x3F));
    } else {
      return std::nullopt;
    }
  }
  return bytes;
}

std::optional<std::string> unescaped_unicode(std::string_view line) {
  std::string text;
  for (size_t i = 0; i < line.size(); ++i) {
    const bool escape =
        line[i] == '\\' && i + 1 < line.size() && (line[i + 1] == 'u' || line[i + 1] == 'U');
    if (!escape) {
      put_utf8(text, static_cast<uint8_t>(line[i]));
      continue;
    }
    const size_t count = line[i + 1] == 'u' ? 4 : 8;
    const auto code = hexadecimal(line, i + 2, count);
    if (!code || *code > 0x10FFFF) return std::nullopt;
    put_utf8(text, *code);
    i += 1 + count;
  }
  return text;
}

std::optional<std::string> unquoted(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
  if (line.size() < 2 || (line[0] != '\'' && line[0] != '"') || line.back() != line[0])
    return std::nullopt;
  line = line.substr(1, line.size() - 2);
  std::string text;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\') {
      text += line[i];
      continue;
    }
    if (++i == line.size()) return std::nullopt;
    switch (line[i]) {
    case '\\':
    case '\'':
    case '"': text += line[i]; break;
    case 'a': text += '\a'; break;
    case 'b': text += '\b'; break;
    case 'f': text += '\f'; break;
    case 'n': text += '\n'; break;
    case 'r': text += '\r'; break;
    case 't': text += '\t'; break;
    case 'v': text += '\v'; break;
    case 'x': {
      const auto code = hexadecimal(line, i + 1, 2);
      if (!code) return std::nullopt;
      text += static_cast<char>(*code);
      i += 2;
      break;
    }
    default: {
      int code = 0, digits = 0;
      while (digits < 3 && i < line.size() && line[i] >= '0' && line[i] <= '7') {
        code = code * 8 + (line[i++] - '0');
        ++digits;
      }
      if (digits == 0) return std::nullopt;
      text += static_cast<char>(code);
      --i;
    }
    }
  }
  return text;
}

}  // namespace tenon::serialization
