#include <fstream>
#include <iostream>

#include "codegen/check/kernels.h"
#include "codegen/command/commands.h"
#include "codegen/emit/emit_backend.h"
#include "codegen/ir/print.h"
#include "codegen/load/load_backend.h"
#include "codegen/load/loader.h"
#include "codegen/output/output.h"

namespace tenon::codegen {

int run_backend(const CommandLine& line) {
  if (line.base.empty()) throw UsageError{"--backend needs --base"};
  if (line.verb == "gen" && (line.out.empty() || line.templates.empty())) {
    throw UsageError{"gen needs --out and --templates"};
  }
  const bool product = line.verb == "ir";
  DiagnosticSink sink;
  DiagnosticSink silent;  // the library's own mistakes are not this run's to report
  const Model base = load(line.base, {}, "", line.dialect, silent);
  const auto kernels = load_backend(line.backend, base, sink);
  if (report_errors(sink, line.format, product)) return 1;
  const ir::Library library = emit_backend(*kernels, base);
  if (!line.kernels.empty()) {
    KernelSources sources;
    std::vector<std::string> paths = {line.backend};
    for (const auto& path : line.kernels) {
      if (!sources.add(path)) {
        throw UsageError{"--kernels " + path + ": there is no such file or folder"};
      }
    }
    for (const auto& file : sources.files()) paths.push_back(file.path);
    check_backend_kernels(*kernels, base, sources, sink);
    if (report_errors(sink, line.format, product)) return 1;
    if (!line.depfile.empty()) write_depfile(line.depfile, line.stamp, paths);
    if (!line.stamp.empty()) std::ofstream(line.stamp, std::ios::trunc);
  }
  if (line.verb == "check-kernels" || line.verb == "check") return 0;
  if (line.verb == "ir") {
    std::cout << ir::print(library, 1) << "\n";
    return 0;
  }
  if (line.verb != "gen") {
    throw UsageError{"--backend goes with check, check-kernels, gen and ir"};
  }
  std::vector<std::string> inputs = base.files();
  inputs.push_back(line.backend);
  return write_output({line.out, line.templates, line.python, line.depfile, line.stamp}, inputs,
                      library);
}

}  // namespace tenon::codegen
