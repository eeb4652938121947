#include "runtime/hub/hash_prefix.h"

#include <algorithm>
#include <cctype>

#include "aten/core/error.h"

namespace tenon::hub {
namespace {

constexpr size_t kShortest = 8, kLongest = 64;
constexpr const char* kDigits = "0123456789abcdef";

}  // namespace

std::string checked_hash_prefix(std::string_view prefix) {
  std::string lower(prefix);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  TENON_CHECK_VALUE(lower.size() >= kShortest && lower.size() <= kLongest &&
                        lower.find_first_not_of(kDigits) == std::string::npos,
                    "[hub] a hash prefix must have ", kShortest, " to ", kLongest,
                    " hexadecimal digits, got \"", prefix, '"');
  return lower;
}

std::string hash_prefix_in(std::string_view file_name) {
  std::string found;
  for (size_t dash = file_name.find('-'); dash != std::string_view::npos;
       dash = file_name.find('-', dash + 1)) {
    const std::string_view rest = file_name.substr(dash + 1);
    const size_t end = rest.find_first_not_of(kDigits);
    if (end != std::string_view::npos && rest[end] == '.' && end >= kShortest)
      found = rest.substr(0, end);
  }
  return found;
}

}  // namespace tenon::hub
