#include "tests/runtime/hub/zip_bytes.h"

namespace tenon::hub::test {
namespace {

void put(std::string& to, uint64_t number, int bytes) {
  for (int i = 0; i < bytes; ++i) to += static_cast<char>(number >> (8 * i));
}

uint32_t crc32_of(const std::string& data) {
  uint32_t crc = ~0u;
  for (const char c : data) {
    crc ^= static_cast<uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0xEDB88320u : 0u);
  }
  return ~crc;
}

}  // namespace

std::string zip_bytes(const std::vector<ZipEntry>& entries) {
  std::string archive, directory;
  for (const ZipEntry& entry : entries) {
    const auto offset = archive.size();
    // What local header and directory have in common.
    std::string common;
    put(common, 20, 2);
    put(common, entry.flags, 2);
    put(common, entry.method, 2);
    put(common, 0, 4);
    put(common, entry.crc ? entry.crc : crc32_of(entry.data), 4);
    put(common, entry.data.size(), 4);
    put(common, entry.size == UINT32_MAX ? entry.data.size() : entry.size, 4);
    put(common, entry.name.size(), 2);
    put(common, 0, 2);

    put(archive, 0x04034b50, 4);
    archive += common + entry.name + entry.data;

    put(directory, 0x02014b50, 4);
    put(directory, entry.unix_mode ? 0x0314 : 0x0014, 2);
    directory += common;
    put(directory, 0, 6);
    put(directory, static_cast<uint64_t>(entry.unix_mode) << 16, 4);
    put(directory, offset, 4);
    directory += entry.name;
  }
  const auto offset = archive.size();
  archive += directory;
  put(archive, 0x06054b50, 4);
  put(archive, 0, 4);
  put(archive, entries.size(), 2);
  put(archive, entries.size(), 2);
  put(archive, directory.size(), 4);
  put(archive, offset, 4);
  put(archive, 0, 2);
  return archive;
}

}  // namespace tenon::hub::test
