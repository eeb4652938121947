#pragma once

#include <string>

#include "codegen/emit/dispatch.h"

namespace tenon::codegen {

/// Version of the IR's format: raised when a key changes its meaning or goes.
inline constexpr int kIrVersion = 1;

struct EmitOptions {
  Targets targets;
  /// In-tree: the generated Tensor class and the umbrella headers are written too.
  bool library = true;
  /// Of an operator library outside the tree, and its header that includes all others.
  std::string library_name = "tenon";
  std::string header;
  /// Source files per kind; an operator's shard is a hash of its name.
  int shards = 16;
  /// Operators that exist elsewhere (the installed library's), for a library outside the tree.
  const Model* base = nullptr;
  /// A file that lists the operators to build, with those they reach; all if empty. Then also the
  /// root of the hand-written sources.
  std::string selected, root;
  /// Also what Python's module `tenon` has of the operators.
  bool python = false;
};

/// The whole model as JSON, and the files to render from it:
///   {"version", "library", "operators": [entry...], "files": [{"path", "template", "operators":
///   [i...]}]}
/// An entry is {"name", "forms": [...], "kernel", "declarations", "node", ...}; see docs/ir.md.
/// The model has passed the checks; what is wrong with a list of operators to build goes to `sink`.
Json emit_ir(const Model& model, const EmitOptions& options, DiagnosticSink& sink);

}  // namespace tenon::codegen
