#include "codegen/optimizers/update_syntax.h"

#include <algorithm>
#include <map>

#include "codegen/expr/formulas/token.h"

namespace tenon::codegen::optimizers {
namespace {

using expr::SyntaxError;
using expr::Token;
using expr::TokenCursor;
using expr::TokenKind;
using Kind = Expr::Kind;

// How tightly parts hold together, loosest first.
enum Level { kChoiceLevel, kOr, kAnd, kNot, kComparison, kSum, kProduct, kSign, kAtom };

/// Levels of C's operators. Equality holds looser than order in C; here they are one, as in Python.
const std::map<std::string, Level>& binary_levels() {
  static const std::map<std::string, Level> levels = {
      {"||", kOr},        {"&&", kAnd},       {"==", kComparison}, {"!=", kComparison},
      {"<", kComparison}, {">", kComparison}, {"<=", kComparison}, {">=", kComparison},
      {"+", kSum},        {"-", kSum},        {"*", kProduct},     {"/", kProduct}};
  return levels;
}

class Parser {
 public:
  Parser(std::vector<Token> tokens, const SourceString& text)
      : cursor_(std::move(tokens)), text_(text) {}

  Expr whole() {
    Expr result = choice();
    if (cursor_.peek().kind != TokenKind::kEnd) unexpected();
    return result;
  }

  std::vector<Statement> statements() {
    std::vector<Statement> all;
    while (cursor_.peek().kind != TokenKind::kEnd) {
      Statement& one = all.emplace_back();
      one.place = text_.at(cursor_.peek().offset);
      if (cursor_.peek().kind == TokenKind::kName) {
        const std::string& next = cursor_.peek(1).text;
        if (next == "=" || next == "*=") {
          one.target = cursor_.take().text;
          one.operation = cursor_.take().text;
        }
      }
      one.value = choice();
      if (cursor_.peek().kind != TokenKind::kEnd && !cursor_.accept(";")) unexpected();
    }
    return all;
  }

 private:
  [[noreturn]] void unexpected() {
    cursor_.fail("expected an operator or the end, got " + describe(cursor_.peek()));
  }

  Expr node(Kind kind, const Token& token, std::vector<Expr> operands = {}) const {
    return {kind, token.text, 0, {}, std::move(operands), text_.at(token.offset)};
  }

  Expr choice() {
    Expr condition = binary(kOr);
    const Token token = cursor_.peek();
    if (!cursor_.accept("?")) return condition;
    Expr yes = choice();
    if (!cursor_.accept(":")) cursor_.fail("expected ':', got " + describe(cursor_.peek()));
    Expr no = choice();
    return node(Kind::kChoice, token, {std::move(condition), std::move(yes), std::move(no)});
  }

  Expr binary(int level) {
    if (level == kNot) level = kComparison;
    if (level == kSign) return sign();
    Expr left = binary(level + 1);
    while (true) {
      const Token token = cursor_.peek();
      const std::string operation = cursor_.operation();
      const auto found = binary_levels().find(operation);
      if (found == binary_levels().end() || found->second != level) return left;
      cursor_.skip_operation(operation);
      Expr right = binary(level + 1);
      if (level == kComparison) {
        if (left.kind != Kind::kCompare)
          left = node(Kind::kCompare, token, std::vector<Expr>{std::move(left)});
        left.operators.push_back(operation);
        left.operands.push_back(std::move(right));
      } else {
        left = node(Kind::kBinary, token, {std::move(left), std::move(right)});
        left.text = operation;
      }
    }
  }

  Expr sign() {
    const Token token = cursor_.peek();
    if (cursor_.accept("-") || cursor_.accept("!")) return node(Kind::kUnary, token, {sign()});
    return atom();
  }

  Expr atom() {
    const Token token = cursor_.peek();
    if (cursor_.accept("(")) {
      Expr inner = choice();
      cursor_.expect_closing(")", token);
      return inner;
    }
    if (token.kind == TokenKind::kNumber) return cursor_.take(), node(Kind::kNumber, token);
    if (token.kind != TokenKind::kName)
      cursor_.fail("expected a number, a name or '(', got " + describe(token));
    cursor_.take();
    const Token opener = cursor_.peek();
    if (cursor_.accept("[")) {
      Expr element = node(Kind::kElement, token);
      const Token index = cursor_.take();
      if (index.kind != TokenKind::kNumber || index.text.size() != 1)
        cursor_.fail("expected the number of an element");
      element.index = static_cast<size_t>(index.text[0] - '0');
      cursor_.expect_closing("]", opener);
      return element;
    }
    if (!cursor_.accept("(")) return node(Kind::kName, token);
    Expr call = node(Kind::kCall, token);
    while (!cursor_.at(")")) {
      call.operands.push_back(choice());
      if (!cursor_.accept(",")) break;
    }
    cursor_.expect_closing(")", opener);
    return call;
  }

