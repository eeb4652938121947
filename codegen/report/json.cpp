#include <algorithm>

#include "codegen/report/documents.h"
#include "codegen/report/region.h"
#include "codegen/report/report.h"
#include "codegen/report/text.h"

namespace tenon::codegen {
namespace {

using Json = nlohmann::ordered_json;

// Nothing for a message about a run as a whole.
void add_place(Json& object, const Location& begin, const Location& end) {
  if (!begin.valid()) return;
  object["file"] = valid_utf8(begin.file->path());
  object["line"] = begin.line;
  object["column"] = begin.column;
  object["endLine"] = end.line;
  object["endColumn"] = end.column;
}

Json diagnostic_json(const Diagnostic& diagnostic) {
  Json result = {{"severity", to_string(diagnostic.severity)},
                 {"rule", diagnostic.rule},
                 {"message", valid_utf8(diagnostic.message)}};
  add_place(result, diagnostic.location, end_of(diagnostic));
  result["notes"] = Json::array();
  for (const Note& note : diagnostic.notes) {
    Json one = {{"message", valid_utf8(note.message)}};
    add_place(one, note.location, word_end(note.location));
    result["notes"].push_back(std::move(one));
  }
  if (!diagnostic.suggestion.empty()) result["suggestion"] = diagnostic.suggestion;
  if (has_fix(diagnostic)) result["fix"] = diagnostic.suggestion;
  return result;
}

}  // namespace

Json json_report(const std::vector<Diagnostic>& diagnostics) {
  const auto count = [&](Severity severity) {
    return std::count_if(diagnostics.begin(), diagnostics.end(),
                         [&](const Diagnostic& d) { return d.severity == severity; });
  };
  Json list = Json::array();
  for (const Diagnostic& diagnostic : diagnostics) list.push_back(diagnostic_json(diagnostic));
  return {{"version", kReportVersion},
          {"errors", count(Severity::kError)},
          {"warnings", count(Severity::kWarning)},
          {"diagnostics", std::move(list)}};
}

}  // namespace tenon::codegen
