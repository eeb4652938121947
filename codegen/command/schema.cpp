#include <fstream>
#include <iostream>

#include "codegen/command/commands.h"
#include "codegen/editor/json_schema.h"
#include "codegen/load/loader.h"

namespace tenon::codegen {
namespace {

FileKind kind_from(const std::string& name) {
  if (name == "native_functions") return FileKind::kOperators;
  if (name == "derivatives") return FileKind::kDerivatives;
  if (name == "tags") return FileKind::kTags;
  if (name == "backend") return FileKind::kBackend;
  throw UsageError{"schema needs native_functions, derivatives, tags or backend, got '" + name +
                   "'"};
}

}  // namespace

int run_schema(const CommandLine& line) {
  if (line.operands.size() != 1) {
    throw UsageError{
        "schema needs the kind of file: native_functions, derivatives, tags or backend"};
  }
  const FileKind kind = kind_from(line.operands[0]);
  DiagnosticSink sink;
  const Model model = load({}, {}, line.tags, line.dialect, sink);
  if (report_errors(sink, line.format, true)) return 1;
  const std::string text = json_schema(kind, line.dialect, model.tags()).dump(1) + "\n";
  if (line.out.empty()) {
    std::cout << text;
    return 0;
  }
  std::ofstream out(line.out, std::ios::binary);
  out << text;
  if (!out.flush()) throw std::runtime_error("cannot write " + line.out);
  return 0;
}

}  // namespace tenon::codegen
