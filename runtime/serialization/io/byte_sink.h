#pragma once

#include <cstddef>
#include <cstdint>
#include <future>
#include <ostream>
#include <string>
#include <vector>

#include "aten/core/macros.h"

namespace tenon::serialization {

/// Where bytes are written, one after the other.
class TENON_API ByteSink {
 public:
  virtual ~ByteSink() = default;
  ByteSink(const ByteSink&) = delete;
  ByteSink& operator=(const ByteSink&) = delete;

  /// What errors call it: "'x.pt'", "a stream".
  const std::string& name() const { return name_; }
  /// Bytes written so far.
  uint64_t position() const { return position_; }

  void write(const void* data, size_t bytes);
  /// write() that also gives the CRC-32 of what it wrote.
  uint32_t write_crc(const void* data, size_t bytes);
  /// Says how long it is going to be, so that a full disk shows before anything is written.
  virtual void reserve(uint64_t /*bytes*/) {}
  /// Ends the writing: what was written is complete, and durable where the sink can be.
  virtual void commit() {}

 protected:
  explicit ByteSink(std::string name) : name_(std::move(name)) {}
  virtual void append(const char* data, size_t bytes) = 0;
  virtual uint32_t append_crc(const char* data, size_t bytes);

  std::string name_;
  uint64_t position_ = 0;
};

/// A file that appears under its name complete or not at all: what is written goes to a temporary
/// file beside it, which commit() makes durable and renames. Without commit() nothing is left and
/// an older file of that name stays as it was. The temporary files of writers that died are
/// removed by the next writer of the same name. Through a symbolic link its target is replaced;
/// a device or a pipe is written directly.
class TENON_API FileSink : public ByteSink {
 public:
  struct Options {
    /// Whether commit() waits until the bytes are on the disk. Without it a crash of the machine,
    /// though not of the program, may lose the file.
    bool durable = true;
  };

  /// OSError "[save] Parent directory x does not exist.", or the system's reason.
  explicit FileSink(const std::string& path) : FileSink(path, Options()) {}
  FileSink(const std::string& path, Options options);
  ~FileSink() override;

  void reserve(uint64_t bytes) override;
  void commit() override;

 private:
  void open_temporary();
  void append(const char* data, size_t bytes) override;
  uint32_t append_crc(const char* data, size_t bytes) override;
  void flush();
  void write_out(const char* data, size_t bytes);
  void start_writeback();
  bool may_have_space_now();
  void discard() noexcept;
  [[noreturn]] void fail(const char* what) const;

  std::string path_;
  std::string temporary_;  // empty: written directly
  Options options_;
  int descriptor_ = -1;
  uint64_t flushed_ = 0;
  uint64_t reserved_ = 0;
  uint64_t freed_seen_ = 0;      // files, by ReplacedFile
  uint64_t on_their_way_ = 0;    // bytes that the system was told to bring to the disk
  std::future<void> writeback_;  // tells it
  std::vector<char> buffer_;
};

/// A stream, from its current position on.
class TENON_API StreamSink : public ByteSink {
 public:
  explicit StreamSink(std::ostream& stream, std::string name = "a stream")
      : ByteSink(std::move(name)), stream_(stream) {}

  /// Flushes the stream.
  void commit() override;

 private:
  void append(const char* data, size_t bytes) override;
  void check() const;

  std::ostream& stream_;
};

/// A string that grows.
class TENON_API MemorySink : public ByteSink {
 public:
  explicit MemorySink(std::string name = "a buffer") : ByteSink(std::move(name)) {}

  const std::string& bytes() const& { return bytes_; }
  std::string bytes() && { return std::move(bytes_); }
  void reserve(uint64_t bytes) override { bytes_.reserve(bytes); }

 private:
  void append(const char* data, size_t bytes) override { bytes_.append(data, bytes); }

  std::string bytes_;
};

}  // namespace tenon::serialization
