#include "codegen/select/tensor_operators.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <vector>

#include "codegen/expr/graph/operators.h"
#include "codegen/sources/kernel_sources.h"

namespace tenon::codegen {
namespace {

using Names = std::set<std::string>;
using expr::Op;

bool is_arithmetic(Op op) {
  return op == Op::kAdd || op == Op::kSub || op == Op::kMul || op == Op::kDiv;
}

/// The operators that are functions of aten/generated_support/tensor_methods.cpp; arithmetic is
/// part of every selection that computes.
const std::map<std::string_view, Names>& binary_functions() {
  static const std::map<std::string_view, Names> kFunctions = [] {
    std::map<std::string_view, Names> functions;
    for (const auto& [symbol, op] : expr::binary_operators()) {
      const bool on_bools = symbol == "&&" || symbol == "||";
      const bool shifts = symbol == "<<" || symbol == ">>";  // of streams
      if (on_bools || shifts || is_arithmetic(op)) continue;
      const expr::Intrinsic& row = expr::intrinsic(op);
      // With a number on the left another function may serve.
      functions[symbol].emplace(row.tensor_op);
      if (!row.swapped.empty()) functions[symbol].emplace(row.swapped);
    }
    return functions;
  }();
  return kFunctions;
}

bool is_plain_name(std::string_view token) {
  return !token.empty() && (std::isalpha(static_cast<unsigned char>(token[0])) || token[0] == '_');
}

bool is_statement(std::string_view name) {
  return name == "return" || name == "case" || name == "throw" || name == "else";
}

class Operands {
 public:
  Operands(std::string_view text, TensorNames& names)
      : text_(text), tokens_(cpp_tokens(text)), names_(names) {}

  void declare() {
    for (size_t i = 0; i < tokens_.size(); ++i) {
      if (at(i) == "Tensor" || at(i) == "TensorList") declared_type(i);
      if (at(i) == "auto") declared_auto(i);
      if (at(i) == "TensorBase" && at(i + 1) == "&") declared_.insert(i + 2);
    }
  }

  void declare_members() {
    for (size_t i = 0; i < tokens_.size(); ++i) {
      if (at(i) != "Tensor" && at(i) != "TensorList") continue;
      // Unlike a parameter, a member ends or has a value.
      const size_t name = declared_name(i);
      const std::string_view after = at(name + 1);
      if (after == ";" || after == "=" || after == "{") declared_type(i);
    }
  }

  Names operators() {
    find_templates();
    Names found;
    for (size_t i = 0; i < tokens_.size(); ++i) {
      if (at(i) == "[" && i > 0 && is_tensor_before(i) && !names_.lists.contains(text(i - 1))) {
        found.insert("select");
      }
      const std::string token = symbol(i);
      const size_t right = i + token.size();
      if (token == "~" && is_tensor_after(right))
        found.emplace(expr::intrinsic(expr::Op::kBitwiseNot).tensor_op);
      const auto binary = binary_functions().find(token);
      if (binary != binary_functions().end() && follows_operand(i) && !templates_.contains(i) &&
          (is_tensor_before(i) || (!declared_.contains(right) && is_tensor_after(right)))) {
        found.insert(binary->second.begin(), binary->second.end());
      }
      if (!token.empty()) i = right - 1;
    }
    return found;
  }

 private:
  std::string_view at(size_t i) const {
    return i < tokens_.size() ? tokens_[i].text : std::string_view();
  }
  std::string text(size_t i) const { return std::string(at(i)); }

  /// The punctuation that begins at token i, up to three adjacent characters; "" for a name.
  std::string symbol(size_t i) const {
    constexpr std::string_view kParts = "+-*/%&|^<>=!~";
    std::string found;
    for (size_t k = i; k < tokens_.size() && found.size() < 3; ++k) {
      const bool adjacent = k == i || tokens_[k].offset == tokens_[k - 1].offset + 1;
      const std::string_view part = at(k);
      // A sign or complement begins an operand of its own, as in `a<-b`.
      const bool begins = k > i && part != "=" && part != found.substr(0, 1);
      if (!adjacent || begins || kParts.find(part) == std::string_view::npos) break;
      found += part;
    }
    return found;
  }

