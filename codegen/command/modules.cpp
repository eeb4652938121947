#include <nlohmann/json.hpp>

#include <filesystem>
#include <iostream>

#include "codegen/command/commands.h"
#include "codegen/load/loader.h"
#include "codegen/modules/emit.h"
#include "codegen/output/output.h"

namespace tenon::codegen {
namespace {

namespace fs = std::filesystem;

/// The list for the build.
std::string sources_cmake(const std::string& out, const nlohmann::ordered_json& document) {
  std::string cpp, headers, python;
  for (const auto& file : document["files"]) {
    const fs::path path = file["path"].get<std::string>();
    const std::string line = "  \"" + (fs::absolute(out) / path).string() + "\"\n";
    const std::string extension = path.extension();
    if (extension == ".md") continue;
    (extension == ".cpp" ? cpp : extension == ".py" ? python : headers) += line;
  }
  return "set(TENON_MODULE_SOURCES\n" + cpp + ")\nset(TENON_MODULE_HEADERS\n" + headers +
         ")\nset(TENON_MODULE_PYTHON\n" + python + ")\n";
}

}  // namespace

int run_modules(const CommandLine& line) {
  if (line.operands.size() != 1) throw UsageError{"modules needs one file, modules.yaml"};
  if (line.native.empty()) throw UsageError{"no operators: give --native FILE"};
  if (line.out.empty() != line.templates.empty()) {
    throw UsageError{"modules needs --out with --templates"};
  }
  DiagnosticSink sink;
  std::set<std::string> operators;
  // Mistakes in the operators are not this command's to report.
  DiagnosticSink silent;
  const Model model = load(line.native, {}, "", line.dialect, silent);
  for (const OperatorGroup& group : model.groups()) operators.insert(group.base_name);
  modules::Declarations base;
  modules::Declarations declarations = modules::load(line.operands[0], sink);
  if (!line.modules.empty()) {
    base = modules::load(line.modules, silent);
    declarations.base = &base;
    declarations.library = fs::path(line.operands[0]).stem().string();
  }
  nlohmann::ordered_json document;
  if (!sink.has_errors()) document = modules::emit(declarations, operators, sink);
  if (report_errors(sink, line.format)) return 1;
  if (line.out.empty()) {
    size_t modules = 0, functions = 0;
    for (const auto& family : declarations.families) {
      modules += family.modules.size();
      functions += family.functions.size();
    }
    std::cout << modules << " modules, " << functions << " functions: no errors\n";
    return 0;
  }
  std::vector<std::string> inputs = line.native;
  inputs.push_back(line.operands[0]);
  if (!line.modules.empty()) inputs.push_back(line.modules);
  return write_rendering({line.out, line.templates, line.python, line.depfile, line.stamp},
                         {document.dump(), sources_cmake(line.out, document), inputs});
}

}  // namespace tenon::codegen
