#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "codegen/modules/entry.h"

namespace tenon::codegen::modules {

enum class Language : uint8_t { kCpp, kPython };

/// What names stand for in an expression of an entry.
struct Scope {
  const Declarations* declarations = nullptr;
  const std::set<std::string>* operators = nullptr;  ///< base names of the library's
  const Module* module = nullptr;
  const std::vector<Argument>* arguments = nullptr;  ///< of the function, or of forward
  bool in_constructor = false;                       ///< Python: arguments are those of __init__
  bool is_function = false;  ///< of nn::functional: calls mean operators first
  bool of_numbers = false;   ///< sqrt and its like are those of numbers
};

/// Prints an expression in a language. What it cannot is reported at its place.
class Printer {
 public:
  Printer(Language language, Scope scope, DiagnosticSink& sink)
      : language_(language), scope_(scope), sink_(sink) {}

  std::string print(const Expression& expression);
  /// The body of forward, line by line: locals, checks, buffers that are written, the result.
  std::vector<std::string> print_body(const Expression& body);
  /// The value of an argument that may be a word.
  std::string print_value(const Expression& value, const Argument& argument) {
    expression_ = &value;
    return print_value(value.tree, argument);
  }
  /// A call of nn::init with the tensor before its arguments.
  std::string print_init(const Expression& call, const std::string& tensor);
  /// A check as statements: what does not hold throws.
  std::string print_check(const Expression& call);
  /// Operators that were called, whose headers C++ needs.
  const std::set<std::string>& called() const { return called_; }
  const Module* module() const { return scope_.module; }
  /// Python: modules that the text needs, "math".
  bool uses_math() const { return uses_math_; }
  /// Functions and modules of a library beside Tenon that the text names.
  const std::set<std::string>& own_names() const { return own_names_; }

 private:
  std::string print(const expr::Formula& tree);
  std::string print_check(const expr::Formula& tree);
  std::string print_name(const expr::Formula& tree);
  std::string print_value(const expr::Formula& tree, const Argument& argument);
  std::string print_call(const expr::Formula& tree, const std::string& first);
  std::string print_argument(const expr::Formula& tree, bool of_operator);
  const Function* called_function(const expr::Formula& called) const;
  std::string print_function_call(const expr::Formula& tree, const Function& function);
  std::string print_binary(const expr::Formula& tree);
  /// Whether it is an integer in both languages, of which `/` drops the fraction.
  bool is_integer(const expr::Formula& tree) const;
  std::string callee(const expr::Formula& name, bool& is_operator);
  void print_assignment(const expr::Formula& tree, std::vector<std::string>& lines);
  void write_buffer(const expr::Formula& tree, std::vector<std::string>& lines);
  void error(const expr::Formula& tree, const std::string& message, std::string suggestion = {});
  bool cpp() const { return language_ == Language::kCpp; }

  Language language_;
  Scope scope_;
  DiagnosticSink& sink_;
  const Expression* expression_ = nullptr;
  std::set<std::string> called_, own_names_;
  std::map<std::string, bool> locals_;  ///< and whether they are integers
  bool uses_math_ = false;
};

/// What computes a function of nn::functional from all its arguments, with its namespace.
std::string function_in_cpp(const Declarations& declarations, const std::string& name);
/// "F.linear"; one of a library beside Tenon by its name alone.
std::string function_in_python(const Declarations& declarations, const std::string& name);
/// Python's name of an argument: `lambd` of `lambda`, which is a word of Python.
std::string python_name(const std::string& name);
/// C++: "kMean" of "mean".
std::string enum_type(const std::string& word);
/// The type of an option in C++: ExpandingArray<2>, std::optional<double>, ...
std::string option_type(const Argument& argument);
/// As a parameter of a function: by value if it is small.
std::string parameter_type(const Argument& argument);
/// The default in C++ and in Python; empty without one.
std::string cpp_default(const Argument& argument);
std::string python_default(const Argument& argument);

}  // namespace tenon::codegen::modules
