#include "codegen/modules/language.h"

#include <map>

#include "codegen/schema/suggest.h"

namespace tenon::codegen::modules {

using expr::Formula;
using expr::FormulaKind;

std::string Printer::print(const Expression& expression) {
  expression_ = &expression;
  return print(expression.tree);
}

void Printer::error(const Formula& tree, const std::string& message, std::string suggestion) {
  sink_.error(expression_->text.at(tree.offset), message, std::move(suggestion));
}

std::string Printer::print_name(const Formula& tree) {
  const std::string& name = tree.text;
  if (name == "self") return cpp() ? "*this" : "self";
  if (name == "None") return cpp() ? "{}" : "None";
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
    for (const State& one : module->parameters) known.push_back(one.name.text);
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
  if (is_function)
    return cpp() ? function_in_cpp(*scope_.declarations, text)
                 : function_in_python(*scope_.declarations, text);
  std::vector<std::string> known(scope_.operators->begin(), scope_.operators->end());
  error(name, "`" + text + "` is neither an operator nor a function of nn.functional",
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

std::string Printer::print_binary(const Formula& tree) {
  const std::string a = print(tree.children[0]), b = print(tree.children[1]);
  if (tree.operation == "??") {
    return cpp() ? a + ".value_or(" + b + ")" : "(" + b + " if " + a + " is None else " + a + ")";
  }
  if (cpp()) return a + " " + tree.operation + " " + b;
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
  static const std::map<std::string, std::string> kErrors = {{"check", "RuntimeError"},
                                                             {"check_value", "ValueError"},
                                                             {"check_index", "IndexError"},
                                                             {"check_type", "TypeError"}};
  const Formula& tree = call.tree;
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
