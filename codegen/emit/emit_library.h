#pragma once

#include <string>

#include "codegen/emit/emit_standalone.h"
#include "codegen/ir/library.h"
#include "codegen/model/model.h"
#include "codegen/yaml/diagnostic.h"

namespace tenon::codegen {

struct EmitOptions {
  Targets targets;
  OutputTarget target = OutputTarget::kLibrary;
  /// In-tree: the generated Tensor class and the umbrella headers are written too.
  bool library = true;
  /// Of an operator library outside the tree, and its header that includes all others.
  std::string library_name = "tenon";
  std::string header;
  /// Source files per kind; an operator's shard is a hash of its name.
  int shards = 64;
  /// Those of CUDA kernels: nvcc takes long for the headers.
  int cuda_shards = 16;
  /// Operators that exist elsewhere (the installed library's), for a library outside the tree.
  const Model* base = nullptr;
  /// A file that lists the operators to build, with those they reach; all if empty. Then also the
  /// root of the hand-written sources.
  std::string selected, root;
  /// Also what Python's module `tenon` has of the operators.
  bool python = false;
};

/// What is generated for the whole model, and the files to render. The model has passed the checks;
/// what is wrong with a list of operators to build goes to `sink`.
ir::Library emit_library(const Model& model, const EmitOptions& options, DiagnosticSink& sink);

}  // namespace tenon::codegen
