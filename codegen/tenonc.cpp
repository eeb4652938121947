#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "codegen/check/check.h"
#include "codegen/check/kernels.h"
#include "codegen/command/commands.h"
#include "codegen/emit/emit_library.h"
#include "codegen/explain/explain.h"
#include "codegen/ir/print.h"
#include "codegen/load/loader.h"
#include "codegen/modules/explain_module.h"
#include "codegen/optimizers/emit_optimizers.h"
#include "codegen/optimizers/explain_optimizer.h"
#include "codegen/output/output.h"
#include "codegen/schema/suggest.h"
#include "codegen/select/select.h"

namespace tenon::codegen {
namespace {

/// The files that were read.
std::vector<std::string> report_missing_kernels(const CommandLine& line, const Model& model,
                                                DiagnosticSink& sink) {
  KernelSources sources;
  for (const auto& path : line.kernels) {
    if (!sources.add(path)) {
      throw UsageError{"--kernels " + path + ": there is no such file or folder"};
    }
  }
  const RuleScope scope(sink, "missing_kernel");
  check_kernels(model, line.targets, sources, line.kernels, sink);
  std::vector<std::string> paths;
  for (const auto& file : sources.files()) paths.push_back(file.path);
  return paths;
}

int check_kernels_only(const CommandLine& line, const Model& model, DiagnosticSink& sink) {
  const auto paths = report_missing_kernels(line, model, sink);
  if (report_errors(sink, line.format)) return 1;
  if (!line.depfile.empty()) write_depfile(line.depfile, line.stamp, paths);
  if (!line.stamp.empty()) std::ofstream(line.stamp, std::ios::trunc);
  return 0;
}

EmitOptions emit_options(const CommandLine& line, const Model& base) {
  EmitOptions options;
  options.target = line.target;
  options.targets = line.targets;
  options.library = line.base.empty();
  options.selected = line.selected;
  // Fewer operators are fewer files, each of which has a little of its own.
  if (!line.selected.empty()) options.shards = 16;
  options.root = line.root;
  options.python = line.python_module;
  if (!options.library) {
    options.base = &base;
    options.shards = options.cuda_shards = 1;
    options.library_name = std::filesystem::path(line.native[0]).stem().string();
    options.header = line.header.empty() ? options.library_name + ".h" : line.header;
  }
  return options;
}

/// ", 2 warnings", or "". Warnings do not fail: upstream adds words with every release.
std::string warnings_text(const DiagnosticSink& sink) {
  const size_t count = sink.num_warnings();
  if (count == 0) return "";
  return ", " + std::to_string(count) + (count == 1 ? " warning" : " warnings");
}

/// The commands that read operators: check, check-kernels, docs, explain, ir, gen.
int run_on_model(const CommandLine& line) {
  if (line.verb != "explain" && !line.operands.empty()) {
    throw UsageError{line.verb + " takes options alone, got '" + line.operands[0] +
                     "': give --native FILE for operators"};
  }
  if (!line.backend.empty()) return run_backend(line);
  if (!line.selected.empty() && line.root.empty()) throw UsageError{"--operators needs --root"};
  if (line.native.empty()) throw UsageError{"no operators: give --native FILE"};
  if (!line.optimizers.empty() && !line.base.empty()) {
    throw UsageError{"--optimizers goes with the library's own operators, without --base"};
  }
  if (line.verb == "explain" && line.operands.size() != 1) {
    throw UsageError{"explain needs the name of one operator or optimizer"};
  }
  if (line.target != OutputTarget::kLibrary && line.base.empty())
    throw UsageError{"--target needs --base, the operators that expressions call"};
  const bool writes = line.verb == "gen" || line.verb == "docs";
  if (writes && (line.out.empty() || line.templates.empty())) {
    throw UsageError{line.verb + " needs --out and --templates"};
  }
  DiagnosticSink sink;
  Model base;
  if (!line.base.empty()) {
    // Its mistakes are not this run's to report.
    DiagnosticSink silent;
    base = load(line.base, {}, "", line.dialect, silent);
  }
  const Model model = load(line.native, line.derivatives, line.tags, line.dialect, sink,
                           line.base.empty() ? nullptr : &base, line.fused_dtypes);
  if (!line.base.empty()) check_against_base(model, base, sink);
  run_checks(model, sink, &base);
  std::vector<optimizers::Optimizer> optimizers;
  if (!line.optimizers.empty())
    optimizers = optimizers::load_optimizers(line.optimizers, model, sink);
  if (line.verb == "check-kernels") return check_kernels_only(line, model, sink);
  if (line.verb == "check" && !line.kernels.empty()) report_missing_kernels(line, model, sink);

  ir::Library library;
  // The emitter relies on what the checks have found to be so; it reports what is wrong with a
  // selection.
  const bool emits = line.verb != "check" || !line.selected.empty();
  if (emits && !sink.has_errors()) {
    library = emit_library(model, emit_options(line, base), sink);
    optimizers::emit_optimizers(optimizers, model, line.python_module, library);
  }
  const bool product = line.verb == "ir" || line.verb == "explain";
  if (report_errors(sink, line.format, product)) {
    if (line.format == ReportFormat::kText) std::cerr << missing_base(line, model);
    return 1;
  }

  if (line.verb == "check") {
    if (line.format == ReportFormat::kText) {
      std::cout << model.operators().size() << " operators, " << model.derivatives().size()
                << " derivatives"
                << (optimizers.empty() ? ""
                                       : ", " + std::to_string(optimizers.size()) + " optimizers")
                << ": no errors" << warnings_text(sink) << "\n";
    }
    return 0;
  }
  if (line.verb == "ir") {
    std::cout << ir::print(library, 1) << "\n";
    return 0;
  }
  if (line.verb == "explain") {
    if (!line.modules.empty()) {
      DiagnosticSink of_modules;
      const modules::Declarations declared = modules::load(line.modules, of_modules);
      if (report_errors(of_modules, line.format, true)) return 1;
      if (modules::explain_module(declared, line.operands[0], std::cout)) return 0;
    }
    if (optimizers::explain_optimizer(optimizers, model, line.operands[0], std::cout)) return 0;
    return explain(model, library, line.operands[0], std::cout, std::cerr) ? 0 : 1;
  }
  if (line.verb == "docs")
    return write_pages({line.out, line.templates, line.python, "", ""}, library);
  std::vector<std::string> inputs = model.files();
  for (const auto& file : base.files()) inputs.push_back(file);
  if (!line.optimizers.empty()) inputs.push_back(line.optimizers);
  if (!line.selected.empty()) {
    inputs.push_back(line.selected);
    for (auto& path : selection_inputs(line.root)) inputs.push_back(std::move(path));
  }
  return write_output({line.out, line.templates, line.python, line.depfile, line.stamp}, inputs,
                      library);
}

int run(const CommandLine& line) {
  for (const char* verb : {"check", "check-kernels", "explain", "ir", "gen"}) {
    if (line.verb == verb) return run_on_model(line);
  }
  if (line.verb == "docs") return run_on_model(complete_docs_line(line));
  if (line.verb == "diff") return run_diff(line);
  if (line.verb == "fmt") return run_fmt(line);
  if (line.verb == "modules") return run_modules(line);
  if (line.verb == "schema") return run_schema(line);
  const std::string nearest =
      schema::nearest(line.verb, {"check", "check-kernels", "explain", "ir", "gen", "docs", "diff",
                                  "fmt", "modules", "schema"});
  throw UsageError{"unknown command '" + line.verb + "'" +
                   (nearest.empty() ? "" : "; did you mean '" + nearest + "'?") +
                   " (tenonc help lists the commands)"};
}

}  // namespace
}  // namespace tenon::codegen

int main(int argc, char** argv) {
  using namespace tenon::codegen;
  std::ios::sync_with_stdio(false);
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  try {
    const bool asked = std::find(arguments.begin(), arguments.end(), "--help") != arguments.end();
    if (asked || (arguments.size() == 1 && arguments[0] == "help")) {
      std::cout << usage();
      return 0;
    }
    return run(parse_command_line(arguments));
  } catch (const UsageError& error) {
    std::cerr << "tenonc: " << error.message << "\n";
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "tenonc: internal error: " << error.what() << "\n";
    return 3;
  }
}
