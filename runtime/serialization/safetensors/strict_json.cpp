#include "runtime/serialization/safetensors/strict_json.h"

#include <limits>
#include <set>
#include <vector>

#include "aten/core/error.h"

namespace tenon::serialization {

using nlohmann::json;

namespace {

/// Looks at a text without keeping anything but the keys of the objects that are open. A callback
/// of the parser could do so too, but takes time that grows with the square of an object's size.
class Checker : public nlohmann::json_sax<json> {
 public:
  Checker(size_t depth, const std::string& what) : depth_(depth), what_(what) {}

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return open(); }
  bool start_array(std::size_t) override { return open(); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& key) override {
    if (!keys_.back().insert(key).second)
      tenon::detail::raise<Error>(what_, "the JSON has the key ", json(key).dump(), " twice");
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const json::exception& error) override {
    tenon::detail::raise<Error>(what_, "no valid JSON: ", error.what());
  }

 private:
  bool open() {
    if (keys_.size() >= depth_)
      tenon::detail::raise<Error>(what_, "the JSON is nested deeper than ", depth_, " levels");
    keys_.emplace_back();
    return true;
  }
  bool close() {
    keys_.pop_back();
    return true;
  }

  size_t depth_;
  const std::string& what_;
  std::vector<std::set<std::string>> keys_;  // empty for an array
};

}  // namespace

json parse_strict_json(const std::string& text, size_t depth, const std::string& what) {
  Checker checker(depth, what);
  json::sax_parse(text, &checker);
  return json::parse(text);
}

bool is_count(const json& json) {
  return json.is_number_unsigned() &&
         json.get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
}

}  // namespace tenon::serialization
