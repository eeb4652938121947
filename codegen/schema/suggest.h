#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::schema {

/// Number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to `word` and other than it, or "" when none is near enough to be worth
/// naming (distance at most a third of the longer word, case ignored). The first of several equally
/// near ones wins.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace tenon::schema
