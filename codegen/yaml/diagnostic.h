#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/schema/source.h"
#include "codegen/yaml/source_file.h"

namespace tenon::codegen {

enum class Severity : uint8_t { kNote, kWarning, kError };
/// "note", "warning", "error".
std::string_view to_string(Severity severity);

struct Note {
  Location location;  // may be invalid: then only the message is printed
  std::string message;
};

struct Diagnostic {
  Severity severity = Severity::kError;
  Location location;
  std::string message;
  std::vector<Note> notes;
  std::string suggestion;      // nearest valid spelling, or empty
  Location end = {};           // just past the mistake; invalid: the word at `location` is it
  std::string_view rule = {};  // Rule::id; the sink fills in that of its RuleScope
};

/// Collects the diagnostics of a run and owns the files they point into. Nothing is printed until
/// print(), so that the order does not depend on the order of the checks.
class DiagnosticSink {
 public:
  DiagnosticSink() : sources_(std::make_shared<SourceManager>()) {}

  void report(Diagnostic diagnostic);
  void error(Location location, std::string message, std::string suggestion = {},
             Location end = {});
  void warning(Location location, std::string message, std::string suggestion = {});
  /// Errors of a schema or an expression whose spans are offsets into `text`.
  void report(const SourceString& text, const std::vector<schema::ParseError>& errors);

  size_t num_errors() const { return num_errors_; }
  size_t num_warnings() const { return num_warnings_; }
  bool has_errors() const { return num_errors_ > 0; }
  bool empty() const { return diagnostics_.empty(); }

  /// Sorted by file (in the order they were opened), line, column; duplicates removed.
  std::vector<Diagnostic> sorted() const;
  /// Prints all as
  ///     file:line:column: error: message; did you mean 'x'?
  ///       the source line
  ///           ^
  ///     file:line:column: note: ...
  void print(std::ostream& out) const;

  SourceManager& sources() { return *sources_; }
  /// Shared with the model, whose locations must outlive the sink.
  const std::shared_ptr<SourceManager>& shared_sources() const { return sources_; }

 private:
  friend class RuleScope;

  std::shared_ptr<SourceManager> sources_;
  std::string_view rule_;
  std::vector<Diagnostic> diagnostics_;
  size_t num_errors_ = 0;
  size_t num_warnings_ = 0;
};

/// Diagnostics that are reported while it lives belong to the rule `id`, a literal.
class RuleScope {
 public:
  RuleScope(DiagnosticSink& sink, std::string_view id) : sink_(sink), outer_(sink.rule_) {
    sink.rule_ = id;
  }
  ~RuleScope() { sink_.rule_ = outer_; }
  RuleScope(const RuleScope&) = delete;
  RuleScope& operator=(const RuleScope&) = delete;

 private:
  DiagnosticSink& sink_;
  std::string_view outer_;
};

}  // namespace tenon::codegen
