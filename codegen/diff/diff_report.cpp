#include "codegen/diff/diff_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "codegen/report/text.h"

namespace tenon::codegen {
namespace {

constexpr int kDiffVersion = 1;

std::string_view describe(const Breaks& breaks) {
  if (breaks.callers && breaks.serialized) return "breaks callers and saved programs";
  if (breaks.callers) return "breaks callers";
  if (breaks.serialized) return "breaks saved programs";
  return "compatible";
}

template <typename Predicate>
size_t count(const std::vector<Change>& changes, Predicate predicate) {
  return static_cast<size_t>(std::count_if(changes.begin(), changes.end(), predicate));
}

}  // namespace

void print_changes(const std::vector<Change>& changes, std::ostream& out) {
  for (const Change& change : changes) {
    if (change.location.valid()) out << change.location.to_string() << ": ";
    out << describe(change.breaks) << ": " << change.op << ": " << change.message << " ["
        << change.kind << "]\n";
  }
  if (changes.empty()) {
    out << "no changes\n";
    return;
  }
  out << changes.size() << (changes.size() == 1 ? " change: " : " changes: ")
      << count(changes, [](const Change& c) { return c.breaks.callers; }) << " for callers, "
      << count(changes, [](const Change& c) { return c.breaks.serialized; })
      << " for saved programs, " << count(changes, [](const Change& c) { return !c.breaks.any(); })
      << " compatible\n";
}

void print_changes_json(const std::vector<Change>& changes, std::ostream& out) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const Change& change : changes) {
    Json breaks = Json::array();
    if (change.breaks.callers) breaks.push_back("callers");
    if (change.breaks.serialized) breaks.push_back("serialized");
    Json one = {{"kind", change.kind},
                {"operator", change.op},
                {"breaks", std::move(breaks)},
                {"message", valid_utf8(change.message)}};
    if (change.location.valid()) {
      one["file"] = valid_utf8(change.location.file->path());
      one["line"] = change.location.line;
      one["column"] = change.location.column;
    }
    list.push_back(std::move(one));
  }
  const Json document = {{"version", kDiffVersion},
                         {"compatible", is_compatible(changes)},
                         {"changes", std::move(list)}};
  out << document.dump(1) << "\n";
}

bool is_compatible(const std::vector<Change>& changes) {
  return std::none_of(changes.begin(), changes.end(),
                      [](const Change& change) { return change.breaks.any(); });
}

}  // namespace tenon::codegen
