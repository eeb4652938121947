#include <algorithm>
#include <filesystem>

#include "codegen/command/commands.h"

namespace tenon::codegen {

namespace fs = std::filesystem;

namespace {

// Where an installed tenonc has the library's own files; empty for one in a build folder.
fs::path installed_files() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path share = program.parent_path().parent_path() / "share" / "tenon";
  return error || !fs::exists(share / "native_functions.yaml") ? fs::path() : share;
}

}  // namespace

CommandLine complete_docs_line(CommandLine line) {
  line.native.insert(line.native.end(), line.operands.begin(), line.operands.end());
  line.operands.clear();
  const fs::path share = installed_files();
  if (share.empty()) return line;
  if (line.base.empty()) line.base = {(share / "native_functions.yaml").string()};
  if (line.tags.empty()) line.tags = (share / "tags.yaml").string();
  if (line.templates.empty()) line.templates = (share / "templates").string();
  return line;
}

std::string missing_base(const CommandLine& line, const Model& model) {
  const std::vector<Operator>& operators = model.operators();
  const bool own = std::all_of(operators.begin(), operators.end(), [](const Operator& op) {
    return op.name().find("::") != std::string::npos;
  });
  if (!line.base.empty() || operators.empty() || !own) return {};
  const fs::path share = installed_files();
  return "tenonc: Tenon's own functions were not read: give --base " +
         (share / "native_functions.yaml").string() + " --tags " + (share / "tags.yaml").string() +
         "\n";
}

}  // namespace tenon::codegen
