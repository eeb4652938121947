#include "codegen/schema/suggest.h"

#include <algorithm>
#include <optional>

namespace tenon::schema {

namespace {

// Longer words are never a slip of the fingers, and the table is quadratic.
constexpr size_t kMaxWord = 128;

std::string lower(std::string_view word) {
  std::string out(word);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

/// `candidate` without the namespace that `word` has too, or leaves out.
std::string_view unqualified(std::string_view candidate, std::string_view ns, bool qualified) {
  const size_t colons = candidate.rfind("::");
  if (colons == std::string_view::npos) return candidate;
  return !qualified || candidate.substr(0, colons) == ns ? candidate.substr(colons + 2) : candidate;
}

/// How far two words are, case ignored, or nothing where that is too far.
std::optional<size_t> distance_of(std::string_view word, std::string_view other) {
  const size_t limit = std::max<size_t>(1, std::max(word.size(), other.size()) / 3);
  const size_t gap = std::max(word.size(), other.size()) - std::min(word.size(), other.size());
  if (gap > limit) return std::nullopt;
  const size_t distance = edit_distance(lower(word), lower(other));
  // A single letter is as near to every other one; that helps nobody.
  const bool all_replaced = distance >= std::min(word.size(), other.size());
  if (distance > limit || all_replaced) return std::nullopt;
  return distance;
}

}  // namespace

size_t edit_distance(std::string_view a, std::string_view b) {
  // Rows i-2, i-1 and i of the table; the swap of neighbours looks back two rows.
  std::vector<size_t> older(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replace = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({replace, previous[j] + 1, current[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], older[j - 2] + 1);
      }
    }
    older.swap(previous);
    previous.swap(current);
  }
  return previous[b.size()];
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.empty() || word.size() > kMaxWord) return {};
  const size_t colons = word.rfind("::");
  const bool qualified = colons != std::string_view::npos;
  const std::string_view ns = qualified ? word.substr(0, colons) : "";
  const std::string_view name = qualified ? word.substr(colons + 2) : word;
  std::string best;
  size_t best_distance = SIZE_MAX;
  for (const std::string& candidate : candidates) {
    if (candidate == word) continue;
    const std::string_view other = unqualified(candidate, ns, qualified);
    const bool whole = other.size() == candidate.size();
    const std::optional<size_t> distance = distance_of(whole ? word : name, other);
    if (!distance || *distance >= best_distance) continue;
    best = candidate;
    best_distance = *distance;
  }
  return best;
}

std::string suggest(std::string_view word, const std::vector<std::string>& candidates,
                    std::span<const ForeignWord> foreign) {
  for (const ForeignWord& one : foreign) {
    if (one.word == word) return std::string(one.ours);
  }
  return nearest(word, candidates);
}

}  // namespace tenon::schema
