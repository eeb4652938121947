#include <fstream>
#include <iostream>

#include "codegen/command/commands.h"
#include "codegen/editor/json_schema.h"
#include "codegen/editor/module_schema.h"
#include "codegen/load/loader.h"
#include "codegen/modules/entry.h"
#include "codegen/optimizers/optimizer.h"

namespace tenon::codegen {
namespace {

constexpr const char* kKinds =
    "native_functions, derivatives, tags, backend, modules or optimizers";

FileKind kind_from(const std::string& name) {
  if (name == "native_functions") return FileKind::kOperators;
  if (name == "derivatives") return FileKind::kDerivatives;
  if (name == "tags") return FileKind::kTags;
  if (name == "backend") return FileKind::kBackend;
  throw UsageError{"schema needs " + std::string(kKinds) + ", got '" + name + "'"};
}

nlohmann::ordered_json schema_of(const std::string& name, const CommandLine& line,
                                 const Model& model) {
  if (name == "modules") return modules_schema(modules::module_keys(), modules::function_keys());
  if (name == "optimizers") return optimizers_schema(optimizers::optimizer_keys());
  return json_schema(kind_from(name), line.dialect, model.tags());
}

}  // namespace

int run_schema(const CommandLine& line) {
  if (line.operands.size() != 1) {
    throw UsageError{"schema needs the kind of file: " + std::string(kKinds)};
  }
  DiagnosticSink sink;
  const Model model = load({}, {}, line.tags, line.dialect, sink);
  if (report_errors(sink, line.format, true)) return 1;
  const std::string text = schema_of(line.operands[0], line, model).dump(1) + "\n";
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
