#include <cstdio>
#include <nlohmann/json.hpp>

#include "runtime/hub/progress_bar.h"
#include "runtime/serialization/safetensors.h"
#include "runtime/serialization/sharded/sharded.h"
#include "runtime/serialization/zip_reader.h"
#include "runtime/tools/ckpt/checkpoint.h"
#include "runtime/tools/ckpt/commands.h"

namespace tenon::ckpt {
namespace {

using namespace serialization;

/// Reads all records and checks their CRC-32; gives the names of those that have none.
std::vector<std::string> read_records(const std::string& path, bool quiet) {
  const FileSource source(path);
  const ZipReader zip(source);
  uint64_t total = 0, done = 0;
  for (const auto& record : zip.records()) total += record.bytes;
  hub::ProgressBar bar("verify", !quiet);
  std::vector<std::string> unchecked;
  for (const auto& record : zip.records()) {
    zip.verify(record.name);
    if (record.crc == 0 && record.bytes > 0) unchecked.push_back(record.name);
    bar.update(done += record.bytes, total);
  }
  return unchecked;
}

/// Reads everything; gives what could not be checked.
std::string check(const std::string& path, bool quiet) {
  const Format format = format_of(path);
  switch (format) {
  case Format::Sharded: ShardedCheckpoint(path).verify(); return "";
  case Format::Safetensors:
    SafetensorsFile(path).tensors();
    return "the format has no checksums; sizes agree";
  case Format::Legacy: {
    LoadOptions options;
    options.map_location = "cpu";
    options.weights_only = false;
    load(path, options);
    return "the format has no checksums; sizes agree";
  }
  case Format::Zip: break;
  }
  const std::vector<std::string> unchecked = read_records(path, quiet);
  Checkpoint::open(path);
  return unchecked.empty() ? ""
                           : std::to_string(unchecked.size()) + " records have no checksum, " +
                                 unchecked.front() + " for one";
}

}  // namespace

Status verify(const Options& options) {
  Status status = kFine;
  auto results = nlohmann::ordered_json::array();
  for (const std::string& path : options.arguments) {
    std::string error, note;
    try {
      note = check(path, options.quiet);
    } catch (const Error& e) {
      error = e.what();
      status = kFound;
    }
    if (options.json) {
      results.push_back({{"path", path}, {"whole", error.empty()}});
      if (!error.empty()) results.back()["error"] = error;
      if (!note.empty()) results.back()["note"] = note;
    } else {
      const std::string more = !error.empty() ? error : note.empty() ? "" : " (" + note + ")";
      std::printf("%s: %s%s\n", path.c_str(), error.empty() ? "whole" : "DAMAGED: ", more.c_str());
    }
  }
  if (options.json)
    std::puts(
        results.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
  return status;
}

}  // namespace tenon::ckpt
