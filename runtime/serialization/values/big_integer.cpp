#include "runtime/serialization/values/big_integer.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "aten/core/error.h"

namespace tenon::serialization::big_integer {
namespace {

/// As many digits at a time as 32 bits hold.
constexpr size_t kChunk = 9;
constexpr std::array<uint32_t, kChunk + 1> kPowers = {
    1, 10, 100, 1'000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000, 1'000'000'000};

uint8_t byte_of(std::string_view bytes, size_t i) { return static_cast<uint8_t>(bytes[i]); }

bool is_negative(std::string_view bytes) {
  return !bytes.empty() && (byte_of(bytes, bytes.size() - 1) & 0x80);
}

void negate(std::string& bytes) {
  unsigned carry = 1;
  for (char& c : bytes) {
    carry += static_cast<uint8_t>(~static_cast<uint8_t>(c));
    c = static_cast<char>(carry);
    carry >>= 8;
  }
}

/// Decimal digits of a magnitude.
std::string decimal(std::string_view bytes) {
  std::vector<uint32_t> words((bytes.size() + 3) / 4);
  for (size_t i = 0; i < bytes.size(); ++i)
    words[i / 4] |= static_cast<uint32_t>(byte_of(bytes, i)) << (8 * (i % 4));
  std::string digits;  // the last one first
  while (!words.empty() && words.back() == 0) words.pop_back();
  while (!words.empty()) {
    uint64_t rest = 0;
    for (size_t i = words.size(); i-- > 0;) {
      rest = rest << 32 | words[i];
      words[i] = static_cast<uint32_t>(rest / kPowers[kChunk]);
      rest %= kPowers[kChunk];
    }
    for (size_t i = 0; i < kChunk; ++i, rest /= 10) digits += static_cast<char>('0' + rest % 10);
    while (!words.empty() && words.back() == 0) words.pop_back();
  }
  while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
  std::reverse(digits.begin(), digits.end());
  return digits.empty() ? "0" : digits;
}

std::string hexadecimal(std::string_view bytes) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string digits;
  for (size_t i = bytes.size(); i-- > 0;) {
    digits += kDigits[byte_of(bytes, i) >> 4];
    digits += kDigits[byte_of(bytes, i) & 15];
  }
  return "0x" + digits.substr(std::min(digits.find_first_not_of('0'), digits.size() - 1));
}

}  // namespace

std::string_view shortest(std::string_view bytes) {
  while (!bytes.empty()) {
    const bool sign = bytes.size() > 1 && (byte_of(bytes, bytes.size() - 2) & 0x80);
    if (byte_of(bytes, bytes.size() - 1) != (sign ? 0xFF : 0x00)) break;
    bytes.remove_suffix(1);
  }
  return bytes;
}

std::string of_decimal(std::string_view text) {
  const bool negative = !text.empty() && text.front() == '-';
  std::string_view digits = text.substr(negative || (!text.empty() && text.front() == '+'));
  TENON_CHECK_VALUE(!digits.empty() && digits.find_first_not_of("0123456789") == digits.npos,
                    "not an integer: '", text.substr(0, 40), "'");
  TENON_CHECK_VALUE(digits.size() <= kMaxDigits, "an integer has ", digits.size(),
                    " digits, more than ", kMaxDigits);
  std::vector<uint32_t> words;
  while (!digits.empty()) {
    const std::string_view chunk = digits.substr(0, kChunk);
    digits.remove_prefix(chunk.size());
    uint64_t carry = 0;
    for (const char digit : chunk) carry = carry * 10 + static_cast<uint64_t>(digit - '0');
    for (uint32_t& word : words) {
      carry += uint64_t{kPowers[chunk.size()]} * word;
      word = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
    if (carry > 0) words.push_back(static_cast<uint32_t>(carry));
  }
  std::string bytes;
  for (const uint32_t word : words)
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(word >> shift);
  bytes += '\0';
  if (negative) negate(bytes);
  bytes.resize(shortest(bytes).size());
  return bytes;
}

std::string to_text(std::string_view bytes, size_t most) {
  // A byte has 2 hexadecimal or 2.4 decimal digits.
  if (bytes.size() > most / 2) return tenon::detail::concat("<int of ", bytes.size(), " bytes>");
  std::string magnitude(bytes);
  const bool negative = is_negative(bytes);
  if (negative) {
    magnitude += '\xff';  // the magnitude of the least number of its length is one bit longer
    negate(magnitude);
  }
  return (negative ? "-" : "") +
         (bytes.size() > kMaxDecimalBytes ? hexadecimal(magnitude) : decimal(magnitude));
}

}  // namespace tenon::serialization::big_integer
