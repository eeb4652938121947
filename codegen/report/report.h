#pragma once

#include <iosfwd>
#include <optional>
#include <string_view>

#include "codegen/yaml/diagnostic.h"

namespace tenon::codegen {

/// Version of the `json` format: raised when a key changes its meaning or goes.
inline constexpr int kReportVersion = 1;

enum class ReportFormat : uint8_t {
  kText,   // for people: file:line:column, the line, a caret
  kJson,   // one object with all diagnostics; docs/generator.md describes it
  kSarif,  // SARIF 2.1.0, for code-scanning services and editors
};

/// "text", "json" or "sarif".
std::optional<ReportFormat> report_format_from(std::string_view name);

/// Writes all of a run's diagnostics. json and sarif are whole documents also where there are none.
void write_report(const DiagnosticSink& sink, ReportFormat format, std::ostream& out);

}  // namespace tenon::codegen
