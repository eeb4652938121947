#include "runtime/serialization/io/byte_sink.h"

#include <algorithm>

#include "aten/core/error.h"
#include "runtime/serialization/io/crc32.h"

namespace tenon::serialization {
void ByteSink::write(const void* data, size_t bytes) {
  if (bytes == 0) return;
  append(static_cast<const char*>(data), bytes);
  position_ += bytes;
}

uint32_t ByteSink::write_crc(const void* data, size_t bytes) {
  if (bytes == 0) return 0;
  const uint32_t crc = append_crc(static_cast<const char*>(data), bytes);
  position_ += bytes;
  return crc;
}

uint32_t ByteSink::append_crc(const char* data, size_t bytes) {
  uint32_t crc = 0;
  for (size_t at = 0; at < bytes; at += kCrcChunk) {
    const size_t n = std::min(kCrcChunk, bytes - at);
    crc = crc32(crc, data + at, n);
    append(data + at, n);
  }
  return crc;
}

void StreamSink::check() const {
  TENON_CHECK(stream_, "[save] cannot write to ", name_, " at byte ", position_);
}

void StreamSink::append(const char* data, size_t bytes) {
  stream_.write(data, static_cast<std::streamsize>(bytes));
  check();
}

void StreamSink::commit() {
  stream_.flush();
  check();
}

}  // namespace tenon::serialization
