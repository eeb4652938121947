#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace tenon::serialization {

/// Parses JSON of others, in which no object may have a key twice and objects and lists are nested
/// at most `depth` deep. Errors begin with `what`. Objects are sorted by key, so that many keys are
/// no more than that.
nlohmann::json parse_strict_json(const std::string& text, size_t depth, const std::string& what);

/// A number that must be a count: an integer from 0 to the largest int64_t.
bool is_count(const nlohmann::json& json);

}  // namespace tenon::serialization
