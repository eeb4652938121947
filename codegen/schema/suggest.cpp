#include "codegen/schema/suggest.h"

#include <algorithm>

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
  const std::string folded = lower(word);
  std::string best;
  size_t best_distance = SIZE_MAX;
  for (const std::string& candidate : candidates) {
    const size_t limit = std::max<size_t>(1, std::max(word.size(), candidate.size()) / 3);
    const size_t gap = word.size() > candidate.size() ? word.size() - candidate.size()
                                                      : candidate.size() - word.size();
    if (gap > limit || gap >= best_distance || candidate == word) continue;
    const size_t distance = edit_distance(folded, lower(candidate));
    // A single letter is as near to every other one; that helps nobody.
    const bool all_replaced = distance >= std::min(word.size(), candidate.size());
    if (distance <= limit && distance < best_distance && !all_replaced) {
      best = candidate;
      best_distance = distance;
    }
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
