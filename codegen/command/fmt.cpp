#include <filesystem>
#include <fstream>
#include <iostream>

#include "codegen/command/commands.h"
#include "codegen/format/formatter.h"

namespace tenon::codegen {
namespace {

namespace fs = std::filesystem;

// Through a file beside it, so that an interrupted run leaves the old text or the new one.
void replace_file(const std::string& path, const std::string& text) {
  const fs::path target = fs::canonical(path);
  const fs::path fresh = target.string() + ".new";
  {
    std::ofstream out(fresh, std::ios::binary);
    out << text;
    if (!out.flush()) throw std::runtime_error("cannot write " + fresh.string());
  }
  fs::permissions(fresh, fs::status(target).permissions());
  fs::rename(fresh, target);
}

}  // namespace

int run_fmt(const CommandLine& line) {
  if (line.operands.empty()) throw UsageError{"fmt needs the YAML files to format"};
  DiagnosticSink sink;
  bool changes = false;
  for (const std::string& path : line.operands) {
    const SourceFile* file = sink.sources().open(path);
    if (file == nullptr) {
      const RuleScope scope(sink, "unreadable_file");
      sink.error({}, "cannot read `" + path + "`");
      continue;
    }
    // One file's mistakes do not keep the others from being formatted.
    DiagnosticSink own;
    const std::optional<std::string> text = format_yaml(*file, line.dialect, own);
    for (const Diagnostic& diagnostic : own.sorted()) sink.report(diagnostic);
    if (!text || *text == file->text()) continue;
    changes = true;
    if (line.check) {
      std::cout << path << ": not formatted\n";
    } else {
      replace_file(path, *text);
      std::cout << path << ": formatted\n";
    }
  }
  if (report_errors(sink, line.format, true)) return 1;
  return line.check && changes ? 1 : 0;
}

}  // namespace tenon::codegen
