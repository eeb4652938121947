#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/serialization/io/byte_sink.h"

namespace tenon::serialization {

/// Writes an archive in PyTorch's layout: records whose data begin at multiples of 64 bytes from
/// the archive's beginning, which is where the sink stands.
class TENON_API ZipWriter {
 public:
  /// Records are named "<archive>/<name>".
  ZipWriter(ByteSink& sink, std::string archive)
      : sink_(sink), base_(sink.position()), archive_(std::move(archive)) {}

  /// Says how much is going to be added, so that a full disk shows before anything is written.
  void reserve(size_t records, uint64_t bytes);
  /// Adds a record, stored or, with a `level` of 1 to 9, deflated. An empty one is always stored.
  void add(std::string_view name, const void* data, uint64_t bytes, int level = 0);
  void add(std::string_view name, std::string_view text) { add(name, text.data(), text.size()); }
  /// Writes the directory. Nothing may be added after it.
  void finish();
  /// Digest of names and contents so far, 40 decimal digits.
  std::string digest() const;

 private:
  struct Entry {
    std::string name;
    uint64_t offset;
    uint64_t bytes;
    uint64_t packed;
    uint32_t crc;
    uint16_t method;
  };

  ByteSink& sink_;
  uint64_t base_;
  std::string archive_;
  std::vector<Entry> entries_;
};

}  // namespace tenon::serialization
