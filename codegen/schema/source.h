#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::schema {

/// Half-open byte range [begin, end) of the text that was parsed.
struct Span {
  uint32_t begin = 0;
  uint32_t end = 0;
};

/// What is wrong with a text, and where. `suggestion` is the nearest valid spelling, or empty.
struct ParseError {
  Span span;
  std::string message;
  std::string suggestion;
};

/// "column N: message; did you mean 'x'?", the text, and a caret below the place. For the run-time
/// library, which has no file to cite.
std::string format_error(std::string_view text, const ParseError& error);

}  // namespace tenon::schema
