#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace tenon::codegen {

/// Stops the fuzzer on what is no crash and yet wrong.
inline void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "fuzz: %s\n", what);
  std::abort();
}

inline std::string as_text(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace tenon::codegen
