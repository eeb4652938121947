#pragma once

#include "codegen/command/command_line.h"

namespace tenon::codegen {

// Each gives the exit status of the command.

/// Kernels of a device outside the library (--backend): check, check-kernels, gen, ir.
int run_backend(const CommandLine& line);

/// `tenonc docs FILE... --out DIR` with its files among --native. Without --base, --tags or
/// --templates an installed tenonc takes the ones that it was installed with.
CommandLine complete_docs_line(CommandLine line);

/// A line that asks for --base, if all operators that were read have a namespace of their own and
/// there was none; otherwise "".
std::string missing_base(const CommandLine& line, const Model& model);

/// Compares two versions: 0 when users of the old one may use the new one, 1 when not, 2 when a
/// side cannot be read.
int run_diff(const CommandLine& line);

/// Formats YAML files in place; with --check only says which would change, 1 if any.
int run_fmt(const CommandLine& line);

/// Checks modules.yaml or, with --out, writes what follows from it.
int run_modules(const CommandLine& line);

/// The JSON Schema of a kind of file, for editors.
int run_schema(const CommandLine& line);

/// Writes what is wrong, once: text on standard error; json and sarif on standard output, but on
/// standard error where the command prints something else (`product`). True if there are errors.
bool report_errors(const DiagnosticSink& sink, ReportFormat format, bool product = false);

}  // namespace tenon::codegen
