#include "runtime/serialization/printable.h"

#include <cstdint>

#include "aten/core/error.h"

namespace tenon::serialization {
namespace {

constexpr const char* kDigits = "0123456789abcdef";

uint8_t byte_at(std::string_view text, size_t i) { return static_cast<uint8_t>(text[i]); }

bool is_tail(std::string_view text, size_t i) {
  return i < text.size() && (byte_at(text, i) & 0xC0) == 0x80;
}

/// A character of UTF-8 (RFC 3629) and its length in bytes; 1 byte and -1 for what is none.
struct Character {
  size_t bytes;
  int64_t code;
};

Character character_at(std::string_view text, size_t i) {
  constexpr Character kNone{1, -1};
  const uint8_t lead = byte_at(text, i);
  if (lead < 0x80) return {1, lead};
  if (lead < 0xC2 || lead > 0xF4) return kNone;
  const size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  int64_t code = lead & (0x7F >> bytes);
  for (size_t k = 1; k < bytes; ++k) {
    if (!is_tail(text, i + k)) return kNone;
    code = code << 6 | (byte_at(text, i + k) & 0x3F);
  }
  const bool shortest = bytes == 2 || code >= (bytes == 3 ? 0x800 : 0x10000);
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  return shortest && !surrogate && code <= 0x10FFFF ? Character{bytes, code} : kNone;
}

/// Controls, and what changes how other characters are shown: line separators, directions.
bool is_hidden(int64_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || (code >= 0x200B && code <= 0x200F) ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) || code == 0xFEFF;
}

void add_escape(std::string& to, const char* kind, int64_t code, int digits) {
  to += kind;
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) to += kDigits[code >> shift & 15];
}

void escape(std::string& to, std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto [bytes, code] = character_at(text, i);
    if (code == '\n') {
      to += "\\n";
    } else if (code == '\t') {
      to += "\\t";
    } else if (code < 0) {
      add_escape(to, "\\x", byte_at(text, i), 2);
    } else if (is_hidden(code)) {
      add_escape(to, code < 0x80 ? "\\x" : "\\u", code, code < 0x80 ? 2 : 4);
    } else {
      to += text.substr(i, bytes);
    }
    i += bytes;
  }
}

}  // namespace

std::string printable(std::string_view text, size_t most) {
  std::string shown;
  if (text.size() <= most) {
    escape(shown, text);
    return shown;
  }
  // Names are told apart by their ends.
  size_t head = most / 3, tail = text.size() - (most - head);
  while (head > 0 && is_tail(text, head)) --head;
  while (is_tail(text, tail)) ++tail;
  escape(shown, text.substr(0, head));
  shown += tenon::detail::concat("...(", tail - head, " bytes)...");
  escape(shown, text.substr(tail));
  return shown;
}

}  // namespace tenon::serialization
