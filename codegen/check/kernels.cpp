#include "codegen/check/kernels.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "codegen/schema/suggest.h"

namespace tenon::codegen {
namespace {

namespace fs = std::filesystem;

/// Place of what asks for the function.
Location asked_for(const Operator& op, const KernelDeclaration& declaration) {
  for (const DispatchEntry& entry : op.dispatch) {
    if (entry.kernel == declaration.name) return entry.kernel_location;
  }
  for (const char* key : {"structured", "composite"}) {
    if (const Location* place = op.key_location(key)) return *place;
  }
  return op.location;
}

/// "aten/cpu/mm.cpp", by the rule that the symbol predicts the file; else which files were
/// searched.
std::string expected_place(const Operator& op, const KernelDeclaration& declaration,
                           const std::vector<std::string>& folders) {
  std::string folder = declaration.backend;
  std::transform(folder.begin(), folder.end(), folder.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::string file = op.schema.base_name() + (folder == "cuda" ? ".cu" : ".cpp");
  for (const std::string& path : folders) {
    if (fs::path(path).filename() == folder) return (fs::path(path) / file).string();
  }
  return "one of the kernel files";
}

class Check {
 public:
  Check(const Model& model, const Targets& targets, const KernelSources& sources,
        const std::vector<std::string>& folders, DiagnosticSink& sink)
      : model_(model), targets_(targets), sources_(sources), folders_(folders), sink_(sink) {}

  void run() {
    for (const Operator& op : model_.operators()) {
      for (const KernelDeclaration& declaration : kernel_declarations(op, targets_)) {
        expected_.insert(declaration.name);
      }
    }
    for (const Operator& op : model_.operators()) {
      for (const KernelDeclaration& declaration : kernel_declarations(op, targets_)) {
        // Several entries may share a function: it is named once.
        if (!sources_.qualified().contains(declaration.name) &&
            reported_.insert(declaration.name).second) {
          report(op, declaration);
        }
      }
    }
  }

 private:
  void report(const Operator& op, const KernelDeclaration& declaration) {
    const std::string& name = declaration.name;
    Diagnostic error;
    error.location = asked_for(op, declaration);
    error.message = "kernel '" + name + "' is not defined; expected in " +
                    expected_place(op, declaration, folders_) + ": `" + declaration.signature + "`";
    const auto bare = sources_.unqualified().find(name);
    if (bare != sources_.unqualified().end()) {
      error.notes.push_back(
          {place(bare->second), "'" + name +
                                    "' is defined here without `native::`, so that "
                                    "its signature would not be checked; write `native::" +
                                    name + "`"});
    } else if (const std::string near = nearest(name); !near.empty()) {
      error.notes.push_back({place(sources_.qualified().at(near)),
                             "'" + near +
                                 "' is defined here and no entry asks for it; did you mean '" +
                                 name + "'?"});
    }
    sink_.report(std::move(error));
  }

  /// The nearest of the definitions that nothing refers to.
  std::string nearest(const std::string& name) const {
    std::vector<std::string> unused;
    for (const auto& [defined, where] : sources_.qualified()) {
      if (!expected_.contains(defined)) unused.push_back(defined);
    }
    return schema::nearest(name, unused);
  }

  Location place(const KernelSources::Place& place) {
    const KernelSources::File& source = sources_.files()[place.file];
    const SourceFile* file = sink_.sources().add(source.path, source.text);
    const std::string_view before = std::string_view(source.text).substr(0, place.offset);
    const auto line = static_cast<uint32_t>(1 + std::count(before.begin(), before.end(), '\n'));
    const size_t start = before.rfind('\n') + 1;  // npos + 1 is 0
    return {file, line, static_cast<uint32_t>(place.offset - start + 1)};
  }

  const Model& model_;
  const Targets& targets_;
  const KernelSources& sources_;
  const std::vector<std::string>& folders_;
  DiagnosticSink& sink_;
  std::set<std::string> expected_, reported_;
};

}  // namespace

void check_kernels(const Model& model, const Targets& targets, const KernelSources& sources,
                   const std::vector<std::string>& folders, DiagnosticSink& sink) {
  Check(model, targets, sources, folders, sink).run();
}

void check_backend_kernels(const BackendKernels& kernels, const Model& base,
                           const KernelSources& sources, DiagnosticSink& sink) {
  std::vector<std::string> defined;
  for (const auto& [name, place] : sources.qualified()) defined.push_back(name);
  for (const BackendKernels::Supported& supported : kernels.supported) {
    const KernelDeclaration declaration =
        backend_declaration(base.operators()[supported.op], kernels);
    const std::string& name = declaration.name;
    if (sources.qualified().contains(name)) continue;
    Diagnostic error;
    error.location = supported.name.location;
    error.message = "kernel '" + name + "' is not defined; expected in one of the kernel files: `" +
                    declaration.signature + "`";
    if (sources.unqualified().contains(name)) {
      error.message +=
          "; it is defined without `native::`, so that its signature would not be checked";
    } else {
      error.suggestion = schema::nearest(name, defined);
    }
    sink.report(std::move(error));
  }
}

}  // namespace tenon::codegen
