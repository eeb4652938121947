#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "runtime/tools/ckpt/checkpoint.h"
#include "runtime/tools/ckpt/commands.h"
#include "runtime/tools/ckpt/text.h"

namespace tenon::ckpt {
namespace {

/// The widest that the columns of names, dtypes and shapes get: one long name would make all lines
/// long.
constexpr size_t kNameWidth = 80;
constexpr size_t kColumnWidth = 40;

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
      if (!entry.form.empty()) tensors.back()["kind"] = entry.form;
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
    print_json(json_of(*checkpoint));
    return kFine;
  }
  size_t name_width = 4, kind_width = 5, shape_width = 5, tensors = 0;
  uint64_t bytes = 0;
  const auto widen = [](size_t& width, const std::string& text, size_t most) {
    width = std::max(width, std::min(text.size(), most));
  };
  for (const Entry& entry : checkpoint->entries()) {
    widen(name_width, entry.name, kNameWidth);
    if (!entry.is_tensor) continue;
    widen(kind_width, dtype_and_form(entry), kColumnWidth);
    widen(shape_width, readable_shape(entry.shape), kColumnWidth);
    if (__builtin_add_overflow(bytes, entry.bytes, &bytes)) bytes = UINT64_MAX;
    ++tensors;
  }
  for (const auto& [key, value] : checkpoint->metadata())
    std::printf("# %s: %s\n", shown(key).c_str(), shown(value).c_str());
  for (const Entry& entry : checkpoint->entries()) {
    const std::string name = padded(entry.name, name_width);
    if (entry.is_tensor) {
      std::printf("%s  %s  %s  %10s\n", name.c_str(),
                  padded(dtype_and_form(entry), kind_width).c_str(),
                  padded(readable_shape(entry.shape), shape_width).c_str(),
                  readable_bytes(entry.bytes).c_str());
    } else {
      std::printf("%s  %s\n", name.c_str(), shown(entry.text).c_str());
    }
  }
  std::printf("%zu tensors, %s, format %s\n", tensors, readable_bytes(bytes).c_str(),
              name_of(checkpoint->format()));
  return kFine;
}

}  // namespace tenon::ckpt
