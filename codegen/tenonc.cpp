#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "codegen/check/check.h"
#include "codegen/check/kernels.h"
#include "codegen/emit/backend.h"
#include "codegen/emit/explain.h"
#include "codegen/emit/ir.h"
#include "codegen/emit/output.h"
#include "codegen/emit/select.h"
#include "codegen/model/loader.h"

namespace tenon::codegen {
namespace {

constexpr const char* kUsage = R"(tenonc: Tenon's operator generator

  tenonc check   OPTIONS             report every mistake in the YAML files
  tenonc gen     OPTIONS --out DIR   write the C++ sources that follow from them
  tenonc check-kernels OPTIONS       report hand-written kernels that are missing
  tenonc explain OPTIONS OPERATOR    what an operator's entry leads to
  tenonc ir      OPTIONS             print the intermediate representation as JSON

Options
  --native FILE        operators (may be repeated)
  --derivatives FILE   derivative formulas (may be repeated)
  --tags FILE          the list of known tags
  --base FILE          operators that exist already, for a library of your own
  --backend FILE       kernels of a device outside the library, for operators of --base
  --operators FILE     build only the operators that FILE lists, and what they reach (with --root)
  --root DIR           folder of the hand-written sources, for --operators
  --dialect NAME       tenon (default) or upstream
  --backends LIST      CPU or CPU,CUDA
  --out DIR            where generated files go
  --kernels PATH       a kernel source, or a folder of them (check, check-kernels; may be repeated)
  --templates DIR      Jinja2 templates (gen)
  --python PROGRAM     a Python that has Jinja2 (gen)
  --depfile FILE       dependencies of this run for Ninja (gen, check-kernels)
  --stamp FILE         touched when done (gen, check-kernels)
)";

struct CommandLine {
  std::string verb;
  std::vector<std::string> native, derivatives, base, kernels, operands;
  std::string tags, out, templates, selected, root, backend, python = "python3", depfile, stamp;
  Dialect dialect = Dialect::kTenon;
  Targets targets;
};

[[noreturn]] void fail(const std::string& message) {
  std::cerr << "tenonc: " << message << "\n";
  std::exit(2);
}

CommandLine parse_command_line(int argc, char** argv) {
  CommandLine line;
  if (argc < 2) fail(std::string("expected a command\n\n") + kUsage);
  line.verb = argv[1];
  for (int i = 2; i < argc; ++i) {
    const std::string option = argv[i];
    if (option.rfind("--", 0) != 0) {
      line.operands.push_back(option);
      continue;
    }
    if (i + 1 == argc) fail("option " + option + " needs a value");
    const std::string value = argv[++i];
    if (option == "--native")
      line.native.push_back(value);
    else if (option == "--derivatives")
      line.derivatives.push_back(value);
    else if (option == "--base")
      line.base.push_back(value);
    else if (option == "--kernels")
      line.kernels.push_back(value);
    else if (option == "--tags")
      line.tags = value;
    else if (option == "--backend")
      line.backend = value;
    else if (option == "--operators")
      line.selected = value;
    else if (option == "--root")
      line.root = value;
    else if (option == "--out")
      line.out = value;
    else if (option == "--templates")
      line.templates = value;
    else if (option == "--python")
      line.python = value;
    else if (option == "--depfile")
      line.depfile = value;
    else if (option == "--stamp")
      line.stamp = value;
    else if (option == "--backends")
      line.targets.cuda = value.find("CUDA") != std::string::npos;
    else if (option == "--dialect") {
      if (value != "tenon" && value != "upstream") {
        fail("--dialect must be tenon or upstream, got '" + value + "'");
      }
      line.dialect = value == "upstream" ? Dialect::kUpstream : Dialect::kTenon;
    } else {
      fail("unknown option " + option + "\n\n" + kUsage);
    }
  }
  if (!line.backend.empty() && line.base.empty()) fail("--backend needs --base");
  if (line.native.empty() && line.backend.empty()) fail("no operators: give --native FILE");
  if (!line.selected.empty() && line.root.empty()) fail("--operators needs --root");
  return line;
}

/// Prints what is wrong; true if the run must stop.
bool stop_on_errors(const DiagnosticSink& sink) {
  sink.print(std::cerr);
  if (!sink.has_errors()) return false;
  // As printed: an error that two checks came upon counts once.
  const auto printed = sink.sorted();
  const auto errors = std::count_if(printed.begin(), printed.end(), [](const Diagnostic& d) {
    return d.severity == Severity::kError;
  });
  std::cerr << errors << (errors == 1 ? " error\n" : " errors\n");
  return true;
}

/// The files that were read.
std::vector<std::string> report_missing_kernels(const CommandLine& line, const Model& model,
                                                DiagnosticSink& sink) {
  KernelSources sources;
  for (const auto& path : line.kernels) {
    if (!sources.add(path)) fail("--kernels " + path + ": there is no such file or folder");
  }
  check_kernels(model, line.targets, sources, line.kernels, sink);
  std::vector<std::string> paths;
  for (const auto& file : sources.files()) paths.push_back(file.path);
  return paths;
}

int check_kernels_only(const CommandLine& line, const Model& model, DiagnosticSink& sink) {
  const auto paths = report_missing_kernels(line, model, sink);
  if (stop_on_errors(sink)) return 1;
  if (!line.depfile.empty()) write_depfile(line.depfile, line.stamp, paths);
  if (!line.stamp.empty()) std::ofstream(line.stamp, std::ios::trunc);
  return 0;
}

int generate(const CommandLine& line, std::vector<std::string> inputs, const Json& ir) {
  if (line.out.empty() || line.templates.empty()) fail("gen needs --out and --templates");
  return write_output({line.out, line.templates, line.python, line.depfile, line.stamp}, inputs,
                      ir);
}

/// Kernels of a device outside the library: check, gen, check-kernels, ir.
int run_backend(const CommandLine& line) {
  DiagnosticSink sink;
  DiagnosticSink silent;
  const Model base = load(line.base, {}, "", line.dialect, silent);
  const auto kernels = load_backend(line.backend, base, sink);
  if (stop_on_errors(sink)) return 1;
  const Json ir = emit_backend(*kernels, base);
  if (!line.kernels.empty()) {
    KernelSources sources;
    std::vector<std::string> paths = {line.backend};
    for (const auto& path : line.kernels) {
      if (!sources.add(path)) fail("--kernels " + path + ": there is no such file or folder");
    }
    for (const auto& file : sources.files()) paths.push_back(file.path);
    check_backend_kernels(*kernels, ir, sources, sink);
    if (stop_on_errors(sink)) return 1;
    if (!line.depfile.empty()) write_depfile(line.depfile, line.stamp, paths);
    if (!line.stamp.empty()) std::ofstream(line.stamp, std::ios::trunc);
  }
  if (line.verb == "check-kernels" || line.verb == "check") return 0;
  if (line.verb == "ir") {
    std::cout << ir.dump(1) << "\n";
    return 0;
  }
  if (line.verb != "gen") fail("--backend goes with check, check-kernels, gen and ir");
  std::vector<std::string> inputs = base.files();
  inputs.push_back(line.backend);
  return generate(line, std::move(inputs), ir);
}

int run(const CommandLine& line) {
  if (!line.backend.empty()) return run_backend(line);

  DiagnosticSink sink;
  const Model model = load(line.native, line.derivatives, line.tags, line.dialect, sink);
  run_checks(model, sink);
  Model base;
  if (!line.base.empty()) {
    // Its mistakes are not this run's to report.
    DiagnosticSink silent;
    base = load(line.base, {}, "", line.dialect, silent);
  }
  if (line.verb == "check" && line.dialect == Dialect::kUpstream) {
    return stop_on_errors(sink) ? 1 : 0;
  }

  if (line.verb == "check-kernels") return check_kernels_only(line, model, sink);
  if (line.verb == "check" && !line.kernels.empty() && !sink.has_errors())
    report_missing_kernels(line, model, sink);

  EmitOptions options;
  options.targets = line.targets;
  options.library = line.base.empty();
  options.selected = line.selected;
  options.root = line.root;
  if (!options.library) {
    options.base = &base;
    options.shards = 1;
    options.library_name = std::filesystem::path(line.native[0]).stem().string();
  }
  Json ir;
  // With a broken model the emitter would only repeat what is known; its own checks need a whole
  // one.
  if (!sink.has_errors()) ir = emit_ir(model, options, sink);
  if (stop_on_errors(sink)) return 1;

  if (line.verb == "check") {
    std::cout << model.operators().size() << " operators, " << model.derivatives().size()
              << " derivatives: no errors\n";
    return 0;
  }
  if (line.verb == "ir") {
    std::cout << ir.dump(1) << "\n";
    return 0;
  }
  if (line.verb == "explain") {
    if (line.operands.size() != 1) fail("explain needs the name of one operator");
    return explain(model, ir, line.operands[0], std::cout, std::cerr) ? 0 : 1;
  }
  if (line.verb == "gen") {
    std::vector<std::string> inputs = model.files();
    for (const auto& file : base.files()) inputs.push_back(file);
    if (!line.selected.empty()) {
      inputs.push_back(line.selected);
      for (auto& path : selection_inputs(line.root)) inputs.push_back(std::move(path));
    }
    return generate(line, std::move(inputs), ir);
  }
  fail("unknown command '" + line.verb + "'\n\n" + kUsage);
}

}  // namespace
}  // namespace tenon::codegen

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  if (argc == 2 && (std::string(argv[1]) == "help" || std::string(argv[1]) == "--help")) {
    std::cout << tenon::codegen::kUsage;
    return 0;
  }
  try {
    return tenon::codegen::run(tenon::codegen::parse_command_line(argc, argv));
  } catch (const std::exception& error) {
    std::cerr << "tenonc: internal error: " << error.what() << "\n";
    return 3;
  }
}
