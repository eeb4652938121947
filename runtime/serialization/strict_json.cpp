#include "runtime/serialization/strict_json.h"

#include <limits>
#include <set>
#include <vector>

#include "aten/core/error.h"

namespace tenon::serialization {

using nlohmann::json;

json parse_strict_json(const std::string& text, int depth, const std::string& what) {
  using Event = json::parse_event_t;
  std::vector<std::set<std::string>> keys;  // of the objects that are open
  const auto check = [&](int level, Event event, json& value) {
    if (level > depth) {
      tenon::detail::raise<Error>(what, "the JSON is nested deeper than ", depth, " levels");
    }
    if (event == Event::object_start) keys.emplace_back();
    if (event == Event::object_end) keys.pop_back();
    if (event == Event::key && !keys.back().insert(value.get_ref<const std::string&>()).second)
      tenon::detail::raise<Error>(what, "the JSON has the key ", value.dump(), " twice");
    return true;
  };
  try {
    return json::parse(text, check);
  } catch (const json::exception& error) {
    tenon::detail::raise<Error>(what, "no valid JSON: ", error.what());
  }
}

bool is_count(const json& json) {
  return json.is_number_unsigned() &&
         json.get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
}

}  // namespace tenon::serialization
