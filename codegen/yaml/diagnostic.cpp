#include "codegen/yaml/diagnostic.h"

#include <algorithm>
#include <ostream>
#include <tuple>

namespace tenon::codegen {

std::string_view to_string(Severity severity) {
  switch (severity) {
  case Severity::kNote: return "note";
  case Severity::kWarning: return "warning";
  case Severity::kError: return "error";
  }
  return {};
}

namespace {

// Longer lines are shown in part, around the place.
constexpr size_t kMaxShown = 240;

// A character that a terminal shows in one column, or `?` for a byte that is none.
std::string_view printable(std::string_view line, size_t i) {
  const size_t length = utf8_length(line, i);
  const bool control = (line[i] >= 0 && line[i] < ' ' && line[i] != '\t') || line[i] == 0x7F;
  return length == 0 || control ? "?" : line.substr(i, length);
}

// The line and the caret below it. Tabs are kept and a character of several bytes counts once, so
// that the caret stands below its character.
void print_source(std::ostream& out, const Location& location) {
  if (!location.valid()) return;
  const std::string_view line = location.file->line(location.line);
  if (line.empty()) return;
  std::string shown, below;
  const size_t begin = line.size() > kMaxShown && location.column > kMaxShown / 2
                           ? location.column - kMaxShown / 2
                           : 0;
  const size_t end = std::min(line.size(), begin + kMaxShown);
  if (begin > 0) {
    shown = "...";
    below = "   ";
  }
  for (size_t i = begin; i < end;) {
    const std::string_view c = printable(line, i);
    shown += c;
    if (i + 1 < location.column) below += c == "\t" ? '\t' : ' ';
    i += c.size();
  }
  if (end < line.size()) shown += "...";
  out << "  " << shown << "\n  " << below << "^\n";
}

void print_message(std::ostream& out, const Location& location, Severity severity,
                   const std::string& message, const std::string& suggestion) {
  if (location.valid()) out << location.to_string() << ": ";
  out << to_string(severity) << ": " << message;
  if (!suggestion.empty()) out << "; did you mean '" << suggestion << "'?";
  out << "\n";
  print_source(out, location);
}

}  // namespace

void DiagnosticSink::report(Diagnostic diagnostic) {
  if (diagnostic.rule.empty()) diagnostic.rule = rule_;
  num_errors_ += diagnostic.severity == Severity::kError;
  num_warnings_ += diagnostic.severity == Severity::kWarning;
  diagnostics_.push_back(std::move(diagnostic));
}

void DiagnosticSink::error(Location location, std::string message, std::string suggestion,
                           Location end) {
  report({Severity::kError, location, std::move(message), {}, std::move(suggestion), end});
}

void DiagnosticSink::warning(Location location, std::string message, std::string suggestion) {
  report({Severity::kWarning, location, std::move(message), {}, std::move(suggestion)});
}

void DiagnosticSink::report(const SourceString& text,
                            const std::vector<schema::ParseError>& errors) {
  const RuleScope scope(*this, "schema_syntax");
  for (const schema::ParseError& problem : errors) {
    error(text.at(problem.span.begin), problem.message, problem.suggestion,
          text.end_at(problem.span.end));
  }
}

std::vector<Diagnostic> DiagnosticSink::sorted() const {
  const auto& files = sources_->files();
  const auto file_index = [&](const Location& location) {
    size_t i = 0;
    while (i < files.size() && files[i].get() != location.file) ++i;
    return location.file == nullptr ? 0 : i + 1;
  };
  const auto key = [&](const Diagnostic& d) {
    return std::make_tuple(file_index(d.location), d.location.line, d.location.column,
                           std::cref(d.message));
  };
  std::vector<Diagnostic> result = diagnostics_;
  std::stable_sort(result.begin(), result.end(),
                   [&](const Diagnostic& a, const Diagnostic& b) { return key(a) < key(b); });
  result.erase(std::unique(result.begin(), result.end(),
                           [&](const Diagnostic& a, const Diagnostic& b) {
                             return a.severity == b.severity && key(a) == key(b);
                           }),
               result.end());
  return result;
}

void DiagnosticSink::print(std::ostream& out) const {
  for (const Diagnostic& d : sorted()) {
    print_message(out, d.location, d.severity, d.message, d.suggestion);
    for (const Note& note : d.notes) {
      print_message(out, note.location, Severity::kNote, note.message, {});
    }
  }
}

}  // namespace tenon::codegen
