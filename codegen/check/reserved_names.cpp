#include <algorithm>
#include <cctype>
#include <string>

#include "codegen/check/rules.h"
#include "codegen/meaning/kernel_declarations.h"
#include "codegen/model/vocabulary.h"
#include "codegen/schema/type.h"

namespace tenon::codegen::rules {

namespace {

using Words = std::vector<std::string>;

// But for `from`, which schemas of PyTorch use.
const Words& python_keywords() {
  static const Words words = {
      "and",  "as",     "assert", "async", "await",  "break",    "class", "continue",
      "def",  "del",    "elif",   "else",  "except", "finally",  "for",   "global",
      "if",   "import", "in",     "is",    "lambda", "nonlocal", "not",   "or",
      "pass", "raise",  "return", "try",   "while",  "with",     "yield"};
  return words;
}

const Words& cpp_keywords() {
  static const Words words = {"alignas",       "alignof",     "and",
                              "and_eq",        "asm",         "auto",
                              "bitand",        "bitor",       "bool",
                              "break",         "case",        "catch",
                              "char",          "char16_t",    "char32_t",
                              "char8_t",       "class",       "co_await",
                              "co_return",     "co_yield",    "compl",
                              "concept",       "const",       "const_cast",
                              "consteval",     "constexpr",   "constinit",
                              "continue",      "decltype",    "default",
                              "delete",        "do",          "double",
                              "dynamic_cast",  "else",        "enum",
                              "explicit",      "export",      "extern",
                              "false",         "float",       "for",
                              "friend",        "goto",        "if",
                              "inline",        "int",         "long",
                              "mutable",       "namespace",   "new",
                              "noexcept",      "not",         "not_eq",
                              "nullptr",       "operator",    "or",
                              "or_eq",         "private",     "protected",
                              "public",        "register",    "reinterpret_cast",
                              "requires",      "return",      "short",
                              "signed",        "sizeof",      "static",
                              "static_assert", "static_cast", "struct",
                              "switch",        "template",    "this",
                              "thread_local",  "throw",       "true",
                              "try",           "typedef",     "typeid",
                              "typename",      "union",       "unsigned",
                              "using",         "virtual",     "void",
                              "volatile",      "wchar_t",     "while",
                              "xor",           "xor_eq",      "typeof"};  // the last is GNU's
  return words;
}

/// Of the headers that generated code includes, or of the compiler itself: "a macro of C++". They
/// have thousands of the form `INT_MAX`. Empty for other names.
std::string why_macro(const std::string& name) {
  static const Words words = {
      "BUFSIZ",   "EDOM",   "EINVAL",      "EOF",     "ERANGE",  "INFINITY", "NAN",
      "NDEBUG",   "NULL",   "SNAN",        "alloca",  "assert",  "be16toh",  "be32toh",
      "be64toh",  "errno",  "htobe16",     "htobe32", "htobe64", "htole16",  "htole32",
      "htole64",  "i386",   "issubnormal", "le16toh", "le32toh", "le64toh",  "linux",
      "offsetof", "setjmp", "sigsetjmp",   "stderr",  "stdin",   "stdout",   "strdupa",
      "strndupa", "unix",   "va_arg",      "va_copy", "va_end",  "va_start"};
  if (contains(words, name)) return "a macro of C++";
  const bool capitals = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return c == '_' || std::isupper(c) != 0 || std::isdigit(c) != 0;
  });
  const bool letter =
      std::any_of(name.begin(), name.end(), [](unsigned char c) { return std::isupper(c) != 0; });
  return capitals && letter && name.find('_', 1) != std::string::npos
             ? "written as macros of C++ are"
             : "";
}

// What generated functions call their own; their other names end with an underscore.
const Words& generated_names() {
  static const Words words = {"any_grad_defined",
                              "as_optional",
                              "becomes_constant",
                              "below_autograd",
                              "check_inplace",
                              "compute_requires_grad",
                              "defined_or_zeros",
                              "int64_t",
                              "is_differentiated",
                              "keys",
                              "mark_multi_output_views",
                              "native",
                              "needs_operators",
                              "ops",
                              "own",
                              "rebase_history",
                              "save_input",
                              "save_result",
                              "set_constant_history",
                              "set_edges",
                              "set_history",
                              "size_t",
                              "tenon",
                              "throw_out_requires_grad",
                              "true_quotient",
                              "true_remainder",
                              "value_or"};
  return words;
}

// Of kernels made of expressions and of formulas.
const Words& kernel_names() {
  static const Words words = {"V", "s"};
  return words;
}

// Of kernels of rows besides.
const Words& row_kernel_names() {
  static const Words words = {"Row", "T", "Traversal"};
  return words;
}

// Members of the struct that stands for an operator, and namespaces beside its function.
const Words& operator_words() {
  static const Words words = {"call", "generated", "native", "ops", "redispatch", "tenon"};
  return words;
}

std::string quoted(const std::string& name) { return "`" + name + "`"; }

/// Names that the compiler and its library keep to themselves: `_Complex`, `__func__`.
std::string why_reserved(const std::string& name) {
  const bool reserved = name.size() > 1 && name[0] == '_' &&
                        (name[1] == '_' || std::isupper(static_cast<unsigned char>(name[1])) != 0);
  return reserved ? "reserved in C++" : "";
}

/// "a keyword of C++", as what follows "is", or "" for a name that C++ takes.
std::string meaning(const std::string& name) {
  if (contains(cpp_keywords(), name)) return "a keyword of C++";
  const std::string why = why_macro(name);
  return why.empty() ? why_reserved(name) : why;
}

