#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "codegen/model/model.h"
#include "codegen/yaml/diagnostic.h"

namespace tenon::codegen {

/// Runs every rule of the model's dialect and reports all violations. `base` holds operators that
/// exist elsewhere, which formulas may call, or is null.
void run_checks(const Model& model, DiagnosticSink& sink, const Model* base = nullptr);

/// Names of all rules, in the order in which they run. Each has a failing file of its name in
/// tests/codegen/bad.
const std::vector<std::string>& rule_names();

/// Runs one rule, whatever the dialect; false if there is none of this name.
bool run_rule(std::string_view name, const Model& model, DiagnosticSink& sink);

/// What keeps operators from being added to a library that has those of `base`: the name of one of
/// its functions, a method.
void check_against_base(const Model& model, const Model& base, DiagnosticSink& sink);

}  // namespace tenon::codegen
