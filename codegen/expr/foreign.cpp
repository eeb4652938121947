#include "codegen/expr/foreign.h"

#include "codegen/expr/formula_names.h"
#include "codegen/schema/suggest.h"

#include <algorithm>
#include <array>
#include <set>

namespace tenon::codegen::expr {
namespace {

constexpr schema::ForeignWord kOperators[] = {{"and", "&&"}, {"or", "||"}, {"not", "!"}};

// fmax and fmin, which edit distance would find, treat NaN otherwise.
constexpr schema::ForeignWord kFunctions[] = {
    {"max", "maximum"},     {"min", "minimum"},      {"ln", "log"},        {"swish", "silu"},
    {"clip", "clamp"},      {"power", "pow"},        {"fabs", "abs"},      {"absolute", "abs"},
    {"arcsin", "asin"},     {"arccos", "acos"},      {"arctan", "atan"},   {"arctan2", "atan2"},
    {"arcsinh", "asinh"},   {"arccosh", "acosh"},    {"arctanh", "atanh"}, {"mod", "remainder"},
    {"negative", "neg"},    {"multiply", "mul"},     {"subtract", "sub"},  {"divide", "div"},
    {"true_divide", "div"}, {"logistic", "sigmoid"}, {"expit", "sigmoid"}, {"select", "where"},
    {"isNaN", "isnan"},     {"not_equal", "ne"},     {"equal", "eq"},      {"greater", "gt"},
    {"less", "lt"}};

// What `rowwise` has under another name, or is short for.
constexpr schema::ForeignWord kRowFunctions[] = {{"amax", "max"},
                                                 {"amin", "min"},
                                                 {"nanmax", "fmax"},
                                                 {"nanmin", "fmin"},
                                                 {"count_nonzero", "count"},
                                                 {"average", "mean"},
                                                 {"gather", "pick"},
                                                 {"take", "pick"},
                                                 {"arange", "index()"},
                                                 {"size", "length()"},
                                                 {"numel", "length()"},
                                                 {"std", "sqrt(var(x, 1))"},
                                                 {"norm", "sqrt(sum(square(x)))"}};

constexpr std::array<std::string_view, 13> kReductions = {
    "mean",   "sum",  "prod", "var",     "std",    "norm",  "argmax",
    "argmin", "amax", "amin", "softmax", "cumsum", "median"};

constexpr std::array<std::string_view, 8> kModules = {"torch", "at",   "tenon", "std",
                                                      "np",    "math", "F",     "jnp"};

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

std::string operator_of_word(std::string_view word) {
  return schema::suggest(word, {}, kOperators);
}

std::optional<ExprError> module_mistake(const Formula& callee) {
  std::string function = callee.text;
  if (callee.kind == FormulaKind::kMember) {
    const Formula& owner = callee.children[0];
    if (owner.kind != FormulaKind::kName || !contains(kModules, owner.text)) return std::nullopt;
  } else {
    const std::size_t colons = function.rfind("::");
    if (callee.kind != FormulaKind::kName || colons == std::string::npos) return std::nullopt;
    function = function.substr(colons + 2);
  }
  return ExprError{callee.offset, callee.length,
                   "functions of expressions have no module: '" + function + "' alone", function,
                   0};
}

ExprError unknown_name(const std::string& name, std::size_t offset,
                       const std::vector<std::string>& known) {
  return {offset, name.size(), "unknown name '" + name + "'", schema::nearest(name, known), 0};
}

std::vector<ExprError> local_mistakes(const Formula& text, const std::vector<std::string>& known) {
  std::vector<const Formula*> locals;
  const Formula* result = &text;
  for (; result->kind == FormulaKind::kLocal; result = &result->children[1])
    locals.push_back(result);
  std::set<std::string> used, names(known.begin(), known.end());
  for (const NameUse& use : free_names(*result)) used.insert(use.name);
  for (const Formula* local : locals) {
    for (const NameUse& use : free_names(local->children[0])) used.insert(use.name);
  }
  std::vector<ExprError> errors;
  for (const Formula* local : locals) {
    const auto report = [&](const std::string& message) {
      errors.push_back({local->offset, local->text.size(), message, "", 0});
    };
    if (!names.insert(local->text).second) {
      report("'" + local->text + "' is already defined");
    } else if (!used.contains(local->text)) {
      report("no expression reads '" + local->text + "'");
    }
  }
  return errors;
}

std::string suggest_function(std::string_view name, const std::vector<std::string>& functions) {
  return why_no_function(name).empty() ? schema::suggest(name, functions, kFunctions) : "";
}

std::string suggest_row_function(std::string_view name, const std::vector<std::string>& functions) {
  const std::string of_rows = schema::suggest(name, {}, kRowFunctions);
  return of_rows.empty() ? schema::suggest(name, functions, kFunctions) : of_rows;
}

std::string why_no_function(std::string_view name) {
  return contains(kReductions, name) ? ": it reduces, and an expression is of one element each"
                                     : "";
}

std::string without_suffix(const std::string& number) {
  const std::size_t end = number.find_last_not_of("fFlLuU") + 1;
  const bool plain = number.find_first_not_of("0123456789.eE+-") >= end;
  return plain && end > 0 ? number.substr(0, end) : "";
}

}  // namespace tenon::codegen::expr
