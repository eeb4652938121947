#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runtime/serialization/io/byte_sink.h"
#include "runtime/serialization/zip/zip_writer.h"

namespace tenon::test {

/// A zip checkpoint of this pickle and these other records.
inline std::string archive_of(const std::string& pickle,
                              const std::vector<std::pair<std::string, std::string>>& records = {},
                              const std::string& version = "3\n") {
  serialization::MemorySink sink;
  serialization::ZipWriter zip(sink, "archive");
  zip.add("data.pkl", pickle);
  for (const auto& [name, data] : records) zip.add(name, data);
  zip.add("version", version);
  zip.finish();
  return sink.bytes();
}

}  // namespace tenon::test
