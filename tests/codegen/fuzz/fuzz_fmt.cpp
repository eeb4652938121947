// libFuzzer target: formatting. Its result is formatted already, and has no new mistakes. The first
// byte chooses the dialect.
#include "codegen/format/formatter.h"
#include "tests/codegen/fuzz/check.h"

using namespace tenon::codegen;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const Dialect dialect = data[0] % 2 == 0 ? Dialect::kTenon : Dialect::kUpstream;
  DiagnosticSink sink;
  const SourceFile* file = sink.sources().add("f.yaml", as_text(data + 1, size - 1));
  const std::optional<std::string> once = format_yaml(*file, dialect, sink);
  if (!once) {
    require(sink.has_errors(), "refused without a message");
    return 0;
  }
  const SourceFile* formatted = sink.sources().add("f.yaml", *once);
  require(format_yaml(*formatted, dialect, sink) == once, "formatting does not settle");
  return 0;
}
