#include "codegen/modules/language.h"

#include <algorithm>
#include <map>

#include "codegen/schema/suggest.h"

namespace tenon::codegen::modules {

using expr::Formula;
using expr::FormulaKind;

std::string Printer::print(const Expression& expression) {
  expression_ = &expression;
  return print(expression.tree);
}

std::vector<std::string> Printer::print_body(const Expression& body) {
  expression_ = &body;
  std::vector<std::string> lines;
  const Formula* tree = &body.tree;
  for (; tree->kind == FormulaKind::kLocal || tree->kind == FormulaKind::kCheck;
       tree = &tree->children[1]) {
    if (tree->kind == FormulaKind::kLocal) {
      print_assignment(*tree, lines);
    } else {
      lines.push_back(print_check(tree->children[0]));
    }
  }
  lines.push_back("return " + print(*tree) + (cpp() ? ";" : ""));
  return lines;
}

void Printer::print_assignment(const Formula& tree, std::vector<std::string>& lines) {
  const std::string& name = tree.text;
  const Module* module = scope_.module;
  if (module && module->find_buffer(name)) return write_buffer(tree, lines);
  bool taken = module && (module->find(name) || module->find_state(name) ||
                          module->find_submodule(name) || name == "training");
  for (const Argument& argument : *scope_.arguments) taken = taken || argument.name() == name;
  if (taken) {
    error(tree,
          "`" + name + "` cannot be assigned: forward may write buffers and names of its own");
    return;
  }
  const std::string value = print(tree.children[0]);
  const bool is_new = locals_.emplace(name, is_integer(tree.children[0])).second;
  lines.push_back(cpp() ? (is_new ? "auto " : "") + name + " = " + value + ";"
                        : name + " = " + value);
}

/// In place and unrecorded. `buffer = condition ? value : buffer` writes only if it holds.
void Printer::write_buffer(const Formula& tree, std::vector<std::string>& lines) {
  const Formula* value = &tree.children[0];
  std::string indent;
  const bool conditional = value->kind == FormulaKind::kTernary &&
                           value->children[2].kind == FormulaKind::kName &&
                           value->children[2].text == tree.text;
  if (conditional) {
    const std::string condition = print(value->children[0]);
    lines.push_back(cpp() ? "if (" + condition + ") {" : "if " + condition + ":");
    value = &value->children[1];
    indent = cpp() ? "  " : "    ";
  } else if (cpp()) {
    lines.push_back("{");
    indent = "  ";
  }
  const std::string copy = tree.text + ".copy_(" + print(*value) + ")";
  lines.push_back(indent + (cpp() ? "NoGradGuard no_grad;" : "with tenon.no_grad():"));
  lines.push_back(indent + (cpp() ? copy + ";" : "    self." + copy));
  if (cpp()) lines.push_back("}");
}

void Printer::error(const Formula& tree, const std::string& message, std::string suggestion) {
  sink_.error(expression_->text.at(tree.offset), message, std::move(suggestion));
}

std::string Printer::print_name(const Formula& tree) {
  const std::string& name = tree.text;
  if (name == "self") return cpp() ? "*this" : "self";
  if (name == "None") return cpp() ? "{}" : "None";
  if (locals_.contains(name)) return name;
  if (scope_.arguments) {
    for (const Argument& argument : *scope_.arguments) {
      if (argument.name() == name) return cpp() ? name : python_name(name);
    }
  }
  std::vector<std::string> known = {"self", "training"};
  if (const Module* module = scope_.module) {
    if (name == "training") return cpp() ? "is_training()" : "self.training";
    const Argument* argument = module->find(name);
    if (scope_.in_constructor && argument) {
      return cpp()              ? "options." + name + "()"
             : argument->expand ? "self." + argument->attribute
                                : python_name(name);
    }
    if (module->find_state(name)) return cpp() ? name : "self." + name;
    if (argument)
      return cpp() ? "options." + name + "()" : "self." + python_name(argument->attribute);
    for (const Argument& one : module->arguments) known.push_back(one.name());
    for (const auto* states : {&module->parameters, &module->buffers}) {
      for (const State& one : *states) known.push_back(one.name.text);
    }
  }
  for (const auto& [local, integer] : locals_) known.push_back(local);
  if (scope_.arguments) {
    for (const Argument& argument : *scope_.arguments) known.push_back(argument.name());
  }
  error(tree, "`" + name + "` is no argument, parameter or buffer here",
        schema::nearest(name, known));
  return name;
}

std::string Printer::callee(const Formula& name, bool& is_operator) {
  static const std::set<std::string> kMath = {"sqrt", "log", "exp", "floor", "ceil"};
  const std::string& text = name.text;
  if (text.starts_with('_')) {
    return (cpp() ? "tenon::nn::functional::detail::" : "_helpers.") + text.substr(1);
  }
  if (scope_.module && !scope_.in_constructor && scope_.module->find_submodule(text))
    return cpp() ? text : "self." + text;
  const bool is_function = scope_.declarations->find_function(text);
  is_operator = scope_.operators->contains(text) && (scope_.is_function || !is_function);
  if ((scope_.in_constructor || scope_.of_numbers) && kMath.contains(text)) {
    is_operator = false;
    uses_math_ = true;
    return (cpp() ? "std::" : "math.") + text;
  }
  if (is_operator) {
    called_.insert(text);
    const size_t colons = text.find("::");
    if (colons == std::string::npos) return (cpp() ? "tenon::" : "tenon.") + text;
    return cpp() ? text : "tenon.ops." + text.substr(0, colons) + "." + text.substr(colons + 2);
  }
  if (is_function) own_names_.insert(text);
  if (is_function)
    return cpp() ? function_in_cpp(*scope_.declarations, text)
                 : function_in_python(*scope_.declarations, text);
  std::vector<std::string> known(scope_.operators->begin(), scope_.operators->end());
  if (scope_.module) {
    for (const Submodule& one : scope_.module->submodules) known.push_back(one.name.text);
  }
  error(name, "`" + text + "` is neither an operator, a function of nn.functional nor a submodule",
        schema::nearest(text, known));
  return text;
}

/// What may be absent reaches an operator as a std::optional, and a word as what it takes.
std::string Printer::print_argument(const Formula& tree, bool of_operator) {
  const std::string text = print(tree);
  if (!cpp() || !of_operator || tree.kind != FormulaKind::kName) return text;
  const Argument* argument = nullptr;
  if (scope_.arguments) {
    for (const Argument& one : *scope_.arguments) {
      if (one.name() == tree.text) argument = &one;
    }
  }
  if (!argument && scope_.module) argument = scope_.module->find(tree.text);
  const State* state = scope_.module ? scope_.module->find_state(tree.text) : nullptr;
  if (state && (state->when || !state->given.empty()))
    return "tenon::nn::functional::detail::optional_tensor(" + text + ")";
  if (!argument) return text;
  if (argument->schema.type.is_optional_tensor())
    return "tenon::nn::functional::detail::optional_tensor(" + text + ")";
  if (argument->words.empty() || argument->schema.type.is_list()) return text;
  const bool is_reduction = argument->name() == "reduction";
  return (is_reduction ? "reduction_number(" : "enum_text(") + text + ")";
}

std::string Printer::print_call(const Formula& tree, const std::string& first) {
  const Formula& called = tree.children[0];
  const Function* const function = called_function(called);
  if (function) return print_function_call(tree, *function);
  bool is_operator = false;
  std::string text;
  if (called.kind == FormulaKind::kMember) {
    text = print(called.children[0]) + "." + called.text;
    is_operator = true;
  } else {
    text = callee(called, is_operator);
  }
  text += "(" + first;
  for (size_t i = 1; i < tree.children.size(); ++i) {
    if (i > 1 || !first.empty()) text += ", ";
    text += print_argument(tree.children[i], is_operator);
  }
  return text + ")";
}

bool Printer::is_integer(const Formula& tree) const {
  const auto all = [&](size_t first) {
    return std::all_of(tree.children.begin() + static_cast<ptrdiff_t>(first), tree.children.end(),
                       [&](const Formula& child) { return is_integer(child); });
  };
  switch (tree.kind) {
  case FormulaKind::kLiteral: return tree.text.find_first_not_of("0123456789") == std::string::npos;
  case FormulaKind::kName: {
    if (const auto local = locals_.find(tree.text); local != locals_.end()) return local->second;
    const auto integer = [&](const Argument& one) {
      return one.name() == tree.text && one.schema.type.base == schema::BaseType::kInt &&
             one.schema.type.suffixes.empty();
    };
    for (const auto* arguments :
         {scope_.arguments, scope_.module ? &scope_.module->arguments : nullptr}) {
      if (arguments && std::any_of(arguments->begin(), arguments->end(), integer)) return true;
    }
    return false;
  }
  case FormulaKind::kCall: {
    static const std::set<std::string> kSizes = {"size", "dim", "numel"};
    return tree.children[0].kind == FormulaKind::kMember && kSizes.contains(tree.children[0].text);
  }
  case FormulaKind::kBinary: {
    static const std::set<std::string> kArithmetic = {"+", "-", "*", "/", "%"};
    return kArithmetic.contains(tree.operation) && all(0);
  }
  case FormulaKind::kUnary: return tree.operation == "-" && all(0);
  case FormulaKind::kTernary: return all(1);
  case FormulaKind::kParentheses: return all(0);
  default: return false;
  }
}

/// A function of nn::functional, if the name means one here.
const Function* Printer::called_function(const Formula& called) const {
  if (called.kind != FormulaKind::kName || scope_.is_function) return nullptr;
  if (scope_.module && scope_.module->find_submodule(called.text)) return nullptr;
  return scope_.declarations->find_function(called.text);
}

/// C++'s functions take all arguments; Python's have others between those with defaults.
std::string Printer::print_function_call(const Formula& tree, const Function& function) {
  bool is_operator = false;
  std::string text = callee(tree.children[0], is_operator) + "(";
  const size_t given = tree.children.size() - 1;
  if (cpp() && given > function.arguments.size())
    error(tree.children[function.arguments.size() + 1],
          "`" + function.name() + "` takes " + std::to_string(function.arguments.size()) +
              " arguments, and here are more");
  for (size_t i = 0; i < function.arguments.size(); ++i) {
    const Argument& argument = function.arguments[i];
    const bool has_default = argument.schema.default_value.has_value();
    std::string value;
    if (i < given) {
      value = print_value(tree.children[i + 1], argument);
      if (!cpp() && has_default && !argument.is_tensor())
        value = python_name(argument.name()) + "=" + value;
    } else if (!has_default) {
      error(tree, "`" + function.name() + "` needs its argument `" + argument.name() + "`");
    } else if (cpp()) {
      value = cpp_default(argument);
      if (value == "{}") value = "Tensor()";
    } else {
      break;
    }
    text += (i ? ", " : "") + value;
  }
  // Python's functions may have more, written by hand.
  for (size_t i = function.arguments.size(); !cpp() && i < given; ++i)
    text += ", " + print(tree.children[i + 1]);
  return text + ")";
}

/// A word in quotes is a type in C++.
std::string Printer::print_value(const Formula& tree, const Argument& argument) {
  const bool is_text = tree.kind == FormulaKind::kLiteral && tree.text.starts_with('"');
  if (argument.words.empty() || !is_text) return print(tree);
  const std::string word = tree.text.substr(1, tree.text.size() - 2);
  if (std::find(argument.words.begin(), argument.words.end(), word) == argument.words.end())
    error(tree, "`" + argument.name() + "` cannot be \"" + word + "\"",
          schema::nearest(word, argument.words));
  return cpp() ? "tenon::" + enum_type(word) : tree.text;
}

std::string Printer::print_binary(const Formula& tree) {
  const std::string a = print(tree.children[0]), b = print(tree.children[1]);
  if (tree.operation == "??") {
    return cpp() ? a + ".value_or(" + b + ")" : "(" + b + " if " + a + " is None else " + a + ")";
  }
  if (cpp()) return a + " " + tree.operation + " " + b;
  if (tree.operation == "/" && is_integer(tree)) return a + " // " + b;
  static const std::map<std::string, std::string> kWords = {{"&&", "and"}, {"||", "or"}};
  const auto word = kWords.find(tree.operation);
  if (word != kWords.end()) return a + " " + word->second + " " + b;
  return a + " " + tree.operation + " " + b;
}

std::string Printer::print(const Formula& tree) {
  const auto joined = [&](const std::string& open, const std::string& close) {
    std::string text = open;
    for (size_t i = 0; i < tree.children.size(); ++i) {
      text += (i ? ", " : "") + print(tree.children[i]);
    }
    return text + close;
  };
  switch (tree.kind) {
  case FormulaKind::kName: return print_name(tree);
  case FormulaKind::kLiteral:
    if (!cpp() && tree.text == "true") return "True";
    if (!cpp() && tree.text == "false") return "False";
    return tree.text;
  case FormulaKind::kCall: return print_call(tree, {});
  case FormulaKind::kIndex: return print(tree.children[0]) + "[" + print(tree.children[1]) + "]";
  case FormulaKind::kUnary: {
    const bool word = !cpp() && tree.operation == "!";
    return (word ? "not " : tree.operation) + print(tree.children[0]);
  }
  case FormulaKind::kBinary: return print_binary(tree);
  case FormulaKind::kTernary: {
    const std::string c = print(tree.children[0]), a = print(tree.children[1]),
                      b = print(tree.children[2]);
    return cpp() ? c + " ? " + a + " : " + b : a + " if " + c + " else " + b;
  }
  case FormulaKind::kBraces:
    return cpp() ? joined("{", "}") : joined("(", tree.children.size() == 1 ? ",)" : ")");
  case FormulaKind::kParentheses: return joined("(", ")");
  default:
    error(tree, "an expression of a module is made of calls, names, numbers and operators");
    return {};
  }
}

std::string Printer::print_init(const Expression& call, const std::string& tensor) {
  expression_ = &call;
  const Formula& tree = call.tree;
  if (tree.kind != FormulaKind::kCall || tree.children[0].kind != FormulaKind::kName) {
    error(tree, "`init` is a call of a function of nn.init, as `ones_()`");
    return {};
  }
  const std::string& name = tree.children[0].text;
  const bool helper = name.starts_with('_');
  std::string text =
      helper ? (cpp() ? "tenon::nn::functional::detail::" : "_helpers.") + name.substr(1)
             : (cpp() ? "init::" : "init.") + name;
  text += "(" + tensor;
  for (size_t i = 1; i < tree.children.size(); ++i) text += ", " + print(tree.children[i]);
  return text + ")";
}

std::string Printer::print_check(const Expression& call) {
  expression_ = &call;
  return print_check(call.tree);
}

std::string Printer::print_check(const Formula& tree) {
  static const std::map<std::string, std::string> kErrors = {{"check", "RuntimeError"},
                                                             {"check_value", "ValueError"},
                                                             {"check_index", "IndexError"},
                                                             {"check_type", "TypeError"}};
  const bool is_call =
      tree.kind == FormulaKind::kCall && tree.children[0].kind == FormulaKind::kName;
  if (is_call && tree.children[0].text.starts_with('_')) return print(tree) + (cpp() ? ";" : "");
  const auto kind = is_call ? kErrors.find(tree.children[0].text) : kErrors.end();
  if (kind == kErrors.end() || tree.children.size() < 3) {
    error(tree, "a check is `check_value(what must hold, \"text\", value, ...)`");
    return {};
  }
  const std::string condition = print(tree.children[1]);
  if (cpp()) {
    std::string text =
        expr::check_macro(kind->first) + "(" + condition + ", \"[" + scope_.module->name + "] \"";
    for (size_t i = 2; i < tree.children.size(); ++i) text += ", " + print(tree.children[i]);
    return text + ");";
  }
  std::string message;
  bool has_value = false;
  for (size_t i = 2; i < tree.children.size(); ++i) {
    const Formula& part = tree.children[i];
    if (part.kind == FormulaKind::kLiteral && part.text.starts_with('"')) {
      message += part.text.substr(1, part.text.size() - 2);
    } else {
      message += "{" + print(part) + "}";
      has_value = true;
    }
  }
  return "if not (" + condition + "):\n            raise " + kind->second + "(" +
         (has_value ? "f\"" : "\"") + message + "\")";
}

std::string function_in_cpp(const Declarations& declarations, const std::string& name) {
  const std::string library = declarations.declares(name) ? declarations.library : "tenon";
  return library + "::nn::functional::detail::" + name;
}

std::string function_in_python(const Declarations& declarations, const std::string& name) {
  return (declarations.base && declarations.declares(name) ? "" : "F.") + name;
}

std::string python_name(const std::string& name) { return name == "lambda" ? "lambd" : name; }

std::string enum_type(const std::string& word) {
  static const std::map<std::string, std::string> kOthers = {
      {"relu", "kReLU"}, {"gelu", "kGELU"}, {"batchmean", "kBatchMean"}};
  const auto other = kOthers.find(word);
  if (other != kOthers.end()) return other->second;
  std::string type = "k";
  bool upper = true;
  for (const char c : word) {
    if (c == '_' || c == '-') {
      upper = true;
    } else {
      type += upper ? char(std::toupper(c)) : c;
      upper = false;
    }
  }
  return type;
}

std::string option_type(const Argument& argument) {
  using schema::BaseType;
  const schema::Type& type = argument.schema.type;
  if (type.holds_tensors()) return "Tensor";
  std::string element;
  switch (type.base) {
  case BaseType::kInt: element = "int64_t"; break;
  case BaseType::kFloat: element = "double"; break;
  case BaseType::kBool: element = "bool"; break;
  case BaseType::kScalarType: element = "ScalarType"; break;
  default: element = "std::string";
  }
  std::vector<schema::TypeSuffix> suffixes = type.suffixes;
  const auto optional = schema::TypeSuffix::Kind::kOptional;
  // A list of optional numbers has a class of its own.
  if (suffixes.size() == 2 && suffixes[0].kind == optional && suffixes[1].size) {
    return "ExpandingArrayWithOptionalElem<" + std::to_string(*suffixes[1].size) + ">";
  }
  bool absent = !suffixes.empty() && suffixes.back().kind == optional;
  if (absent) suffixes.pop_back();
  absent = absent && argument.fallback.empty();
  std::string text = element;
  if (!suffixes.empty()) {
    const auto size = suffixes[0].size;
    text = size ? "ExpandingArray<" + std::to_string(*size) +
                      (element == "int64_t" ? ">" : ", " + element + ">")
                : "std::vector<" + element + ">";
  }
  if (!argument.words.empty()) {
    std::string variant = suffixes.empty() ? "" : text;
    for (const std::string& word : argument.words) {
      variant += (variant.empty() ? "" : ", ") + ("enumtype::" + enum_type(word));
    }
    text = "std::variant<" + variant + ">";
  }
  return absent ? "std::optional<" + text + ">" : text;
}

std::string parameter_type(const Argument& argument) {
  const std::string type = option_type(argument);
  const bool small = type == "int64_t" || type == "double" || type == "bool";
  return small ? type : "const " + type + "&";
}

std::string cpp_default(const Argument& argument) {
  const auto& value = argument.schema.default_value;
  if (!value) return {};
  if (value->is_none()) return option_type(argument) == "Tensor" ? "{}" : "std::nullopt";
  if (const auto* text = value->get<schema::StringValue>()) {
    return argument.words.empty() ? "\"" + text->text + "\"" : enum_type(text->text);
  }
  if (const bool* truth = value->get<bool>()) return *truth ? "true" : "false";
  std::string text = value->text;
  for (char& c : text) c = c == '[' ? '{' : c == ']' ? '}' : c;
  return text;
}

std::string python_default(const Argument& argument) {
  const auto& value = argument.schema.default_value;
  if (!value) return {};
  if (const auto* text = value->get<schema::StringValue>()) return "\"" + text->text + "\"";
  return value->text;
}

}  // namespace tenon::codegen::modules
