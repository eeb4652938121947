#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/serialization/io/byte_source.h"

namespace tenon::serialization {

/// Reads bytes in order, from memory or, a window at a time, from a source.
class ByteCursor {
 public:
  /// `name` is what errors call the bytes: "'x.pt': data.pkl".
  ByteCursor(std::string_view bytes, std::string name)
      : name_(std::move(name)), window_(bytes), end_(bytes.size()) {}
  ByteCursor(const ByteSource& source, uint64_t begin, std::string name);

  const std::string& name() const { return name_; }
  /// Of the next byte; in a source, from the source's beginning.
  uint64_t position() const { return window_begin_ + at_; }
  uint64_t left() const { return end_ - position(); }
  /// The next bytes, valid until the next call. Error "unexpected EOF, expected 3 more bytes. The
  /// file might be corrupted."
  std::string_view take(uint64_t bytes);
  /// Bytes up to the end of the line, which is passed over.
  std::string_view take_line();
  template <class T>
  T take_number();
  /// The next bytes, which may be more than a window should hold.
  void read_into(void* data, uint64_t bytes);
  void skip(uint64_t bytes);

 private:
  void check(uint64_t bytes) const;
  void refill(uint64_t bytes);
  [[noreturn]] void fail(const std::string& what) const;

  std::string name_;
  const ByteSource* source_ = nullptr;
  std::string buffer_;
  std::string_view window_;
  uint64_t window_begin_ = 0;
  size_t at_ = 0;
  uint64_t end_;
};

}  // namespace tenon::serialization
