#include "runtime/serialization/io/byte_source.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <vector>

#include "aten/core/error.h"
#include "runtime/serialization/io/crc32.h"

namespace tenon::serialization {

void ByteSource::check(uint64_t offset, size_t bytes) const {
  TENON_CHECK(offset <= size_ && bytes <= size_ - offset, "[load] ", name_,
              ": unexpected EOF, expected ", bytes, " bytes at byte ", offset, " of ", size_,
              ". The file might be corrupted.");
}

void ByteSource::read(uint64_t offset, void* data, size_t bytes) const {
  check(offset, bytes);
  if (bytes > 0) fetch(offset, static_cast<char*>(data), bytes);
}

uint32_t ByteSource::read_crc(uint64_t offset, void* data, size_t bytes) const {
  check(offset, bytes);
  uint32_t crc = 0;
  for (auto* to = static_cast<char*>(data); bytes > 0;) {
    const size_t n = std::min(bytes, kCrcChunk);
    fetch(offset, to, n);
    crc = crc32(crc, to, n);
    offset += n, to += n, bytes -= n;
  }
  return crc;
}

uint32_t ByteSource::crc(uint64_t offset, size_t bytes) const {
  check(offset, bytes);
  if (data_) return crc32(0, data_ + offset, bytes);
  std::vector<char> buffer(std::min(bytes, kCrcChunk));
  uint32_t crc = 0;
  while (bytes > 0) {
    const size_t n = std::min(bytes, buffer.size());
    fetch(offset, buffer.data(), n);
    crc = crc32(crc, buffer.data(), n);
    offset += n, bytes -= n;
  }
  return crc;
}

MemorySource::MemorySource(std::string_view bytes, std::string name) : ByteSource(std::move(name)) {
  data_ = bytes.data();
  size_ = bytes.size();
}

void MemorySource::fetch(uint64_t offset, char* data, size_t bytes) const {
  std::memcpy(data, data_ + offset, bytes);
}

StreamSource::StreamSource(std::istream& stream, std::string name)
    : ByteSource(std::move(name)), stream_(stream), start_(stream.tellg()) {
  if (start_ >= 0 && stream_.seekg(0, std::ios::end)) {
    size_ = static_cast<uint64_t>(stream_.tellg() - start_);
    stream_.seekg(start_);
    return;
  }
  stream_.clear(stream_.rdstate() & ~std::ios::failbit);
  copy_.assign(std::istreambuf_iterator<char>(stream_), {});
  TENON_CHECK(!stream_.bad(), "[load] cannot read from ", name_);
  data_ = copy_.data();
  size_ = copy_.size();
}

void StreamSource::fetch(uint64_t offset, char* data, size_t bytes) const {
  if (data_) {
    std::memcpy(data, data_ + offset, bytes);
    return;
  }
  const std::lock_guard lock(mutex_);
  stream_.clear();
  stream_.seekg(start_ + static_cast<std::streamoff>(offset));
  stream_.read(data, static_cast<std::streamsize>(bytes));
  TENON_CHECK(stream_, "[load] cannot read ", bytes, " bytes of ", name_, " at byte ", offset);
}

}  // namespace tenon::serialization
