#pragma once

#include <string>
#include <string_view>

namespace tenon::hub {

/// The prefix of a SHA-256 digest in lower case. ValueError unless it has 8 to 64 hexadecimal
/// digits: what is shorter can be met by chance.
std::string checked_hash_prefix(std::string_view prefix);

/// The prefix in a file name such as "lenet-0123abcd.pt": the last run of at least eight lower-case
/// hexadecimal digits between "-" and ".". Empty if there is none.
std::string hash_prefix_in(std::string_view file_name);

}  // namespace tenon::hub
