#include <algorithm>

#include "codegen/report/documents.h"
#include "codegen/report/region.h"
#include "codegen/report/rule_list.h"
#include "codegen/report/text.h"

namespace tenon::codegen {
namespace {

using Json = nlohmann::ordered_json;

Json artifact(const Location& location) { return {{"uri", path_to_uri(location.file->path())}}; }

Json region(const Location& begin, const Location& end) {
  return {{"startLine", begin.line},
          {"startColumn", code_point_column(begin)},
          {"endLine", end.line},
          {"endColumn", code_point_column(end)}};
}

Json physical_location(const Location& begin, const Location& end) {
  return {{"artifactLocation", artifact(begin)}, {"region", region(begin, end)}};
}

Json text(std::string_view message) { return {{"text", valid_utf8(message)}}; }

Json fix(const Diagnostic& diagnostic) {
  const Json replacement = {{"deletedRegion", region(diagnostic.location, end_of(diagnostic))},
                            {"insertedContent", {{"text", diagnostic.suggestion}}}};
  const Json change = {{"artifactLocation", artifact(diagnostic.location)},
                       {"replacements", Json::array({replacement})}};
  return {{"description", text("Write '" + diagnostic.suggestion + "'")},
          {"artifactChanges", Json::array({change})}};
}

Json result(const Diagnostic& diagnostic) {
  Json result = Json::object();
  const auto& rules = all_rules();
  const auto rule = std::find_if(rules.begin(), rules.end(),
                                 [&](const Rule& r) { return r.id == diagnostic.rule; });
  if (rule != rules.end()) {
    result["ruleId"] = rule->id;
    result["ruleIndex"] = rule - rules.begin();
  }
  result["level"] = to_string(diagnostic.severity);
  std::string message = diagnostic.message;
  if (!diagnostic.suggestion.empty()) message += "; did you mean '" + diagnostic.suggestion + "'?";
  result["message"] = text(message);
  if (diagnostic.location.valid()) {
    result["locations"] = Json::array(
        {{{"physicalLocation", physical_location(diagnostic.location, end_of(diagnostic))}}});
  }
  Json related = Json::array();
  for (const Note& note : diagnostic.notes) {
    Json one = {{"id", related.size()}};
    if (note.location.valid()) {
      one["physicalLocation"] = physical_location(note.location, word_end(note.location));
    }
    one["message"] = text(note.message);
    related.push_back(std::move(one));
  }
  if (!related.empty()) result["relatedLocations"] = std::move(related);
  if (has_fix(diagnostic)) result["fixes"] = Json::array({fix(diagnostic)});
  return result;
}

}  // namespace

Json sarif_report(const std::vector<Diagnostic>& diagnostics) {
  Json rules = Json::array();
  for (const Rule& rule : all_rules()) {
    rules.push_back(
        {{"id", rule.id},
         {"shortDescription", {{"text", "Rejects " + std::string(rule.rejects) + "."}}}});
  }
  Json results = Json::array();
  for (const Diagnostic& diagnostic : diagnostics) results.push_back(result(diagnostic));
  const Json run = {{"tool", {{"driver", {{"name", "tenonc"}, {"rules", std::move(rules)}}}}},
                    {"columnKind", "unicodeCodePoints"},
                    {"results", std::move(results)}};
  return {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
          {"version", "2.1.0"},
          {"runs", Json::array({run})}};
}

}  // namespace tenon::codegen
