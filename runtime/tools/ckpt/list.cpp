#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "runtime/tools/ckpt/checkpoint.h"
#include "runtime/tools/ckpt/commands.h"

namespace tenon::ckpt {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Checkpoint& checkpoint) {
  Json json{{"format", name_of(checkpoint.format())}};
  json["metadata"] = checkpoint.metadata();
  Json& tensors = json["tensors"] = Json::array();
  Json& values = json["values"] = Json::array();
  for (const Entry& entry : checkpoint.entries()) {
    if (entry.is_tensor) {
      tensors.push_back({{"name", entry.name},
                         {"dtype", entry.kind},
                         {"shape", entry.shape},
                         {"bytes", entry.bytes}});
    } else {
      values.push_back({{"name", entry.name}, {"kind", entry.kind}, {"value", entry.text}});
    }
  }
  return json;
}

}  // namespace

Status list(const Options& options) {
  const auto checkpoint = Checkpoint::open(options.arguments.at(0));
  if (options.json) {
    std::puts(json_of(*checkpoint).dump(1, ' ', false, Json::error_handler_t::replace).c_str());
    return kFine;
  }
  size_t name_width = 4, kind_width = 5, shape_width = 5, tensors = 0;
  uint64_t bytes = 0;
  for (const Entry& entry : checkpoint->entries()) {
    name_width = std::max(name_width, entry.name.size());
    if (!entry.is_tensor) continue;
    kind_width = std::max(kind_width, entry.kind.size());
    shape_width = std::max(shape_width, readable_shape(entry.shape).size());
    bytes += entry.bytes;
    ++tensors;
  }
  for (const auto& [key, value] : checkpoint->metadata())
    std::printf("# %s: %s\n", key.c_str(), value.c_str());
  for (const Entry& entry : checkpoint->entries()) {
    if (entry.is_tensor) {
      std::printf("%-*s  %-*s  %-*s  %10s\n", static_cast<int>(name_width), entry.name.c_str(),
                  static_cast<int>(kind_width), entry.kind.c_str(), static_cast<int>(shape_width),
                  readable_shape(entry.shape).c_str(), readable_bytes(entry.bytes).c_str());
    } else {
      std::printf("%-*s  %s\n", static_cast<int>(name_width), entry.name.c_str(),
                  entry.text.c_str());
    }
  }
  std::printf("%zu tensors, %s, format %s\n", tensors, readable_bytes(bytes).c_str(),
              name_of(checkpoint->format()));
  return kFine;
}

}  // namespace tenon::ckpt