  TokenCursor cursor_;
  const SourceString& text_;
};

/// Runs `parse` on the text's tokens; nothing where there are mistakes.
template <class Result>
std::optional<Result> parsed(const SourceString& text, DiagnosticSink& sink,
                             Result (Parser::*parse)()) {
  const auto report = [&](const expr::ExprError& error) {
    const RuleScope scope(sink, "optimizer_expression");
    sink.error(text.at(error.offset), error.message, error.suggestion,
               text.end_at(error.offset + error.length));
  };
  std::vector<expr::ExprError> errors;
  std::vector<Token> tokens = expr::tokenize(text.text, errors);
  for (const expr::ExprError& error : errors) report(error);
  if (!errors.empty()) return std::nullopt;
  try {
    Parser parser(std::move(tokens), text);
    return (parser.*parse)();
  } catch (const SyntaxError& mistake) {
    report(mistake.error);
    return std::nullopt;
  }
}

struct Text {
  std::string text;
  int level;
};

class Printer {
 public:
  explicit Printer(const Spelling& spelling) : spelling_(spelling) {}

  Text print(const Expr& e) const {
    switch (e.kind) {
    case Kind::kNumber: return {number(e.text), kAtom};
    case Kind::kName:
    case Kind::kElement: return {spelling_.name(e), kAtom};
    case Kind::kUnary:
      if (e.text == "-") return {"-" + at(e.operands[0], kSign), kSign};
      return {(python() ? "not " : "!") + at(e.operands[0], python() ? kNot : kSign),
              python() ? kNot : kSign};
    case Kind::kBinary: return binary(e);
    case Kind::kCompare: return compare(e);
    case Kind::kChoice: return choice(e);
    case Kind::kCall: return {call(e), kAtom};
    }
    return {};
  }

  std::string at(const Expr& e, int level) const {
    const Text part = print(e);
    return part.level < level ? "(" + part.text + ")" : part.text;
  }

 private:
  bool python() const { return spelling_.python; }

  /// C++ would divide whole numbers, and its std::max takes two of one type.
  std::string number(const std::string& text) const {
    const bool whole = text.find_first_not_of("0123456789") == std::string::npos;
    return whole && !python() ? text + ".0" : text;
  }

  Text binary(const Expr& e) const {
    const int level = binary_levels().at(e.text);
    const std::string word = !python()        ? e.text
                             : e.text == "&&" ? "and"
                             : e.text == "||" ? "or"
                                              : e.text;
    // "a || b && c" without parentheses reads as either.
    const auto part = [&](const Expr& operand, int least) {
      return at(operand, e.text == "||" && operand.text == "&&" ? kAtom : least);
    };
    return {part(e.operands[0], level) + " " + word + " " + part(e.operands[1], level + 1), level};
  }

  Text compare(const Expr& e) const {
    std::string text = at(e.operands[0], kSum);
    for (size_t i = 0; i < e.operators.size(); ++i) {
      if (i > 0 && !python()) text += " && " + at(e.operands[i], kSum);
      text += " " + e.operators[i] + " " + at(e.operands[i + 1], kSum);
    }
    return {text, e.operators.size() > 1 && !python() ? kAnd : kComparison};
  }

  bool has_tensor(const Expr& e) const {
    bool found = false;
    walk(e, [&](const Expr& part) {
      found = found || (part.kind == Kind::kName && spelling_.is_tensor(part.text));
    });
    return found;
  }

  Text choice(const Expr& e) const {
    const Expr &condition = e.operands[0], &yes = e.operands[1], &no = e.operands[2];
    if (!python()) {
      return {at(condition, kOr) + " ? " + at(yes, kChoiceLevel) + " : " + at(no, kChoiceLevel),
              kChoiceLevel};
    }
    const bool optional = condition.kind == Kind::kName && spelling_.may_be_none(condition.text);
    if (!optional && has_tensor(condition)) {
      return {"where(" + at(condition, kChoiceLevel) + ", " + at(yes, kChoiceLevel) + ", " +
                  at(no, kChoiceLevel) + ")",
              kAtom};
    }
    return {at(yes, kOr) + " if " + at(condition, kOr) + (optional ? " is not None" : "") +
                " else " + at(no, kChoiceLevel),
            kChoiceLevel};
  }

  std::string call(const Expr& e) const {
    std::string text = (python() ? "" : "std::") + e.text + "(";
    for (size_t i = 0; i < e.operands.size(); ++i)
      text += (i == 0 ? "" : ", ") + at(e.operands[i], kChoiceLevel);
    return text + ")";
  }

  const Spelling& spelling_;
};

}  // namespace

std::optional<Expr> parse_expression(const SourceString& text, DiagnosticSink& sink) {
  return parsed(text, sink, &Parser::whole);
}

std::vector<Statement> parse_statements(const SourceString& text, DiagnosticSink& sink) {
  return parsed(text, sink, &Parser::statements).value_or(std::vector<Statement>());
}

void walk(const Expr& expr, const std::function<void(const Expr&)>& visit) {
  visit(expr);
  for (const Expr& operand : expr.operands) walk(operand, visit);
}

std::string print(const Expr& expr, const Spelling& spelling) {
  return Printer(spelling).at(expr, kChoiceLevel);
}

std::string print_operand(const Expr& expr, const Spelling& spelling) {
  return Printer(spelling).at(expr, kComparison);
}

}  // namespace tenon::codegen::optimizers
