#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "codegen/model/model.h"
#include "codegen/optimizers/update_syntax.h"
#include "codegen/schema/function_schema.h"
#include "codegen/yaml/diagnostic.h"

namespace tenon::codegen::optimizers {

/// A part of an optimizer's state.
struct StateItem {
  enum class Kind : uint8_t {
    kStep,    ///< how many steps there were
    kNumber,  ///< a number that the update changes, from `init` on
    kTensor,  ///< like the parameter: zeros, or `init` everywhere
  };
  LocatedName name;
  Kind kind = Kind::kTensor;
  std::optional<Expr> init;
  std::optional<Expr> when;  ///< else always
};

/// An option's range: an error of this message unless the condition holds.
struct RangeCheck {
  Expr condition;
  std::string message;  ///< `{lr}` and `{betas[0]}` are values
};

/// An entry of optimizers.yaml.
struct Optimizer {
  schema::FunctionSchema schema;
  SourceString schema_text;
  std::vector<std::string> comment;  ///< lines above the entry
  std::vector<RangeCheck> checks;
  std::vector<StateItem> states;
  std::vector<Statement> update;  ///< one of them is the call
  std::optional<Expr> lists;      ///< a call, or a choice of two, over the lists of a group
  std::vector<std::string> group;
  bool starts_at_construction = false;
  /// `extends: Adam(decoupled_weight_decay=True)`: all but the signature is that entry's.
  std::string base;
  std::vector<std::pair<std::string, std::string>> fixed;  ///< options of `base` that are settled

  const std::string& name() const { return schema.name; }
  /// The name in lower case: of its files and its module of Python.
  std::string module() const { return module_of(name()); }
  static std::string module_of(std::string name);
  const StateItem* state(const std::string& name) const;
  /// The statement that is the call of an operator.
  const Statement* call() const;
};

/// Options that choose an implementation in Python. C++ has one, and not the options.
bool is_switch(const std::string& option);

/// The operator of a call, which is known once the entry is checked.
const Operator* find_operator(const Model& model, const std::string& name);

/// The keys of an entry, `optimizer` first.
const std::vector<std::string>& optimizer_keys();

/// Reads the file; everything wrong with it is reported. Calls are checked against `model`'s
/// operators.
std::vector<Optimizer> load_optimizers(const std::string& path, const Model& model,
                                       DiagnosticSink& sink);
/// The same for a text in memory, which belongs to the sink's sources().
std::vector<Optimizer> load_optimizers(const SourceFile& file, const Model& model,
                                       DiagnosticSink& sink);

}  // namespace tenon::codegen::optimizers
