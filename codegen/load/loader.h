#pragma once

#include <string>
#include <vector>

#include "codegen/model/model.h"
#include "codegen/yaml/diagnostic.h"

namespace tenon::codegen {

/// Texts that are already in memory; all belong to the sink's sources().
struct Sources {
  std::vector<const SourceFile*> native;
  std::vector<const SourceFile*> derivatives;
  const SourceFile* tags = nullptr;
};

/// As below, for texts in memory.
Model load(const Sources& sources, Dialect dialect, DiagnosticSink& sink,
           const Model* base = nullptr, const std::vector<std::string>& fused_dtypes = {});

/// Reads the files into a model. Everything wrong with their form is reported in `sink`: YAML that
/// cannot be read, schemas that do not parse, unknown keys, values of the wrong kind. The model
/// holds what could be understood, so that run_checks() may go on and report the rest of the errors
/// in the same run. Expressions may call operators of `base`, a library that this one adds to. An
/// empty `tags_file` means no closed list: every tag is accepted. `fused_dtypes`: the dtypes that
/// kernels of compositions are for, "Float"; empty: all floating ones. Does not throw on bad input.
Model load(const std::vector<std::string>& native_files,
           const std::vector<std::string>& derivative_files, const std::string& tags_file,
           Dialect dialect, DiagnosticSink& sink, const Model* base = nullptr,
           const std::vector<std::string>& fused_dtypes = {});

}  // namespace tenon::codegen
