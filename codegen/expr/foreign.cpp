#include "codegen/expr/foreign.h"

#include "codegen/schema/suggest.h"

#include <algorithm>
#include <array>

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

bool translate_foreign(std::vector<Token>& tokens, std::vector<ExprError>& errors) {
  const auto report = [&](const Token& token, std::string message, std::string suggestion = {}) {
    errors.push_back(
        {token.offset, token.text.size(), std::move(message), std::move(suggestion), 0});
  };
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    Token& token = tokens[i];
    const bool before_name = i + 1 < tokens.size() && tokens[i + 1].kind == TokenKind::kName;
    if (i > 0 && before_name && (token.text == "." || token.text == "::")) {
      const Token& owner = tokens[i - 1];
      const std::string function = tokens[i + 1].text;
      if (owner.kind == TokenKind::kName &&
          (token.text == "::" || contains(kModules, owner.text))) {
        report(owner, "functions of expressions have no module: '" + function + "' alone",
               function);
      } else if (i + 2 < tokens.size() && tokens[i + 2].text == "(") {
        continue;  // x.f(y) is f(x, y)
      } else {
        report(token, "expressions have functions, no members",
               owner.kind == TokenKind::kName ? function + "(" + owner.text + ")" : "");
      }
      return false;
    }
    if (token.kind != TokenKind::kName) continue;
    if (token.text == "if" || token.text == "else") {
      report(token, "a choice is written 'condition ? a : b'");
      return false;
    }
    if (token.text == "None") {
      report(token, "there is no None in expressions: each is of tensors and numbers");
      return false;
    }
    if (token.text == "True" || token.text == "False") {
      const std::string ours = token.text == "True" ? "true" : "false";
      report(token, "unknown name '" + token.text + "'", ours);
      token.text = ours;
    }
    const std::string ours = schema::suggest(token.text, {}, kOperators);
    if (ours.empty()) continue;
    report(token, "'" + token.text + "' is written '" + ours + "'", ours);
    token = {TokenKind::kPunctuation, ours, token.offset};
  }
  return true;
}

std::string suggest_function(std::string_view name, const std::vector<std::string>& functions) {
  return why_no_function(name).empty() ? schema::suggest(name, functions, kFunctions) : "";
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
