// libFuzzer target: files of operators and derivatives (after a line `%%`), to the report. The
// first byte chooses the dialect and the report's format.
#include <array>
#include <sstream>

#include "codegen/check/check.h"
#include "codegen/emit/emit_library.h"
#include "codegen/ir/print.h"
#include "codegen/load/loader.h"
#include "codegen/report/report.h"
#include "tests/codegen/fuzz/check.h"

using namespace tenon::codegen;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string text = as_text(data + 1, size - 1);
  const size_t split = text.find("\n%%\n");
  DiagnosticSink sink;
  Sources sources;
  sources.native = {sink.sources().add("n.yaml", text.substr(0, split))};
  if (split != std::string::npos) {
    sources.derivatives = {sink.sources().add("d.yaml", text.substr(split + 4))};
  }
  const Dialect dialect = data[0] % 2 == 0 ? Dialect::kTenon : Dialect::kUpstream;
  const Model model = load(sources, dialect, sink);
  run_checks(model, sink);
  if (!sink.has_errors() && dialect == Dialect::kTenon) ir::print(emit_library(model, {}, sink));
  constexpr std::array kFormats = {ReportFormat::kText, ReportFormat::kJson, ReportFormat::kSarif};
  std::ostringstream out;
  write_report(sink, kFormats[data[0] / 2 % kFormats.size()], out);
  require(!sink.has_errors() || !out.str().empty(), "errors without messages");
  for (const Diagnostic& diagnostic : sink.sorted()) require(!diagnostic.rule.empty(), "no rule");
  return 0;
}
