// libFuzzer target: two versions of a file of operators, apart by a line `%%`. A version has no
// changes to itself; the report is printed in both formats.
#include <sstream>

#include "codegen/check/check.h"
#include "codegen/diff/compare.h"
#include "codegen/diff/diff_report.h"
#include "codegen/load/loader.h"
#include "tests/codegen/fuzz/check.h"

using namespace tenon::codegen;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string text = as_text(data + 1, size - 1);
  const size_t split = text.find("\n%%\n");
  if (split == std::string::npos) return 0;
  const Dialect dialect = data[0] % 2 == 0 ? Dialect::kTenon : Dialect::kUpstream;
  DiagnosticSink sink;
  const auto read = [&](const std::string& native) {
    Sources sources;
    sources.native = {sink.sources().add("n.yaml", native)};
    return load(sources, dialect, sink);
  };
  // Whatever could be understood is compared, mistakes or not.
  const Model before = read(text.substr(0, split));
  const Model after = read(text.substr(split + 4));
  const std::vector<Change> changes = compare_models(before, after, data[0] % 4 > 1);
  std::ostringstream out;
  print_changes(changes, out);
  print_changes_json(changes, out);
  require(compare_models(before, before, true).empty(), "changes to itself");
  return 0;
}
