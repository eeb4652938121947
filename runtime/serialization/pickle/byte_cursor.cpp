#include "runtime/serialization/pickle/byte_cursor.h"

#include <algorithm>
#include <cstring>

#include "aten/core/error.h"
#include "runtime/serialization/zip/zip_format.h"

namespace tenon::serialization {
namespace {

constexpr uint64_t kWindow = 64 * 1024;
/// Lines hold numbers and names.
constexpr uint64_t kMaxLine = 16 * 1024;

}  // namespace

ByteCursor::ByteCursor(const ByteSource& source, uint64_t begin, std::string name)
    : name_(std::move(name)), source_(&source), window_begin_(begin), end_(source.size()) {}

void ByteCursor::fail(const std::string& what) const {
  tenon::detail::raise<Error>("[load] ", name_, " at byte ", position(), ": ", what);
}

void ByteCursor::refill(uint64_t bytes) {
  window_begin_ += at_;
  at_ = 0;
  buffer_.resize(std::min(std::max(bytes, kWindow), end_ - window_begin_));
  source_->read(window_begin_, buffer_.data(), buffer_.size());
  window_ = buffer_;
}

void ByteCursor::check(uint64_t bytes) const {
  if (bytes <= left()) return;
  fail("unexpected EOF, expected " + std::to_string(bytes - left()) +
       " more bytes. The file might be corrupted.");
}

void ByteCursor::skip(uint64_t bytes) {
  check(bytes);
  if (bytes <= window_.size() - at_) {
    at_ += bytes;
  } else {
    window_begin_ = position() + bytes;
    window_ = {};
    at_ = 0;
  }
}

void ByteCursor::read_into(void* data, uint64_t bytes) {
  check(bytes);
  const size_t buffered = std::min<uint64_t>(bytes, window_.size() - at_);
  if (buffered > 0) std::memcpy(data, window_.data() + at_, buffered);
  if (bytes > buffered)
    source_->read(position() + buffered, static_cast<char*>(data) + buffered, bytes - buffered);
  skip(bytes);
}

std::string_view ByteCursor::take(uint64_t bytes) {
  check(bytes);
  if (bytes > window_.size() - at_) refill(bytes);
  const std::string_view taken = window_.substr(at_, bytes);
  at_ += bytes;
  return taken;
}

template <class T>
T ByteCursor::take_number() {
  return zip::get<T>(take(sizeof(T)).data());
}
template uint8_t ByteCursor::take_number();
template uint16_t ByteCursor::take_number();
template uint32_t ByteCursor::take_number();
template uint64_t ByteCursor::take_number();
template int32_t ByteCursor::take_number();

std::string_view ByteCursor::take_line() {
  size_t end = window_.find('\n', at_);
  if (end == window_.npos && source_) {
    refill(std::min(kMaxLine, left()));
    end = window_.find('\n');
  }
  if (end == window_.npos || end - at_ > kMaxLine)
    fail("unexpected EOF within a line. The file might be corrupted.");
  const std::string_view line = window_.substr(at_, end - at_);
  at_ = end + 1;
  return line;
}

}  // namespace tenon::serialization