  /// Whether what stands before the token, a literal perhaps, can be an operand.
  bool follows_operand(size_t i) const {
    size_t end = tokens_[i].offset;
    while (end > 0 && std::isspace(static_cast<unsigned char>(text_[end - 1]))) --end;
    if (end == 0) return false;
    const char before = text_[end - 1];
    const bool literal = std::isalnum(static_cast<unsigned char>(before)) || before == '.' ||
                         before == '"' || before == '\'';
    if (i > 0 && tokens_[i - 1].offset + at(i - 1).size() == end && is_plain_name(at(i - 1))) {
      return !is_statement(at(i - 1));
    }
    return literal || before == '_' || before == ')' || before == ']';
  }

  /// The bracket that matches the one at i, looking in a direction; the end where there is none.
  size_t matching(size_t i, bool forward) const {
    constexpr std::string_view kOpen = "([{", kClose = ")]}";
    int depth = 0;
    for (size_t k = i; k < tokens_.size(); forward ? ++k : --k) {
      if (kOpen.find(at(k)) != std::string_view::npos) ++depth;
      if (kClose.find(at(k)) != std::string_view::npos) --depth;
      if (depth == 0) return k;
    }
    return tokens_.size();
  }

  /// Whether the operand that ends just before token i may be a tensor.
  bool is_tensor_before(size_t i) const {
    if (i == 0) return false;
    const size_t last = i - 1;
    if (at(last) == ")" || at(last) == "]") {
      const size_t open = matching(last, false);
      if (open >= tokens_.size()) return false;
      if (at(last) == "]") return is_tensor_before(open);
      if (open > 0 && is_plain_name(at(open - 1)) && !is_statement(at(open - 1))) {
        return call_is_tensor(open - 1);
      }
      return value_is_tensor(open + 1, last);
    }
    return names_.variables.contains(text(last)) || names_.lists.contains(text(last));
  }

  /// Of the function that token i names, `std::max` and `numeric_limits<T>::max` excepted.
  bool call_is_tensor(size_t i) const {
    if (i >= 2 && at(i - 1) == "::") {
      if (at(i) == "call") return true;  // ops::add::call
      const std::string_view scope = at(i - 2);
      if (scope != "native" && scope != "tenon" && scope != "ops") return false;
    }
    return at(i) == "Tensor" || names_.functions.contains(text(i));
  }

  /// Index after the name or parenthesis at i and the calls and members that follow it.
  size_t after_operand(size_t i) const {
    if (at(i) == "(") i = matching(i, true) + 1;
    while (i < tokens_.size()) {
      if (at(i) == "(" || at(i) == "[") {
        i = matching(i, true) + 1;
      } else if (is_plain_name(at(i)) || at(i) == "::" || at(i) == "." || at(i) == "->") {
        ++i;
      } else {
        break;
      }
    }
    return std::min(i, tokens_.size());
  }

  /// Whether the operand that begins at token i may be a tensor.
  bool is_tensor_after(size_t i) const {
    while (at(i) == "-" || at(i) == "~" || at(i) == "*") ++i;
    const size_t end = after_operand(i);
    return end > i && is_tensor_before(end);
  }

  /// Of `Tensor x`, `const Tensor& x`, `std::vector<Tensor> x`, `Tensor f(`: the index of the name.
  size_t declared_name(size_t i) const {
    size_t name = i + 1;
    // The other arguments of a template.
    while (at(name) == "," && in_template(i)) name = skip_argument(name);
    while (at(name) == ">" || at(name) == "&" || at(name) == "const") ++name;
    if (!is_plain_name(at(name))) return tokens_.size();
    while (at(name + 1) == "::" && is_plain_name(at(name + 2))) name += 2;
    return name;
  }

  void declared_type(size_t i) {
    const size_t name = declared_name(i);
    if (name == tokens_.size()) return;
    const bool is_list = at(i) == "TensorList" || in_template(i);
    if (at(name + 1) == "(" && !is_list) {
      names_.functions.insert(text(name));
    }
    // `Tensor x(y);` looks like a function.
    (is_list ? names_.lists : names_.variables).insert(text(name));
    declared_.insert(name);
  }

