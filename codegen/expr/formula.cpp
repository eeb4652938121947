#include "codegen/expr/formula.h"

#include "codegen/expr/token.h"

#include <algorithm>
#include <array>

namespace tenon::codegen::expr {
namespace {

constexpr int kMaxDepth = 200;

/// Binary operators from loosest to tightest.
const std::vector<std::vector<std::string_view>> kLevels = {
    {"||"},       {"&&"},     {"|"},          {"^"}, {"&"}, {"==", "!="}, {"<", "<=", ">", ">="},
    {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}};

class FormulaParser {
 public:
  FormulaParser(const std::string& text, std::vector<Token> tokens, bool absent)
      : text_(text), cursor_(std::move(tokens)), absent_(absent) {}

  Formula parse() {
    Formula result = expression();
    if (cursor_.peek().kind != TokenKind::kEnd) {
      if (cursor_.at(")") || cursor_.at("]") || cursor_.at("}"))
        cursor_.fail("this '" + cursor_.peek().text + "' closes nothing");
      cursor_.fail("expected an operator or the end of the formula, got " +
                   describe(cursor_.peek()));
    }
    return result;
  }

 private:
  Formula start(FormulaKind kind) const {
    Formula node;
    node.kind = kind;
    node.offset = cursor_.peek().offset;
    return node;
  }

  Formula finish(Formula node) const {
    node.length = cursor_.end_of_previous() - node.offset;
    return node;
  }

  Formula expression() {
    if (++depth_ > kMaxDepth) cursor_.fail("the formula is nested too deeply");
    Formula result = binary(0);
    while (absent_ && cursor_.at("?") && cursor_.peek(1).text == "?") {
      cursor_.take();
      cursor_.take();
      Formula node;
      node.kind = FormulaKind::kBinary;
      node.operation = "??";
      node.offset = result.offset;
      node.children.push_back(std::move(result));
      node.children.push_back(binary(0));
      result = finish(std::move(node));
    }
    if (cursor_.accept("?")) {
      Formula node;
      node.kind = FormulaKind::kTernary;
      node.offset = result.offset;
      node.children.push_back(std::move(result));
      node.children.push_back(expression());
      if (!cursor_.accept(":"))
        cursor_.fail("expected ':' of 'condition ? a : b', got " + describe(cursor_.peek()));
      node.children.push_back(expression());
      result = finish(std::move(node));
    }
    --depth_;
    return result;
  }

  Formula binary(std::size_t level) {
    if (level == kLevels.size()) return unary();
    Formula left = binary(level + 1);
    while (true) {
      const std::string operation = cursor_.operation();
      const auto& row = kLevels[level];
      if (std::find(row.begin(), row.end(), operation) == row.end()) return left;
      cursor_.skip_operation(operation);
      Formula node;
      node.kind = FormulaKind::kBinary;
      node.operation = operation;
      node.offset = left.offset;
      node.children.push_back(std::move(left));
      node.children.push_back(binary(level + 1));
      left = finish(std::move(node));
    }
  }

  Formula unary() {
    if (++depth_ > kMaxDepth) cursor_.fail("the formula is nested too deeply");
    Formula result;
    const std::string operation = cursor_.operation();
    constexpr std::array<std::string_view, 6> kUnary = {"-", "+", "!", "~", "*", "&"};
    if (std::find(kUnary.begin(), kUnary.end(), operation) != kUnary.end()) {
      Formula node = start(FormulaKind::kUnary);
      cursor_.take();
      node.operation = operation;
      node.children.push_back(unary());
      result = finish(std::move(node));
    } else {
      result = postfix(primary());
    }
    --depth_;
    return result;
  }

