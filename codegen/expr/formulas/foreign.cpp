#include "codegen/expr/formulas/foreign.h"

#include "codegen/expr/formulas/formula_names.h"
#include "codegen/schema/suggest.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
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

// What `rowwise` has under another name, or is short for; and what it lacks, beside near words.
constexpr schema::ForeignWord kRowFunctions[] = {{"median", ""},
                                                 {"sort", ""},
                                                 {"softmax", "e = exp(x - max(x)); e / sum(e)"},
                                                 {"log_softmax", "x - logsumexp(x)"},
                                                 {"amax", "max"},
                                                 {"amin", "min"},
                                                 {"nanmax", "fmax"},
                                                 {"nanmin", "fmin"},
                                                 {"count_nonzero", "count"},
                                                 {"average", "mean"},
                                                 {"gather", "pick"},
                                                 {"take", "pick"},
                                                 {"arange", "index()"},
                                                 {"len", "length()"},
                                                 {"size", "length()"},
                                                 {"numel", "length()"},
                                                 {"std", "sqrt(var(x, 1))"},
                                                 {"norm", "sqrt(sum(square(x)))"}};

// Values; each is meant only where ours is known.
constexpr schema::ForeignWord kNames[] = {{"Inf", "inf"},
                                          {"INFINITY", "inf"},
                                          {"infinity", "inf"},
                                          {"NaN", "nan"},
                                          {"PI", "pi"},
                                          {"M_PI", "pi"},
                                          {"M_E", "e"},
                                          {"float", "kFloat"},
                                          {"float32", "kFloat"},
                                          {"double", "kDouble"},
                                          {"float64", "kDouble"},
                                          {"long", "kLong"},
                                          {"int64", "kLong"},
                                          {"int", "kInt"},
                                          {"int32", "kInt"},
                                          {"bool", "kBool"},
                                          {"grad_out", "grad"},
                                          {"grad_output", "grad"},
                                          {"not_implemented", "not_implemented(\"why\")"}};

// Signs that look like ours.
constexpr schema::ForeignWord kSigns[] = {
    {"×", "*"},  {"·", "*"},  {"÷", "/"},  {"−", "-"}, {"–", "-"},  {"≤", "<="}, {"≥", ">="},
    {"≠", "!="}, {"∧", "&&"}, {"∨", "||"}, {"¬", "!"}, {"π", "pi"}, {"∞", "inf"}};

constexpr std::array<std::string_view, 13> kReductions = {
    "mean",   "sum",  "prod", "var",     "std",    "norm",  "argmax",
    "argmin", "amax", "amin", "softmax", "cumsum", "median"};

constexpr std::array<std::string_view, 10> kModules = {"torch", "at",   "tenon", "std", "np",
                                                       "numpy", "math", "Math",  "F",   "jnp"};

std::errc read_number(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, value);
  return stop == end ? code : std::errc::invalid_argument;
}

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

std::string operator_of_word(std::string_view word) {
  return schema::suggest(word, {}, kOperators);
}

std::string sign_of_character(std::string_view character) {
  return schema::suggest(character, {}, kSigns);
}

std::string suggest_name(std::string_view name, const std::vector<std::string>& known) {
  const std::string meant = schema::suggest(name, known, kNames);
  return std::find(known.begin(), known.end(), meant) == known.end() ? "" : meant;
}

std::optional<ExprError> module_mistake(const Formula& callee,
                                        const std::vector<std::string>& known) {
  std::string function = callee.text;
  if (callee.kind == FormulaKind::kMember) {
    const Formula& owner = callee.children[0];
    if (owner.kind != FormulaKind::kName || !contains(kModules, owner.text)) return std::nullopt;
  } else {
    const std::size_t colons = function.rfind("::");
    if (callee.kind != FormulaKind::kName || colons == std::string::npos) return std::nullopt;
    function = function.substr(colons + 2);
  }
  const bool is_value = !schema::suggest(function, {}, kNames).empty();
  return ExprError{callee.offset, callee.length, "names in expressions have no module",
                   is_value ? suggest_name(function, known) : function, 0};
}

ExprError unknown_name(const std::string& name, std::size_t offset,
                       const std::vector<std::string>& known) {
  return {offset, name.size(), "unknown name '" + name + "'", suggest_name(name, known), 0};
}

std::vector<ExprError> local_mistakes(const Formula& text, const std::vector<std::string>& known) {
  std::vector<const Formula*> locals;
  const Formula* result = &text;
  std::set<std::string> used, names(known.begin(), known.end());
  for (; has_rest(*result); result = &result->children[1]) {
    if (result->kind == FormulaKind::kLocal) locals.push_back(result);
    for (const NameUse& use : free_names(result->children[0])) used.insert(use.name);
    if (result->kind == FormulaKind::kRepeat) {
      for (const NameUse& use : free_names(result->children[2])) used.insert(use.name);
    }
  }
  for (const NameUse& use : free_names(*result)) used.insert(use.name);
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
  static const std::vector<schema::ForeignWord> foreign = [] {
    std::vector<schema::ForeignWord> all(std::begin(kRowFunctions), std::end(kRowFunctions));
    all.insert(all.end(), std::begin(kFunctions), std::end(kFunctions));
    return all;
  }();
  return schema::suggest(name, functions, foreign);
}

std::string why_no_function(std::string_view name) {
  return contains(kReductions, name) ? ": it reduces, and an expression is of one element each"
                                     : "";
}

ExprError number_mistake(const std::string& number, std::size_t offset) {
  const std::string plain = number.substr(0, number.find_last_not_of("fFlLuU") + 1);
  const bool has_suffix = plain != number && read_number(plain) == std::errc();
  const bool too_large = read_number(number) == std::errc::result_out_of_range;
  return {offset, number.size(),
          "'" + number + "' is " + (too_large ? "beyond the range of a double" : "not a number"),
          has_suffix ? plain : "", 0};
}

}  // namespace tenon::codegen::expr
