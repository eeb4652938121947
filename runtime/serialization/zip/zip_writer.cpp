#include "runtime/serialization/zip/zip_writer.h"

#include <cstdio>
#include <limits>

#include "aten/core/error.h"
#include "runtime/serialization/io/crc32.h"
#include "runtime/serialization/zip/zip_deflate.h"
#include "runtime/serialization/zip/zip_format.h"

namespace tenon::serialization {
namespace {

using zip::put;

bool large(uint64_t n) { return n >= zip::kIn64; }
uint32_t in32(uint64_t n) { return large(n) ? zip::kIn64 : static_cast<uint32_t>(n); }
uint16_t flags_of(uint64_t bytes) {
  return bytes > 0 ? zip::kUtf8Names | zip::kHasDescriptor : zip::kUtf8Names;
}

/// The extra field that holds what 32 bits cannot; empty if nothing needs it.
std::string zip64_field(bool large_sizes, uint64_t bytes, uint64_t packed, uint64_t offset) {
  std::string body;
  if (large_sizes) {
    put<uint64_t>(body, bytes);
    put<uint64_t>(body, packed);
  }
  if (large(offset)) put<uint64_t>(body, offset);
  std::string field;
  if (!body.empty()) {
    put<uint16_t>(field, zip::kZip64Field);
    put<uint16_t>(field, static_cast<uint16_t>(body.size()));
    field += body;
  }
  return field;
}

}  // namespace

void ZipWriter::reserve(size_t records, uint64_t bytes) {
  // Headers, descriptor and padding of a record with a name of usual length.
  constexpr uint64_t kAround = 256;
  sink_.reserve(sink_.position() + bytes + (records + 1) * kAround);
}

void ZipWriter::add(std::string_view name, const void* data, uint64_t bytes, int level) {
  const bool deflated = level != 0 && bytes > 0;
  Entry entry{archive_ + "/" + std::string(name),      sink_.position() - base_, bytes, bytes, 0,
              deflated ? zip::kDeflated : zip::kStored};
  TENON_CHECK(entry.name.size() <= std::numeric_limits<uint16_t>::max(),
              "[save] a record's name is too long: ", entry.name.size(), " bytes");
  // Deflated data that do not shrink grow by less than this: five bytes for each 16 KiB.
  const uint64_t most = deflated ? bytes + bytes / 1024 + 64 : bytes;
  // The packed size is left 0, as PyTorch does: the descriptor and the directory have it.
  std::string extra = zip64_field(large(most), bytes, 0, entry.offset);
  const bool wide = !extra.empty();
  const uint64_t unpadded =
      entry.offset + zip::kLocalHeaderBytes + entry.name.size() + extra.size() + 4;
  const uint64_t padding = (zip::kAlignment - unpadded % zip::kAlignment) % zip::kAlignment;
  put<uint16_t>(extra, zip::kPaddingField);
  put<uint16_t>(extra, static_cast<uint16_t>(padding));
  extra.append(padding, 'Z');

  std::string header;
  put<uint32_t>(header, zip::kLocalHeader);
  put<uint16_t>(header, 0);  // version needed
  put<uint16_t>(header, flags_of(bytes));
  put<uint16_t>(header, entry.method);
  put<uint32_t>(header, 0);  // time and date
  header.append(12, '\0');   // CRC and sizes follow the data
  put<uint16_t>(header, static_cast<uint16_t>(entry.name.size()));
  put<uint16_t>(header, static_cast<uint16_t>(extra.size()));
  header += entry.name;
  header += extra;
  sink_.write(header.data(), header.size());
  if (bytes > 0) {
    if (deflated) {
      entry.crc = crc32(0, data, bytes);
      entry.packed = zip::deflate(sink_, data, bytes, level);
    } else {
      entry.crc = sink_.write_crc(data, bytes);
    }
    std::string descriptor;
    put<uint32_t>(descriptor, zip::kDescriptor);
    put<uint32_t>(descriptor, entry.crc);
    for (const uint64_t size : {entry.packed, entry.bytes}) {
      wide ? put<uint64_t>(descriptor, size)
           : put<uint32_t>(descriptor, static_cast<uint32_t>(size));
    }
    sink_.write(descriptor.data(), descriptor.size());
  }
  entries_.push_back(std::move(entry));
}

std::string ZipWriter::digest() const {
  uint64_t names = 0xcbf29ce484222325ull;  // FNV-1a
  uint32_t contents = 0;
  for (const Entry& entry : entries_) {
    for (const char c : entry.name) names = (names ^ static_cast<uint8_t>(c)) * 0x100000001b3ull;
    contents = crc32(contents, &entry.crc, sizeof(entry.crc));
  }
  char text[48];
  std::snprintf(text, sizeof(text), "%020llu%020llu", static_cast<unsigned long long>(names),
                static_cast<unsigned long long>(contents));
  return text;
}

void ZipWriter::finish() {
  const uint64_t directory = sink_.position() - base_;
  std::string out;
  for (const Entry& entry : entries_) {
    const bool large_sizes = large(entry.bytes) || large(entry.packed);
    const std::string extra = zip64_field(large_sizes, entry.bytes, entry.packed, entry.offset);
    put<uint32_t>(out, zip::kCentralEntry);
    put<uint32_t>(out, 0);  // versions made by and needed
    put<uint16_t>(out, flags_of(entry.bytes));
    put<uint16_t>(out, entry.method);
    put<uint32_t>(out, 0);  // time and date
    put<uint32_t>(out, entry.crc);
    put<uint32_t>(out, large_sizes ? zip::kIn64 : static_cast<uint32_t>(entry.packed));
    put<uint32_t>(out, large_sizes ? zip::kIn64 : static_cast<uint32_t>(entry.bytes));
    put<uint16_t>(out, static_cast<uint16_t>(entry.name.size()));
    put<uint16_t>(out, static_cast<uint16_t>(extra.size()));
    out.append(10, '\0');  // comment, disk, attributes
    put<uint32_t>(out, in32(entry.offset));
    out += entry.name;
    out += extra;
  }
  const uint64_t directory_bytes = out.size();
  const uint64_t end64 = directory + directory_bytes;
  const uint64_t count = entries_.size();
  put<uint32_t>(out, zip::kEnd64);
  put<uint64_t>(out, zip::kEnd64Bytes - 12);
  put<uint16_t>(out, 0x031E);  // version made by
  put<uint16_t>(out, 0x2D);    // version needed
  put<uint64_t>(out, 0);       // disks
  put<uint64_t>(out, count);
  put<uint64_t>(out, count);
  put<uint64_t>(out, directory_bytes);
  put<uint64_t>(out, directory);
  put<uint32_t>(out, zip::kEnd64Locator);
  put<uint32_t>(out, 0);
  put<uint64_t>(out, end64);
  put<uint32_t>(out, 1);
  const auto count16 = static_cast<uint16_t>(count < 0xFFFF ? count : 0xFFFF);
  put<uint32_t>(out, zip::kEnd);
  put<uint32_t>(out, 0);
  put<uint16_t>(out, count16);
  put<uint16_t>(out, count16);
  put<uint32_t>(out, in32(directory_bytes));
  put<uint32_t>(out, in32(directory));
  put<uint16_t>(out, 0);
  sink_.write(out.data(), out.size());
}

}  // namespace tenon::serialization
