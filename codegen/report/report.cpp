#include "codegen/report/report.h"

#include <ostream>

#include "codegen/report/documents.h"

namespace tenon::codegen {

std::optional<ReportFormat> report_format_from(std::string_view name) {
  if (name == "text") return ReportFormat::kText;
  if (name == "json") return ReportFormat::kJson;
  if (name == "sarif") return ReportFormat::kSarif;
  return std::nullopt;
}

void write_report(const DiagnosticSink& sink, ReportFormat format, std::ostream& out) {
  switch (format) {
  case ReportFormat::kText: sink.print(out); break;
  case ReportFormat::kJson: out << json_report(sink.sorted()).dump(1) << "\n"; break;
  case ReportFormat::kSarif: out << sarif_report(sink.sorted()).dump(1) << "\n"; break;
  }
}

}  // namespace tenon::codegen
