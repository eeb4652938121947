#pragma once

#include <string>
#include <vector>

#include "codegen/schema/fields.h"

namespace tenon::codegen::ir {

/// One text in each language.
struct Both {
  std::string cpp, python;
  TENON_FIELDS(cpp, python)
};

struct OptimizerOption {
  std::string name;
  std::string cpp_type;  ///< empty: an option of Python alone
  std::string python_type;
  Both default_text;
  bool is_pair = false;
  bool keyword_only = false;
  bool is_settled = false;  ///< of the base that is extended
  TENON_FIELDS(name, cpp_type, python_type, default_text, is_pair, keyword_only, is_settled)
};

struct OptimizerCheck {
  Both condition;
  std::vector<std::string> cpp_message;  ///< parts, texts in quotes
  std::string message;                   ///< with `{lr}` for a value
  TENON_FIELDS(condition, cpp_message, message)
};

struct OptimizerState {
  std::string name, kind;  ///< step, number, tensor
  Both init;               ///< of a tensor: empty for zeros
  Both when;               ///< empty: always
  TENON_FIELDS(name, kind, init, when)
};

struct OptimizerArgument {
  std::string name;
  std::string kind;   ///< param, grad, state, steps, number
  std::string state;  ///< its name
  Both value;         ///< of a number
  Both when;          ///< of a tensor that may be absent
  bool is_written = false;
  bool is_whole = false;    ///< an int
  bool is_keyword = false;  ///< of Python's call
  TENON_FIELDS(name, kind, state, value, when, is_written, is_whole, is_keyword)
};

struct OptimizerCall {
  std::string name;
  std::vector<OptimizerArgument> arguments;
  TENON_FIELDS(name, arguments)
};

/// A local value, a change of a number of the state, or the call.
struct OptimizerStatement {
  std::string kind;  ///< let, set, scale, call
  std::string name;
  Both value;
  TENON_FIELDS(kind, name, value)
};

/// A value of the operator's expressions, for steps that record in Python.
struct OptimizerFormula {
  std::string name;   ///< of a local value, else empty
  std::string state;  ///< that takes the value; "" for the parameter
  std::string text;
  TENON_FIELDS(name, state, text)
};

struct Optimizer {
  std::string name, module;  ///< Adam, adam
  std::vector<std::string> comment;
  std::string base, base_module;
  std::vector<OptimizerOption> options;
  std::vector<std::string> group;  ///< options in the order of a group's keys
  std::vector<OptimizerCheck> checks;
  std::vector<OptimizerState> states;
  bool starts_at_construction = false;
  bool uses_first = false;
  std::vector<OptimizerStatement> statements;
  OptimizerCall call;
  std::string header;                ///< of the operator
  std::vector<OptimizerCall> lists;  ///< none, one, or two with a condition
  std::string lists_condition;
  std::vector<Both> bindings;  ///< of the formula: `cpp` is the name, `python` the value
  std::vector<OptimizerFormula> formula;
  std::vector<std::string> helpers;  ///< functions that Python's formula and update use
  TENON_FIELDS(name, module, comment, base, base_module, options, group, checks, states,
               starts_at_construction, uses_first, statements, call, header, lists, lists_condition,
               bindings, formula, helpers)
};

}  // namespace tenon::codegen::ir
