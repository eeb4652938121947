#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "aten/core/macros.h"

namespace tenon::serialization {

/// A file opened for reading at any offset. Errors name the file.
class InputFile {
 public:
  /// Error "[load] cannot open 'x.pt': No such file or directory".
  explicit InputFile(std::string path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  uint64_t size() const { return size_; }
  /// Fills `data` from `offset` on; Error if the file ends before that.
  void read(uint64_t offset, void* data, size_t bytes) const;

 private:
  std::string path_;
  int descriptor_;
  uint64_t size_;
};

/// A file that appears under its name complete or not at all: what is written goes to a temporary
/// file beside it, which commit() makes durable and renames. Without commit() nothing is left and
/// an older file of that name stays as it was.
class OutputFile {
 public:
  /// Error "[save] Parent directory x does not exist." or the system's reason.
  explicit OutputFile(std::string path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  const std::string& path() const { return path_; }
  /// Bytes written so far.
  uint64_t position() const { return position_; }
  void write(const void* data, size_t bytes);
  void commit();

 private:
  void flush();
  void write_out(const char* data, size_t bytes);
  [[noreturn]] void fail(const char* what) const;

  std::string path_;
  std::string temporary_;
  int descriptor_ = -1;
  uint64_t position_ = 0;
  std::vector<char> buffer_;
};

}  // namespace tenon::serialization
