// libFuzzer target: safetensors files. An even first byte is followed by a file, an odd one by the
// number of data bytes in two bytes and the header, to which the rest is added so that it is read.
#include <cstring>

#include "runtime/serialization/io/byte_source.h"
#include "runtime/serialization/safetensors/safetensors_header.h"

using namespace tenon;
using namespace tenon::serialization;

namespace {

std::string file_of(const uint8_t* data, size_t size) {
  const std::string rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 0 || rest.size() < 2) return rest;
  uint16_t data_bytes;
  std::memcpy(&data_bytes, rest.data(), sizeof(data_bytes));
  const uint64_t length = rest.size() - sizeof(data_bytes);
  std::string file(reinterpret_cast<const char*>(&length), sizeof(length));
  file.append(rest, sizeof(data_bytes));
  for (int i = 0; i < data_bytes; ++i) file += static_cast<char>(i);
  return file;
}

/// What is listed can be printed, and lists the same when it is read again.
void check_printed(const SafetensorsFile& file, uint64_t begin, uint64_t bytes) {
  auto entries = file.entries();
  for (auto& entry : entries) entry.offset -= begin;
  SafetensorsMetadata metadata;
  const auto again = parse_safetensors_header(print_safetensors_header(entries, file.metadata()),
                                              bytes, "again: ", metadata);
  if (metadata != file.metadata() || again.size() != entries.size()) __builtin_trap();
  for (const auto& entry : entries) {
    const auto same = [&](const SafetensorsFile::Entry& other) {
      return other.name == entry.name && other.dtype == entry.dtype && other.shape == entry.shape &&
             other.offset == entry.offset && other.bytes == entry.bytes;
    };
    if (std::none_of(again.begin(), again.end(), same)) __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string bytes = file_of(data, size);
  try {
    const SafetensorsFile file(std::make_shared<MemorySource>(bytes));
    uint64_t length;
    std::memcpy(&length, bytes.data(), sizeof(length));
    check_printed(file, sizeof(length) + length, bytes.size() - sizeof(length) - length);
    for (const auto& entry : file.entries()) {
      try {
        const Tensor t = file.tensor(entry.name);
        if (t.nbytes() != entry.bytes || !t.is_contiguous()) __builtin_trap();
        if (entry.bytes > 0 &&
            std::memcmp(t.const_data_ptr(), bytes.data() + entry.offset, entry.bytes) != 0)
          __builtin_trap();
      } catch (const NotImplementedError&) {  // of a dtype that there is not
      }
    }
    try {
      if (file.tensors().size() != file.entries().size()) __builtin_trap();
    } catch (const NotImplementedError&) {
    }
  } catch (const Error&) {
  }
  return 0;
}
