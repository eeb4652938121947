#include "codegen/check/kernels.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "codegen/emit/cpp_types.h"
#include "codegen/schema/suggest.h"

namespace tenon::codegen {
namespace {

namespace fs = std::filesystem;

bool in_library(const Operator& op) { return op.schema.ns.empty() || op.schema.ns == "aten"; }

void remove_all(std::string& text, const std::string& what) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
    text.erase(at, what.size());
  }
}

/// The definition's first line, as it is written in the namespace of the operator.
std::string signature(const Operator& op, const Json& declaration) {
  const std::string kind = declaration["kind"];
  std::string text = kind == "meta"         ? declaration["result"].get<std::string>()
                     : kind == "structured" ? "void"
                                            : cpp_return_type(op.schema);
  text += " native::" + declaration["name"].get<std::string>() + "(";
  const char* comma = "";
  for (const schema::Argument& argument : op.schema.args) {
    text += comma + cpp_parameter_type(argument) + " " + argument.name;
    comma = ", ";
  }
  if (kind == "structured") {
    for (const Json& out : declaration["outputs"]) {
      text += ", const tenon::Tensor& " + out.get<std::string>();
    }
  }
  text += ")";
  for (size_t at = text.find("::std::"); at != std::string::npos; at = text.find("::std::", at)) {
    text.erase(at, 2);
  }
  if (in_library(op)) remove_all(text, "tenon::");
  return text;
}

/// Place of what asks for the function.
Location asked_for(const Operator& op, const Json& declaration) {
  for (const DispatchEntry& entry : op.dispatch) {
    if (entry.kernel == declaration["name"]) return entry.kernel_location;
  }
  for (const char* key : {"structured", "composite"}) {
    if (const Location* place = op.key_location(key)) return *place;
  }
  return op.location;
}

/// "aten/cpu/mm.cpp", by the rule that the symbol predicts the file; else which files were searched.
std::string expected_place(const Operator& op, const Json& declaration,
                           const std::vector<std::string>& folders) {
  std::string folder = declaration["backend"];
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
      for (const Json& declaration : emit_kernel_declarations(op, targets_)) {
        expected_.insert(declaration["name"].get<std::string>());
      }
    }
    for (const Operator& op : model_.operators()) {
      for (const Json& declaration : emit_kernel_declarations(op, targets_)) {
        const std::string name = declaration["name"];
        // Several entries may share a function: it is named once.
        if (!sources_.qualified().contains(name) && reported_.insert(name).second) {
          report(op, declaration, name);
        }
      }
    }
  }

 private:
  void report(const Operator& op, const Json& declaration, const std::string& name) {
    Diagnostic error;
    error.location = asked_for(op, declaration);
    error.message = "kernel '" + name + "' is not defined; expected in " +
                    expected_place(op, declaration, folders_) + ": `" +
                    signature(op, declaration) + "`";
    const auto bare = sources_.unqualified().find(name);
    if (bare != sources_.unqualified().end()) {
      error.notes.push_back({place(bare->second), "'" + name + "' is defined here without `native::`, so that "
                                                  "its signature would not be checked; write `native::" +
                                                      name + "`"});
    } else if (const std::string near = nearest(name); !near.empty()) {
      error.notes.push_back({place(sources_.qualified().at(near)),
                             "no entry asks for '" + near + "', defined here; is it the one?"});
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

}  // namespace tenon::codegen
