// Ints of any size.
#include <algorithm>

#include "runtime/serialization/value_node.h"
#include "runtime/serialization/zip_format.h"

namespace tenon::serialization {
namespace {

/// Conversion takes time that grows with the square of the length; Python has the same limit.
constexpr size_t kMaxDigits = 4300;

uint8_t byte_of(const std::string& bytes, size_t i) { return static_cast<uint8_t>(bytes[i]); }

/// Drops bytes that only repeat the sign.
void shorten(std::string& bytes) {
  while (!bytes.empty()) {
    const bool sign = bytes.size() > 1 && (byte_of(bytes, bytes.size() - 2) & 0x80);
    if (byte_of(bytes, bytes.size() - 1) != (sign ? 0xFF : 0x00)) return;
    bytes.pop_back();
  }
}

void negate(std::string& bytes) {
  unsigned carry = 1;
  for (char& c : bytes) {
    carry += static_cast<uint8_t>(~static_cast<uint8_t>(c));
    c = static_cast<char>(carry);
    carry >>= 8;
  }
}

}  // namespace

Value Value::int_of_bytes(std::string_view bytes) {
  std::string text(bytes);
  shorten(text);
  if (text.size() > 8) return {Kind::Int, std::make_shared<detail::TextNode>(std::move(text))};
  const bool negative = !text.empty() && (byte_of(text, text.size() - 1) & 0x80);
  text.resize(8, negative ? '\xff' : '\0');
  return {Kind::Int, zip::get<int64_t>(text.data())};
}

Value Value::large(uint64_t v) {
  std::string bytes;
  zip::put<uint64_t>(bytes, v);
  return int_of_bytes(bytes + '\0');
}

std::string Value::int_bytes() const {
  TENON_CHECK_TYPE(is_int(), "expected an int, got ", description());
  if (node_) return static_cast<detail::TextNode&>(*node_).text;
  std::string bytes;
  zip::put<int64_t>(bytes, int_);
  shorten(bytes);
  return bytes;
}

Value Value::int_of_decimal(std::string_view text) {
  const bool negative = !text.empty() && text.front() == '-';
  std::string_view digits = text.substr(negative || (!text.empty() && text.front() == '+'));
  TENON_CHECK_VALUE(!digits.empty() && digits.find_first_not_of("0123456789") == digits.npos,
                    "not an integer: '", text.substr(0, 40), "'");
  TENON_CHECK_VALUE(digits.size() <= kMaxDigits, "an integer has ", digits.size(),
                    " digits, more than ", kMaxDigits);
  std::string bytes;
  for (const char digit : digits) {
    unsigned carry = static_cast<unsigned>(digit - '0');
    for (char& c : bytes) {
      carry += 10u * static_cast<uint8_t>(c);
      c = static_cast<char>(carry);
      carry >>= 8;
    }
    if (carry > 0) bytes += static_cast<char>(carry);
  }
  bytes += '\0';
  if (negative) negate(bytes);
  return int_of_bytes(bytes);
}

namespace detail {

std::string printed_int(const Value& value) {
  if (value.fits_int64()) return std::to_string(value.to_int());
  std::string bytes = value.int_bytes();
  const bool negative = byte_of(bytes, bytes.size() - 1) & 0x80;
  if (negative) negate(bytes);
  std::string digits;
  if (bytes.size() > 1024) {
    for (const char c : bytes) {
      digits += "0123456789abcdef"[static_cast<uint8_t>(c) & 15];
      digits += "0123456789abcdef"[static_cast<uint8_t>(c) >> 4];
    }
    while (digits.back() == '0') digits.pop_back();
    digits += "x0";
  } else {
    while (!bytes.empty()) {
      unsigned rest = 0;
      for (size_t i = bytes.size(); i-- > 0;) {
        rest = rest << 8 | byte_of(bytes, i);
        bytes[i] = static_cast<char>(rest / 10);
        rest %= 10;
      }
      digits += static_cast<char>('0' + rest);
      while (!bytes.empty() && bytes.back() == '\0') bytes.pop_back();
    }
  }
  if (negative) digits += '-';
  std::reverse(digits.begin(), digits.end());
  return digits;
}

}  // namespace detail
}  // namespace tenon::serialization
