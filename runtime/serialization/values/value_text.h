#pragma once

#include <string>

#include "runtime/serialization/values/value.h"

namespace tenon::serialization {

/// The text that operator<< writes, in time and memory of about `most` bytes: what is longer is cut
/// and ends with "...".
TENON_API std::string text_of(const Value& value, size_t most);

}  // namespace tenon::serialization
