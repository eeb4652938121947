#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::schema {

/// Number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to `word` and other than it, or "" when none is near enough to be worth
/// naming (distance at most a third of the longer word, case ignored). The first of several equally
/// near ones wins. Namespaces that are the same, or that `word` leaves out, say nothing of how near
/// a name is.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// A word of another language, or of another place, and the one that means it here.
struct ForeignWord {
  std::string_view word;
  std::string_view ours;  ///< empty where nothing here means it, however near a word may be
};

/// What `foreign` says of `word`, which edit distance would not find or would mistake; without
/// that, the nearest candidate.
std::string suggest(std::string_view word, const std::vector<std::string>& candidates,
                    std::span<const ForeignWord> foreign);

}  // namespace tenon::schema
