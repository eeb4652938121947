#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <mutex>
#include <string>
#include <string_view>

#include "aten/core/macros.h"

namespace tenon::serialization {

/// Bytes that can be read at any offset, by several threads at once.
class TENON_API ByteSource {
 public:
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// What errors call it: "'x.pt'", "a buffer".
  const std::string& name() const { return name_; }
  uint64_t size() const { return size_; }
  /// All bytes, where they lie in memory anyway; else nullptr.
  const char* data() const { return data_; }

  /// Fills `data` from `offset` on. Error "unexpected EOF" if that reaches past the end, OSError if
  /// the system cannot read.
  void read(uint64_t offset, void* data, size_t bytes) const;
  /// read() that also gives the CRC-32 of what it read.
  uint32_t read_crc(uint64_t offset, void* data, size_t bytes) const;
  /// The CRC-32 of bytes that nobody keeps.
  uint32_t crc(uint64_t offset, size_t bytes) const;

 protected:
  explicit ByteSource(std::string name) : name_(std::move(name)) {}
  /// read() within the bounds.
  virtual void fetch(uint64_t offset, char* data, size_t bytes) const = 0;

  std::string name_;
  uint64_t size_ = 0;
  const char* data_ = nullptr;

 private:
  void check(uint64_t offset, size_t bytes) const;
};

/// A regular file.
class TENON_API FileSource : public ByteSource {
 public:
  /// OSError "[load] cannot open 'x.pt': No such file or directory"; Error for what is no regular
  /// file.
  explicit FileSource(const std::string& path);
  ~FileSource() override;

 private:
  void fetch(uint64_t offset, char* data, size_t bytes) const override;

  int descriptor_;
};

/// Memory that outlives the source.
class TENON_API MemorySource : public ByteSource {
 public:
  explicit MemorySource(std::string_view bytes, std::string name = "a buffer");

 private:
  void fetch(uint64_t offset, char* data, size_t bytes) const override;
};

/// What a stream holds from its current position on. A stream that cannot seek is read into memory.
/// The stream is used while the source lives, and its position is not kept.
class TENON_API StreamSource : public ByteSource {
 public:
  explicit StreamSource(std::istream& stream, std::string name = "a stream");

 private:
  void fetch(uint64_t offset, char* data, size_t bytes) const override;

  std::istream& stream_;
  std::streamoff start_;
  std::string copy_;
  mutable std::mutex mutex_;
};

/// A file mapped into memory: nothing is read before it is touched.
class TENON_API MappedSource : public ByteSource {
 public:
  enum class Mode : uint8_t {
    Private,  ///< what is written to the memory stays in this process
    Shared,   ///< what is written to the memory is written to the file
  };

  /// Errors as FileSource's; Shared needs the right to write to the file.
  explicit MappedSource(const std::string& path, Mode mode = Mode::Private);
  ~MappedSource() override;

  /// The mapping; nullptr for an empty file.
  char* mutable_data() const { return static_cast<char*>(mapping_); }

 private:
  void fetch(uint64_t offset, char* data, size_t bytes) const override;

  void* mapping_ = nullptr;
};

}  // namespace tenon::serialization