  /// Notes the brackets of `std::vector<Edge>`, `std::function<Tensor(const Tensor&)>`.
  void find_templates() {
    constexpr std::string_view kOfTypes = ",<>()&*";
    for (size_t i = 1; i < tokens_.size(); ++i) {
      const bool opens = at(i) == "<" && is_plain_name(at(i - 1));
      if (!opens || names_.variables.contains(text(i - 1))) continue;
      int depth = 0;
      for (size_t k = i; k < tokens_.size(); ++k) {
        depth += at(k) == "<" ? 1 : at(k) == ">" ? -1 : 0;
        if (depth == 0) {
          templates_.insert({i, k});
          break;
        }
        const bool of_type =
            is_plain_name(at(k)) || at(k) == "::" || kOfTypes.find(at(k)) != std::string_view::npos;
        if (!of_type) break;
      }
    }
  }

  bool in_template(size_t i) const {
    while (i > 0 && (is_plain_name(at(i - 1)) || at(i - 1) == "::" || at(i - 1) == ",")) --i;
    return i > 0 && at(i - 1) == "<";
  }

  size_t skip_argument(size_t i) const {
    for (++i; i < tokens_.size() && at(i) != "," && at(i) != ">"; ++i) {
    }
    return i;
  }

  /// `auto x = value`, `auto [x, y] = value`, `for (auto& x : list)`.
  void declared_auto(size_t i) {
    size_t name = i + 1;
    while (at(name) == "&" || at(name) == "const") ++name;
    std::vector<size_t> declared;
    if (at(name) == "[") {
      const size_t close = matching(name, true);
      for (size_t k = name + 1; k < close && k < tokens_.size(); ++k) {
        if (is_plain_name(at(k))) declared.push_back(k);
      }
      name = close;
    } else if (name < tokens_.size() && is_plain_name(at(name))) {
      declared.push_back(name);
    }
    const bool has_value = at(name + 1) == "=" || at(name + 1) == ":";
    const bool is_tensor = has_value && value_is_tensor(name + 2, tokens_.size());
    for (const size_t k : declared) {
      declared_.insert(k);
      if (is_tensor) names_.variables.insert(text(k));
    }
  }

  /// Of the value from token i to the end, or to that of the statement: any of its operands.
  bool value_is_tensor(size_t i, size_t end) const {
    while (i < end && at(i) != ";" && at(i) != "{") {
      if (is_tensor_after(i)) return true;
      i = std::max(i + 1, after_operand(i));
    }
    return false;
  }

  std::string_view text_;
  std::vector<CppToken> tokens_;
  TensorNames& names_;
  std::set<size_t> declared_;   // tokens that name what they declare
  std::set<size_t> templates_;  // tokens that are brackets
};

}  // namespace

std::set<std::string> arithmetic_functions() {
  Names functions;
  for (const auto& [symbol, op] : expr::binary_operators()) {
    if (!is_arithmetic(op)) continue;
    const expr::Intrinsic& row = expr::intrinsic(op);
    functions.emplace(row.tensor_op);
    functions.insert(std::string(row.tensor_op) + "_");  // +=
    if (!row.swapped.empty()) functions.emplace(row.swapped);
  }
  // -x, and 1 / x.
  functions.emplace(expr::intrinsic(Op::kNeg).tensor_op);
  functions.emplace(expr::intrinsic(Op::kReciprocal).tensor_op);
  return functions;
}

void add_functions(std::string_view text, TensorNames& names) {
  TensorNames declared;
  Operands(text, declared).declare();
  names.functions.merge(declared.functions);
}

void add_members(std::string_view text, TensorNames& names) {
  Operands(text, names).declare_members();
}

std::set<std::string> tensor_operators(std::string_view text, const TensorNames& names) {
  Names found;
  // A function's names mean nothing to the next.
  const auto scan = [&](size_t begin, size_t end) {
    TensorNames own = names;
    Operands operands(text.substr(begin, end - begin), own);
    operands.declare();
    found.merge(operands.operators());
  };
  size_t at = 0;
  for (const KernelDefinition& function : find_definitions(text)) {
    if (function.offset < at) continue;
    scan(at, function.offset);
    scan(function.offset, function.end);
    at = function.end;
  }
  scan(at, text.size());
  return found;
}

}  // namespace tenon::codegen