  Formula postfix(Formula node) {
    while (true) {
      Formula outer;
      outer.offset = node.offset;
      const Token opener = cursor_.peek();
      if (cursor_.accept("(")) {
        outer.kind = FormulaKind::kCall;
        outer.children.push_back(std::move(node));
        list(outer, ")", opener);
      } else if (cursor_.accept("[")) {
        outer.kind = FormulaKind::kIndex;
        outer.children.push_back(std::move(node));
        outer.children.push_back(expression());
        cursor_.expect_closing("]", opener);
      } else if (cursor_.at("{") && node.kind == FormulaKind::kName) {
        cursor_.take();
        outer.kind = FormulaKind::kTypedBraces;
        outer.children.push_back(std::move(node));
        list(outer, "}", opener);
      } else if (cursor_.at(".") || cursor_.at("->")) {
        outer.kind = FormulaKind::kMember;
        outer.operation = cursor_.take().text;
        if (cursor_.peek().kind != TokenKind::kName)
          cursor_.fail("expected a member's name after '" + outer.operation + "', got " +
                       describe(cursor_.peek()));
        outer.text = cursor_.take().text;
        outer.text += template_arguments();
        outer.children.push_back(std::move(node));
      } else {
        return node;
      }
      node = finish(std::move(outer));
    }
  }

  void list(Formula& node, std::string_view closer, const Token& opener) {
    if (!cursor_.at(closer)) {
      do node.children.push_back(expression());
      while (cursor_.accept(","));
    }
    cursor_.expect_closing(closer, opener);
  }

  Formula primary() {
    const Token token = cursor_.peek();
    if (token.kind == TokenKind::kNumber || token.kind == TokenKind::kString) {
      Formula node = start(FormulaKind::kLiteral);
      node.text = cursor_.take().text;
      return finish(std::move(node));
    }
    if (token.kind == TokenKind::kName || cursor_.at("::")) return name();
    if (cursor_.accept("(")) {
      Formula node;
      node.kind = FormulaKind::kParentheses;
      node.offset = token.offset;
      node.children.push_back(expression());
      cursor_.expect_closing(")", token);
      return finish(std::move(node));
    }
    if (cursor_.accept("{")) {
      Formula node;
      node.kind = FormulaKind::kBraces;
      node.offset = token.offset;
      list(node, "}", token);
      return finish(std::move(node));
    }
    if (cursor_.at("[")) return lambda();
    cursor_.fail("expected a value, got " + describe(token));
  }

  Formula name() {
    Formula node = start(FormulaKind::kName);
    const std::string& first = cursor_.peek().text;
    if (first == "true" || first == "false" || first == "nullptr") {
      node.kind = FormulaKind::kLiteral;
      node.text = cursor_.take().text;
      return finish(std::move(node));
    }
    if (cursor_.accept("::")) node.text = "::";
    while (true) {
      if (cursor_.peek().kind != TokenKind::kName)
        cursor_.fail("expected a name after '::', got " + describe(cursor_.peek()));
      node.text += cursor_.take().text;
      node.text += template_arguments();
      if (!cursor_.accept("::")) return finish(std::move(node));
      node.text += "::";
    }
  }

  /// `<...>` if what follows can only be template arguments, else nothing is taken: names, numbers
  /// and nested lists, closed and followed by something that cannot follow a comparison.
  std::string template_arguments() {
    if (!cursor_.at("<")) return "";
    const std::size_t begin = cursor_.position();
    std::string text;
    int depth = 0;
    do {
      const Token& token = cursor_.peek();
      const bool word = token.kind == TokenKind::kName || token.kind == TokenKind::kNumber;
      const bool mark = token.text == "<" || token.text == ">" || token.text == "::" ||
                        token.text == "," || token.text == "*" || token.text == "&";
      if (!word && !mark) {
        cursor_.rewind(begin);
        return "";
      }
      depth += token.text == "<" ? 1 : token.text == ">" ? -1 : 0;
      text += token.text == "," ? ", " : token.text == "const" ? "const " : token.text;
      cursor_.take();
    } while (depth > 0);
    const Token& next = cursor_.peek();
    if (next.text == "(" || next.text == "{" || next.text == "::") return text;
    cursor_.rewind(begin);
    return "";
  }

