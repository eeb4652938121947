#include <algorithm>
#include <filesystem>
#include <iostream>

#include "codegen/check/check.h"
#include "codegen/command/commands.h"
#include "codegen/diff/compare.h"
#include "codegen/diff/diff_report.h"
#include "codegen/load/loader.h"
#include "codegen/yaml/file_kind.h"

namespace tenon::codegen {
namespace {

namespace fs = std::filesystem;

/// The YAML files that an operand names: itself, or those of a folder.
std::vector<std::string> files_of(const std::string& operand) {
  std::error_code ignored;
  if (!fs::is_directory(operand, ignored)) return {operand};
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(operand)) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".yaml" || extension == ".yml") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

struct Version {
  Model model;
  bool has_derivatives = false;
};

Version read_version(const std::string& operand, Dialect dialect, DiagnosticSink& sink) {
  std::vector<std::string> operators, derivatives;
  std::string tags;
  const std::vector<std::string> files = files_of(operand);
  for (const std::string& file : files) {
    // Mistakes of form are reported when the file is read into the model.
    DiagnosticSink silent;
    const SourceFile* source = silent.sources().open(file);
    const YamlPtr root = source == nullptr ? nullptr : parse_yaml(*source, silent);
    const FileKind kind = root == nullptr ? FileKind::kUnknown : file_kind(*root);
    if (kind == FileKind::kDerivatives) derivatives.push_back(file);
    if (kind == FileKind::kTags) tags = file;
    // A file that cannot be read is reported; other YAML files of a folder are none of ours.
    if (kind == FileKind::kOperators || root == nullptr || files.size() == 1) {
      operators.push_back(file);
    }
  }
  if (operators.empty()) throw UsageError{operand + ": there is no file of operators in it"};
  Version version;
  version.model = load(operators, derivatives, tags, dialect, sink);
  version.has_derivatives = !derivatives.empty();
  run_checks(version.model, sink);
  return version;
}

}  // namespace

int run_diff(const CommandLine& line) {
  if (line.operands.size() != 2) {
    throw UsageError{"diff needs two versions, OLD and NEW: files of operators, or folders"};
  }
  if (line.format == ReportFormat::kSarif) throw UsageError{"diff writes text or json"};
  DiagnosticSink sink;
  const Version before = read_version(line.operands[0], line.dialect, sink);
  const Version after = read_version(line.operands[1], line.dialect, sink);
  if (sink.has_errors()) {
    report_errors(sink, line.format, true);
    return 2;
  }
  const std::vector<Change> changes =
      compare_models(before.model, after.model, before.has_derivatives && after.has_derivatives);
  if (line.format == ReportFormat::kJson) {
    print_changes_json(changes, std::cout);
  } else {
    print_changes(changes, std::cout);
  }
  return is_compatible(changes) ? 0 : 1;
}

}  // namespace tenon::codegen
