#include "runtime/tools/ckpt/text.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "aten/core/error.h"
#include "aten/core/small_vector.h"

namespace tenon::ckpt {

void print_json(const Json& json) {
  std::puts(json.dump(1, ' ', true, Json::error_handler_t::replace).c_str());
}

std::string padded(std::string_view text, size_t width) {
  std::string all = shown(text);
  if (all.size() < width) all.resize(width, ' ');
  return all;
}

std::string readable_bytes(uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto number = static_cast<double>(bytes);
  size_t unit = 0;
  for (; number >= 1024 && unit + 1 < std::size(kUnits); ++unit) number /= 1024;
  char text[32];
  std::snprintf(text, sizeof(text), unit == 0 ? "%.0f %s" : "%.1f %s", number, kUnits[unit]);
  return text;
}

std::string readable_shape(const std::vector<int64_t>& shape) {
  return tenon::detail::concat(IntArrayRef(shape));
}

}  // namespace tenon::ckpt
