#include <algorithm>
#include <iostream>

#include "codegen/command/commands.h"

namespace tenon::codegen {

bool report_errors(const DiagnosticSink& sink, ReportFormat format, bool product) {
  const bool text = format == ReportFormat::kText;
  write_report(sink, format, text || product ? std::cerr : std::cout);
  if (!sink.has_errors()) return false;
  if (text) {
    // As printed: an error that two checks came upon counts once.
    const auto printed = sink.sorted();
    const auto errors = std::count_if(printed.begin(), printed.end(), [](const Diagnostic& d) {
      return d.severity == Severity::kError;
    });
    std::cerr << errors << (errors == 1 ? " error\n" : " errors\n");
  }
  return true;
}

}  // namespace tenon::codegen