  /// Takes a bracketed group and returns its tokens without the brackets.
  std::vector<Token> group(std::string_view closer) {
    const Token opener = cursor_.take();
    std::vector<Token> inside;
    int depth = 1;
    while (true) {
      if (cursor_.peek().kind == TokenKind::kEnd) cursor_.expect_closing(closer, opener);
      depth += cursor_.at(opener.text) ? 1 : cursor_.at(closer) ? -1 : 0;
      if (depth == 0) {
        cursor_.take();
        return inside;
      }
      inside.push_back(cursor_.take());
    }
  }

  Formula lambda() {
    Formula node = start(FormulaKind::kLambda);
    group("]");
    std::vector<std::string> bound = {"return", "auto", "const"};
    if (cursor_.at("(")) {
      const std::vector<Token> parameters = group(")");
      for (const Token& token : parameters)
        if (token.kind == TokenKind::kName) bound.push_back(token.text);
    }
    if (!cursor_.at("{"))
      cursor_.fail("expected the body of a lambda, got " + describe(cursor_.peek()));
    std::string previous;
    for (const Token& token : group("}")) {
      const bool free = token.kind == TokenKind::kName && previous != "." && previous != "->" &&
                        previous != "::" &&
                        std::find(bound.begin(), bound.end(), token.text) == bound.end();
      if (free) {
        Formula use;
        use.text = token.text;
        use.offset = token.offset;
        use.length = token.text.size();
        node.children.push_back(std::move(use));
      }
      previous = token.text;
    }
    node = finish(std::move(node));
    node.text = text_.substr(node.offset, node.length);
    return node;
  }

  const std::string& text_;
  TokenCursor cursor_;
  bool absent_;
  int depth_ = 0;
};

std::string print_list(const Formula& formula, std::size_t first, const Renaming& rename) {
  std::string text;
  for (std::size_t i = first; i < formula.children.size(); ++i)
    text += (i == first ? "" : ", ") + print_formula(formula.children[i], rename);
  return text;
}

}  // namespace

FormulaResult parse_formula(const std::string& text, bool absent) {
  FormulaResult result;
  std::vector<Token> tokens = tokenize(text, result.errors);
  if (!result.errors.empty()) return result;
  try {
    result.formula = FormulaParser(text, std::move(tokens), absent).parse();
  } catch (const SyntaxError& failure) {
    result.errors.push_back(failure.error);
  }
  return result;
}

std::string print_formula(const Formula& formula, const Renaming& rename) {
  const auto child = [&](std::size_t i) { return print_formula(formula.children[i], rename); };
  switch (formula.kind) {
  case FormulaKind::kName: {
    const auto it = rename.find(formula.text);
    return it == rename.end() ? formula.text : it->second;
  }
  case FormulaKind::kLiteral:
  case FormulaKind::kLambda: return formula.text;
  case FormulaKind::kCall: {
    const Formula& callee = formula.children[0];
    const std::string name = callee.kind == FormulaKind::kName ? callee.text : child(0);
    return name + "(" + print_list(formula, 1, rename) + ")";
  }
  case FormulaKind::kMember: return child(0) + formula.operation + formula.text;
  case FormulaKind::kIndex: return child(0) + "[" + child(1) + "]";
  case FormulaKind::kUnary: {
    // `- -x` is not `--x`.
    const Formula& operand = formula.children[0];
    const bool same = operand.kind == FormulaKind::kUnary && operand.operation == formula.operation;
    return formula.operation + (same ? " " : "") + child(0);
  }
  case FormulaKind::kBinary: return child(0) + " " + formula.operation + " " + child(1);
  case FormulaKind::kTernary: return child(0) + " ? " + child(1) + " : " + child(2);
  case FormulaKind::kBraces: return "{" + print_list(formula, 0, rename) + "}";
  case FormulaKind::kTypedBraces:
    return formula.children[0].text + "{" + print_list(formula, 1, rename) + "}";
  case FormulaKind::kParentheses: return "(" + child(0) + ")";
  }
  return "";
}

bool same_formula(const Formula& a, const Formula& b) {
  return a.kind == b.kind && a.text == b.text && a.operation == b.operation &&
         std::equal(a.children.begin(), a.children.end(), b.children.begin(), b.children.end(),
                    same_formula);
}

}  // namespace tenon::codegen::expr
