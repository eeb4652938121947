#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "runtime/serialization/inspect.h"
#include "runtime/serialization/io/os_error.h"
#include "runtime/serialization/progress_bar.h"
#include "runtime/serialization/safetensors/safetensors.h"
#include "runtime/serialization/sharded/sharded.h"
#include "runtime/serialization/zip/zip_reader.h"
#include "runtime/tools/ckpt/checkpoint.h"
#include "runtime/tools/ckpt/commands.h"
#include "runtime/tools/ckpt/text.h"

namespace tenon::ckpt {
namespace {

using namespace serialization;

/// Of what is printed of an error.
constexpr size_t kMessage = 2000;

/// Reads all records and checks their CRC-32; gives the names of those that have none.
std::vector<std::string> read_records(const std::string& path, bool quiet) {
  const FileSource source(path);
  const ZipReader zip(source);
  uint64_t total = 0, done = 0;
  for (const auto& record : zip.records()) total += record.bytes;
  serialization::ProgressBar bar("verify", !quiet);
  std::vector<std::string> unchecked;
  for (const auto& record : zip.records()) {
    zip.verify(record.name);
    if (record.crc == 0 && record.bytes > 0) unchecked.push_back(record.name);
    bar.update(done += record.bytes, total);
  }
  return unchecked;
}

/// Reads a file to its end, which fails where the disk does.
void read_all(const std::string& path, bool quiet) {
  constexpr uint64_t kPiece = 1 << 20;
  const FileSource source(path);
  serialization::ProgressBar bar("verify", !quiet);
  for (uint64_t at = 0; at < source.size();) {
    const uint64_t bytes = std::min(kPiece, source.size() - at);
    source.crc(at, bytes);
    bar.update(at += bytes, source.size());
  }
}

bool is_torchscript(const std::string& path) {
  const FileSource source(path);
  return ZipReader(source).has("constants.pkl");
}

/// Checks what the pickles say, with all sizes, whether load() knows all it names or not.
void check_pickles(const std::string& path) { dispose(inspect(path).value); }

/// Nothing, and why, for a file that the system does not give: that says nothing of what is in it.
std::optional<Format> format_if_readable(const std::string& path, std::string& error) {
  try {
    return format_of(path);
  } catch (const OSError& e) {
    error = e.what();
    return std::nullopt;
  }
}

/// Reads everything; gives what could not be checked.
std::string check(const std::string& path, Format format, bool quiet) {
  switch (format) {
  case Format::Sharded: ShardedCheckpoint(path).verify(); return "";
  case Format::Safetensors:
    // The header, whether tensors of all its dtypes could be loaded or not.
    static_cast<void>(SafetensorsFile(path));
    read_all(path, quiet);
    return "the format has no checksums; sizes agree";
  case Format::Legacy:
    read_all(path, quiet);
    check_pickles(path);
    return "the format has no checksums; sizes agree";
  case Format::Zip: break;
  }
  const std::vector<std::string> unchecked = read_records(path, quiet);
  std::string note;
  if (is_torchscript(path)) {
    note = "a TorchScript archive: checksums agree, what its pickles say is not checked";
  } else {
    check_pickles(path);
  }
  if (!unchecked.empty()) {
    note += (note.empty() ? "" : "; ") + std::to_string(unchecked.size()) +
            " records have no checksum, " + unchecked.front() + " for one";
  }
  return note;
}

}  // namespace

Status verify(const Options& options) {
  Status status = kFine;
  Json results = Json::array();
  for (const std::string& path : options.arguments) {
    std::string error, note;
    const char* verdict = "whole";
    try {
      const std::optional<Format> format = format_if_readable(path, error);
      if (format) {
        note = check(path, *format, options.quiet);
      } else {
        verdict = "not verified: ";
        status = kTrouble;
      }
    } catch (const Error& e) {
      error = e.what();
      verdict = "DAMAGED: ";
      if (status == kFine) status = kFound;
    }
    if (options.json) {
      results.push_back({{"path", path}, {"whole", error.empty()}});
      if (!error.empty()) results.back()["error"] = error;
      if (!note.empty()) results.back()["note"] = note;
    } else {
      const std::string more = !error.empty() ? error : note.empty() ? "" : " (" + note + ")";
      std::printf("%s: %s%s\n", path.c_str(), verdict, printable(more, kMessage).c_str());
    }
  }
  if (options.json) print_json(results);
  return status;
}

}  // namespace tenon::ckpt
