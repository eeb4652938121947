#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "runtime/serialization/io/byte_sink.h"
#include "runtime/serialization/io/byte_source.h"

namespace tenon::serialization::zip {

/// What `bytes` of deflated data can at most become (RFC 1951: 258 bytes of a match take two bits).
inline constexpr uint64_t kMaxInflation = 1032;

/// Whether the library was built with zlib. Without it deflate() and inflate() throw.
bool has_deflate();

/// Writes `data` deflated (raw, without a header) at zlib's `level` of 1 to 9 and gives the number
/// of bytes written.
uint64_t deflate(ByteSink& sink, const void* data, uint64_t bytes, int level);

/// Inflates the `packed` bytes at `offset` to exactly `bytes`. Error if they are damaged, become
/// more or fewer bytes, end early, or are followed by others; its text begins with `what`.
void inflate(const ByteSource& source, uint64_t offset, uint64_t packed, void* data, uint64_t bytes,
             const std::string& what);
/// The same, handed on a piece at a time.
void inflate(const ByteSource& source, uint64_t offset, uint64_t packed, uint64_t bytes,
             const std::function<void(const char* data, size_t bytes)>& take,
             const std::string& what);

}  // namespace tenon::serialization::zip
