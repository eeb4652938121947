#pragma once

#include <sstream>
#include <string>

#include "codegen/check/check.h"
#include "codegen/load/loader.h"

namespace tenon::codegen {

/// A model of texts, and what was said about them.
struct Read {
  Model model;
  std::string messages;
  size_t num_errors = 0;
};

/// Without `checks` only what the loader says: expressions and formulas may be of any names.
inline Read read_text(const std::string& native, const std::string& derivatives = {},
                      Dialect dialect = Dialect::kTenon, bool checks = true) {
  DiagnosticSink sink;
  Sources sources;
  sources.native.push_back(sink.sources().add("native.yaml", native));
  sources.derivatives.push_back(sink.sources().add("derivatives.yaml", derivatives));
  Read result;
  result.model = load(sources, dialect, sink);
  if (checks) run_checks(result.model, sink);
  std::ostringstream out;
  sink.print(out);
  result.messages = out.str();
  result.num_errors = sink.num_errors();
  return result;
}

}  // namespace tenon::codegen
