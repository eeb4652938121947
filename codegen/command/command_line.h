#pragma once

#include <string>
#include <vector>

#include "codegen/emit/emit_standalone.h"
#include "codegen/meaning/kernel_declarations.h"
#include "codegen/report/report.h"

namespace tenon::codegen {

/// What `tenonc VERB OPTIONS OPERANDS` asks for.
struct CommandLine {
  std::string verb;
  std::vector<std::string> native, derivatives, base, kernels, operands, fused_dtypes;
  std::string modules, optimizers, tags, out, header, templates, selected, root, backend,
      python = "python3", depfile, stamp;
  Dialect dialect = Dialect::kTenon;
  ReportFormat format = ReportFormat::kText;
  bool check = false;
  bool python_module = false;
  OutputTarget target = OutputTarget::kLibrary;
  Targets targets;
};

/// The text of `tenonc help`.
std::string usage();

/// Reads the arguments after the program's name; `--name value` and `--name=value` are the same.
/// Throws UsageError for what it does not understand.
CommandLine parse_command_line(const std::vector<std::string>& arguments);

/// The command line is wrong: exit status 2.
struct UsageError {
  std::string message;
};

}  // namespace tenon::codegen
