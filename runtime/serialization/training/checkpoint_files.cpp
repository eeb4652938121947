#include "runtime/serialization/training/checkpoint_files.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <tuple>

#include "runtime/serialization/io/os_error.h"
#include "runtime/serialization/load.h"
#include "runtime/serialization/zip/zip_reader.h"

namespace tenon::serialization {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "step-";
constexpr std::string_view kSuffix = ".pt";

/// Whether a file's name is one that checkpoint_path() gives.
bool is_checkpoint_name(std::string_view name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return false;
  name.remove_prefix(kPrefix.size());
  if (name.size() < kSuffix.size()) return false;
  name.remove_suffix(kSuffix.size());
  const auto is_number = [](std::string_view text) {
    int64_t number = 0;
    const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return !text.empty() && text[0] != '-' && error == std::errc() &&
           at == text.data() + text.size();
  };
  const size_t dash = name.find('-');
  return is_number(name.substr(0, dash)) && (dash == name.npos || is_number(name.substr(dash + 1)));
}

std::vector<std::string> paths_in(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (is_checkpoint_name(it->path().filename().native())) paths.push_back(it->path().string());
  if (error) {
    throw OSError(error.value(), tenon::detail::concat("[load] cannot read the folder '", folder,
                                                       "': ", error.message()));
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

CheckpointFile read_head(const std::string& path) {
  LoadOptions options;
  options.weights_only = false;
  options.map_location = "meta";
  const Value value = load(path, options);
  TENON_CHECK(value.is_dict() && value.contains("tenon_training"), "[load] '", path,
              "' is no checkpoint of a training");
  CheckpointFile file{.path = path, .step = value["step"].to_int()};
  if (value.contains("run")) file.run = value["run"].to_string();
  if (value.contains("number")) file.number = value["number"].to_int();
  constexpr int64_t kMostSaves = int64_t{1} << 53;
  TENON_CHECK_VALUE(file.number >= 0 && file.number <= kMostSaves, "[load] '", path,
                    "': a number of a checkpoint must be from 0 to 2^53, got ", file.number);
  return file;
}

}  // namespace

std::string checkpoint_path(const std::string& folder, int64_t step, int copy) {
  char name[64];
  const int length =
      std::snprintf(name, sizeof(name), "step-%012lld", static_cast<long long>(step));
  if (copy > 1)
    std::snprintf(name + length, sizeof(name) - static_cast<size_t>(length), "-%d", copy);
  return (fs::path(folder) / name).string().append(kSuffix);
}

CheckpointFiles find_checkpoints(const std::string& folder) {
  CheckpointFiles found;
  for (const std::string& path : paths_in(folder)) {
    try {
      found.whole.push_back(read_head(path));
    } catch (const Error& error) {
      if (!dynamic_cast<const OSError*>(&error) && is_damaged(path)) {
        found.damaged.emplace_back(error.what());
        continue;
      }
      if (!found.reason) found.reason = std::current_exception();
      found.unknown.push_back(path);
    }
  }
  std::sort(found.whole.begin(), found.whole.end(),
            [](const CheckpointFile& a, const CheckpointFile& b) {
              return std::tie(a.number, a.step, a.path) < std::tie(b.number, b.step, b.path);
            });
  return found;
}

bool is_damaged(const std::string& path) {
  const FileSource file(path);
  try {
    const ZipReader zip(file);
    for (const ZipReader::Record& record : zip.records()) zip.verify(record.name);
    return false;
  } catch (const OSError&) {
    throw;
  } catch (const NotImplementedError&) {
    throw;  // a build that cannot inflate
  } catch (const Error&) {
    return true;
  }
}

}  // namespace tenon::serialization
