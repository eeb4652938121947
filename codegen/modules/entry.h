#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/expr/formulas/formula.h"
#include "codegen/schema/function_schema.h"
#include "codegen/yaml/diagnostic.h"

// What modules.yaml declares (docs/modules.md): functions of nn::functional, and modules. They
// serve C++ and Python alike.

namespace tenon::codegen::modules {

/// An expression of the language of compositions, with its place.
struct Expression {
  SourceString text;
  expr::Formula tree;
};

/// An argument of a module or a function: of its signature, with what other keys say of it.
struct Argument {
  schema::Argument schema;
  std::vector<std::string> words;  ///< that it can be; empty: it is no word
  std::string fallback;            ///< the argument whose value an absent one has; or empty
  bool expand = false;             ///< Python keeps one number as a tuple of `[N]` of them
  std::string attribute;           ///< Python's name for it in the module
  std::string replaced_by;         ///< of an old name in Python: the argument of the new name

  const std::string& name() const { return schema.name; }
  bool is_tensor() const { return schema.type.holds_tensors(); }
  /// An argument of old programs: size_average and reduce, which say `reduction`, or another that
  /// has a new name. Python alone has them.
  bool is_legacy() const {
    return name() == "size_average" || name() == "reduce" || !replaced_by.empty();
  }
};

/// `function`: of nn::functional. Python's are written by hand, in nn/functional.
struct Function {
  SourceString signature_text;
  schema::FunctionSchema schema;
  std::vector<Argument> arguments;
  std::string comment;
  std::string options;             ///< "ELU" of ELUFuncOptions
  bool positional = false;         ///< all arguments in C++, in place of a class of options
  std::optional<Expression> body;  ///< `as`; without it the function is written by hand in C++
  const std::string& name() const { return schema.name; }
};

/// A parameter or a buffer.
struct State {
  LocatedName name;
  std::vector<Expression> sizes;
  std::vector<Expression> init;    ///< calls of nn::init, without their first argument
  std::optional<Expression> when;  ///< the module has it then
  std::string given;               ///< the argument that is taken in place of a new tensor
  std::string dtype;               ///< "long"; empty: the default one
};

/// A module inside of another: `up: Linear(dim, hidden, bias=false)`.
struct Submodule {
  struct Value {
    LocatedName argument;  ///< empty: by its position
    Expression value;
  };
  LocatedName name;
  LocatedName type;
  std::vector<Value> values;
};

/// `forward(...)` of a module.
struct Forward {
  std::vector<Argument> arguments;
  std::vector<schema::Return> returns;
  Expression body;
};

/// One part of what printing a module shows.
struct ShownPart {
  std::string name;
  bool bare = false;         ///< the value without `name=`
  bool if_changed = false;   ///< only where it differs from its default
  bool represented = false;  ///< a text in quotes, in Python
};

struct Module {
  std::string name;
  SourceString signature_text;
  Location location;
  std::string comment;
  std::vector<Argument> arguments;
  std::vector<State> parameters, buffers;
  std::vector<Submodule> submodules;
  std::vector<Expression> checks;
  std::optional<Forward> forward;
  std::string calls;  ///< the function that forward calls with arguments of the same names
  std::vector<std::pair<LocatedName, std::string>> forward_names;  ///< Python's, of its tensors
  std::vector<ShownPart> shown;
  std::optional<std::vector<ShownPart>> shown_cpp;  ///< if C++ shows others
  std::string python_base, cpp_base;                ///< bases beside Module
  std::string python_base_arguments;                ///< of the base's constructor
  std::optional<int64_t> version;                   ///< of its state dict
  bool python = true, cpp = true;                   ///< the languages that it is generated for
  bool holder = true;                               ///< false: the C++ handle is written by hand

  const Argument* find(std::string_view argument) const;
  const State* find_state(std::string_view state) const;
  const State* find_buffer(std::string_view buffer) const;
  const Submodule* find_submodule(std::string_view submodule) const;
};

/// A key of the file: what shares headers and Python's module.
struct Family {
  LocatedName name;
  std::vector<Function> functions;
  std::vector<Module> modules;
};

struct Declarations {
  std::string library = "tenon";  ///< folder of the headers, and namespace
  std::vector<Family> families;
  const Declarations* base = nullptr;  ///< what Tenon has, for a library beside it
  /// Its own or the base's.
  const Function* find_function(std::string_view name) const;
  const Module* find_module(std::string_view name) const;
  bool declares(std::string_view function) const;
  /// The family of this library that has the function or module; nullptr for the base's.
  const Family* family_of(std::string_view name) const;
};

/// The keys of entries, `module` or `function` first. "forward(...)" stands for any signature.
const std::vector<std::string>& module_keys();
const std::vector<std::string>& function_keys();

/// Reads modules.yaml; everything wrong with it goes to `sink`.
Declarations load(const std::string& path, DiagnosticSink& sink);

}  // namespace tenon::codegen::modules
