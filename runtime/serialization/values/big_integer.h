#pragma once

#include <string>
#include <string_view>

/// Integers of any size, as pickles hold them: in two's complement, the least significant byte
/// first.
namespace tenon::serialization::big_integer {

/// The longest decimal text that is read: as conversion takes time that grows with the square of
/// the length, Python has the same limit.
inline constexpr size_t kMaxDigits = 4300;

/// The shortest form: without bytes that only repeat the sign, and empty for 0.
std::string_view shortest(std::string_view bytes);
/// The bytes of decimal digits with an optional sign. ValueError for other text, and for more than
/// kMaxDigits.
std::string of_decimal(std::string_view text);
/// Decimal digits; hexadecimal ones for more than kMaxDecimalBytes; "<int of 5000000 bytes>" for
/// what takes more than `most` characters.
std::string to_text(std::string_view bytes, size_t most);
inline constexpr size_t kMaxDecimalBytes = 1024;

}  // namespace tenon::serialization::big_integer
