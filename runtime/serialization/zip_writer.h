#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/serialization/file.h"

namespace tenon::serialization {

/// Writes an archive in PyTorch's layout: stored records whose data begin at multiples of 64 bytes.
class ZipWriter {
 public:
  /// Records are named "<archive>/<name>".
  ZipWriter(OutputFile& file, std::string archive) : file_(file), archive_(std::move(archive)) {}

  void add(std::string_view name, const void* data, size_t bytes);
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
    uint32_t crc;
  };

  OutputFile& file_;
  std::string archive_;
  std::vector<Entry> entries_;
};

}  // namespace tenon::serialization