/// `__and__`, `__iand__`: names of Python's operators, of which no compiler makes anything. Which
/// begin with `__i` the rule dunder_name says.
bool is_python_operator(const schema::FunctionSchema& schema) {
  if (!schema.is_dunder() || schema.name.starts_with("__i")) return schema.is_dunder();
  schema::FunctionSchema augmented;
  augmented.name = "__i" + schema.name.substr(2);
  return augmented.is_inplace_name();
}

bool is_generated(const std::string& name) {
  return name.ends_with('_') || contains(generated_names(), name);
}

}  // namespace

std::string why_no_local(const std::string& name) {
  if (const std::string why = meaning(name); !why.empty()) return why;
  if (schema::base_type_from(name)) return "a type";
  return is_generated(name) ? "a name of generated code" : "";
}

void reserved_argument_name(const Entry& entry) {
  const bool ours = entry.model.dialect() == Dialect::kTenon;
  for (const schema::Argument& arg : entry.schema().args) {
    const Location place = entry.op.at(arg.name_span);
    const bool none = ours && (arg.name == "None" || arg.name == "True" || arg.name == "False");
    if (contains(python_keywords(), arg.name) || contains(cpp_keywords(), arg.name) || none) {
      entry.sink.error(place, quoted(arg.name) +
                                  " is a keyword of C++ or Python and can name no argument");
    } else if (schema::base_type_from(arg.name)) {
      entry.sink.error(place, quoted(arg.name) + " is a type and can name no argument");
    } else if (const std::string why = ours ? meaning(arg.name) : ""; !why.empty()) {
      entry.sink.error(place, quoted(arg.name) + " is " + why + " and can name no argument");
    }
  }
  for (const schema::Return& ret : entry.schema().returns) {
    std::string why = schema::base_type_from(ret.name) ? "a type" : "";
    if (why.empty() && ours) why = meaning(ret.name);
    if (why.empty()) continue;
    entry.sink.error(entry.op.at(ret.name_span),
                     quoted(ret.name) + " is " + why + " and can name no return");
  }
}

// The names of an operator become functions, types and namespaces of C++.
void reserved_operator_name(const Entry& entry) {
  const schema::FunctionSchema& schema = entry.schema();
  const auto check = [&](const std::string& name, const std::string& what) {
    const std::string why = meaning(name);
    if (why.empty()) return;
    entry.sink.error(entry.op.at(schema.name_span),
                     quoted(name) + " is " + why + " and can name no " + what);
  };
  if (!is_python_operator(schema)) check(schema.name, "operator");
  check(schema.ns, "namespace");
  if (schema::base_type_from(schema.name)) {
    entry.sink.error(entry.op.at(schema.name_span),
                     quoted(schema.name) + " is a type and can name no operator");
  }
  // Names that end with an underscore are in-place operators.
  if (contains(operator_words(), schema.name) || contains(generated_names(), schema.name)) {
    entry.sink.error(entry.op.at(schema.name_span),
                     quoted(schema.name) + " is a name of generated code and can name no operator");
  }
  if (schema.ns == "std" || schema.ns == "posix") {
    entry.sink.error(entry.op.at(schema.name_span),
                     quoted(schema.ns) + " is a namespace of C++ and can name none of yours");
  }
  for (const DispatchEntry& kernel : entry.op.dispatch) {
    const std::string why = meaning(kernel.kernel);
    if (why.empty()) continue;
    entry.sink.error(kernel.kernel_location,
                     quoted(kernel.kernel) + " is " + why + " and can name no kernel");
  }
}

void generated_name(const Entry& entry) {
  const std::vector<Derivative>& derivatives = entry.model.derivatives();
  const bool has_kernel = entry.op.as<Pointwise>() || entry.op.as<Update>() ||
                          entry.op.as<Rowwise>() ||
                          std::any_of(derivatives.begin(), derivatives.end(),
                                      [&](const Derivative& d) { return d.target == entry.index; });
  for (const schema::Argument& arg : entry.schema().args) {
    const bool in_kernel = (has_kernel && contains(kernel_names(), arg.name)) ||
                           (entry.op.as<Rowwise>() && contains(row_kernel_names(), arg.name));
    const bool numbered = arg.name.starts_with("written_");  // written_0, ...
    if (!in_kernel && !numbered && !is_generated(arg.name)) continue;
    entry.sink.error(entry.op.at(arg.name_span),
                     quoted(arg.name) + " is a name of generated code and can name no argument");
  }
}

// The kernel of a structured operator, and an out form, have parameters for the results.
void output_parameter(const Entry& entry) {
  const schema::FunctionSchema& schema = entry.schema();
  if (schema.is_out()) return;
  Words outputs;
  for (const VariantSchema& form : entry.model.variants(entry.index)) {
    if (!form.derived || !form.schema.is_out()) continue;
    for (const schema::Argument* out : form.schema.out_args()) outputs.push_back(out->name);
  }
  if (entry.op.is<Structured>()) {
    for (const std::string& name : output_names(schema)) outputs.push_back(name);
  }
  for (const schema::Argument& arg : schema.args) {
    if (!contains(outputs, arg.name)) continue;
    entry.sink.error(entry.op.at(arg.name_span),
                     quoted(arg.name) + " also names an output: rename it, or name the return");
  }
}

}  // namespace tenon::codegen::rules
