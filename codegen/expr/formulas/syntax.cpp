// The parser of the language: parse_formula of codegen/expr/formulas/formula.h.

#include "codegen/expr/formulas/foreign.h"
#include "codegen/expr/formulas/formula.h"
#include "codegen/expr/formulas/token.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace tenon::codegen::expr {
namespace {

constexpr int kMaxDepth = 200;
constexpr int kMaxLocals = 1000;              // one after another
constexpr std::uint32_t kMaxSteps = 1 << 24;  // a float counts as far
constexpr std::string_view kTooDeep = "the expression is nested too deeply";
constexpr std::string_view kOnlyLocals =
    "a text has locals, 'name = expression;', which nothing changes, and then its result";
constexpr std::array<std::string_view, 3> kStatements = {"return", "auto", "const"};

/// Binary operators from loosest to tightest.
const std::vector<std::vector<std::string_view>> kLevels = {
    {"||"},       {"&&"},     {"|"},          {"^"}, {"&"}, {"==", "!="}, {"<", "<=", ">", ">="},
    {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}};
constexpr std::array<std::string_view, 5> kUnaryOperators = {"-", "+", "!", "~", "*"};
constexpr std::array<std::string_view, 6> kComparisons = {"==", "!=", "<", "<=", ">", ">="};

template <class Words>
bool contains(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_literal(std::string_view name) {
  return name == "true" || name == "false" || name == "nullptr";
}

class Parser {
 public:
  Parser(const std::string& text, std::vector<Token> tokens, std::vector<ExprError>& errors)
      : text_(text), cursor_(std::move(tokens)), errors_(errors) {}

  Formula parse() {
    if (cursor_.peek().kind == TokenKind::kName && cursor_.peek(1).text == "=") return local();
    if (is_word("repeat") && cursor_.peek(1).text != "(") return repeat();
    Formula result = expression();
    const bool call =
        result.kind == FormulaKind::kCall && result.children[0].kind == FormulaKind::kName;
    if (call && is_check(result.children[0].text) && cursor_.at(";"))
      return checked(std::move(result));
    if (cursor_.peek().kind != TokenKind::kEnd) fail_behind_expression();
    return result;
  }

 private:
  [[noreturn]] static void fail_at(const Token& token, const std::string& message) {
    throw SyntaxError{{token.offset, std::max<std::size_t>(token.text.size(), 1), message, "", 0}};
  }

  Formula local() {
    if (++locals_ > kMaxLocals)
      cursor_.fail("a text has at most " + std::to_string(kMaxLocals) + " locals");
    Formula node = start(FormulaKind::kLocal);
    const Token name = cursor_.take();
    if (is_literal(name.text)) fail_at(name, "'" + name.text + "' has its value already");
    node.text = name.text;
    cursor_.take();
    node.children.push_back(expression());
    if (cursor_.peek().kind == TokenKind::kEnd)
      fail_at(name, "the last expression is the result and has no name");
    if (!cursor_.accept(";"))
      cursor_.fail("expected ';' after the definition of '" + name.text + "', got " +
                   describe(cursor_.peek()));
    node.children.push_back(parse());
    return finish(std::move(node));
  }

  Formula checked(Formula check) {
    if (++depth_ > kMaxDepth) cursor_.fail(std::string(kTooDeep));
    Formula node;
    node.kind = FormulaKind::kCheck;
    node.offset = check.offset;
    node.children.push_back(std::move(check));
    cursor_.take();
    node.children.push_back(parse());
    --depth_;
    return finish(std::move(node));
  }

  /// `repeat 100 while k < n { k = k + 1; }`
  Formula repeat() {
    if (++depth_ > kMaxDepth) cursor_.fail(std::string(kTooDeep));
    Formula node = start(FormulaKind::kRepeat);
    node.operation_offset = node.offset;
    cursor_.take();
    node.text = cursor_.peek().text;
    std::uint32_t most = 0;
    const char* end = node.text.data() + node.text.size();
    const auto [stop, code] = std::from_chars(node.text.data(), end, most);
    if (stop != end || code != std::errc() || most == 0 || most > kMaxSteps)
      cursor_.fail("a loop says how many steps it takes at most, an integer of 1 to " +
                       std::to_string(kMaxSteps) + ", got " + describe(cursor_.peek()),
                   "repeat 100 while k < n { k = k + 1; }");
    cursor_.take();
    Formula condition = start(FormulaKind::kLiteral);
    condition.text = "true";
    if (is_word("while")) {
      cursor_.take();
      const bool before = std::exchange(in_condition_, true);
      condition = expression();
      in_condition_ = before;
    }
    node.children.push_back(std::move(condition));
    const Token opener = cursor_.peek();
    if (!cursor_.accept("{"))
      cursor_.fail("expected the '{' of a loop's locals, got " + describe(cursor_.peek()));
    const bool before = std::exchange(in_condition_, false);
    Formula names = start(FormulaKind::kBraces);
    Formula step = steps(opener, names);
    in_condition_ = before;
    node.children.push_back(parse());
    node.children.push_back(std::move(step));
    --depth_;
    return finish(std::move(node));
  }

  /// The locals of a loop as far as its end; `names`: of those before.
  Formula steps(const Token& opener, Formula& names) {
    if (cursor_.at("}") && !names.children.empty()) {
      cursor_.take();
      names.offset = cursor_.end_of_previous();
      return finish(names);
    }
    if (cursor_.peek().kind != TokenKind::kName || cursor_.peek(1).text != "=") {
      if (cursor_.peek().kind == TokenKind::kEnd) cursor_.expect_closing("}", opener);
      cursor_.fail("a loop's step is 'name = expression;', got " + describe(cursor_.peek()));
    }
    if (++depth_ > kMaxDepth) cursor_.fail(std::string(kTooDeep));
    Formula node = start(FormulaKind::kLocal);
    const Token token = cursor_.take();
    node.text = token.text;
    if (is_literal(node.text)) fail_at(token, "'" + node.text + "' has its value already");
    for (const Formula& one : names.children) {
      if (one.text == node.text) fail_at(token, "'" + node.text + "' has its value in this step");
    }
    Formula name = start(FormulaKind::kName);
    name.offset = token.offset;
    name.length = token.text.size();
    name.text = node.text;
    names.children.push_back(std::move(name));
    cursor_.take();
    node.children.push_back(expression());
    if (!cursor_.accept(";"))
      cursor_.fail("expected ';' after the new value of '" + node.text + "', got " +
                   describe(cursor_.peek()));
    node.children.push_back(steps(opener, names));
    --depth_;
    return finish(std::move(node));
  }

  [[noreturn]] void fail_behind_expression() const {
    constexpr std::array<std::string_view, 9> kChanges = {
        "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<="};
    if (contains(kChanges, cursor_.peek().text)) cursor_.fail(std::string(kOnlyLocals));
    if (is_word("is")) {
      cursor_.fail("there is no 'is': `x ? a : b` tests whether x is there, `x ?? b` replaces it "
                   "where it is not");
    }
    if (cursor_.at(";")) cursor_.fail("only 'name = expression' is followed by ';'");
    if (cursor_.at(")") || cursor_.at("]") || cursor_.at("}"))
      cursor_.fail("this '" + cursor_.peek().text + "' closes nothing");
    if (cursor_.at("**")) cursor_.fail("'**' is not an operator here", "pow(a, b)");
    if (cursor_.at("//")) cursor_.fail("'//' is not an operator here", "floor_divide(a, b)");
    cursor_.fail("expected an operator or the end of the text, got " + describe(cursor_.peek()));
  }

  /// A mistake that does not end the parse.
  void report(const Token& token, std::string message, std::string suggestion) {
    errors_.push_back(
        {token.offset, token.text.size(), std::move(message), std::move(suggestion), 0});
  }

  Formula start(FormulaKind kind) const {
    Formula node;
    node.kind = kind;
    node.offset = cursor_.peek().offset;
    return node;
  }

  Formula finish(Formula node) const {
    node.length = cursor_.end_of_previous() - node.offset;
    for (const Formula& child : node.children)
      node.height = std::max(node.height, child.height + 1);
    if (node.height > kMaxHeight) cursor_.fail(std::string(kTooDeep));
    return node;
  }

  /// A node of `left` and what follows an operation at `place`.
  static Formula node_of(FormulaKind kind, const std::string& operation, const Token& place,
                         Formula left) {
    Formula node;
    node.kind = kind;
    node.operation = operation;
    node.offset = left.offset;
    node.operation_offset = place.offset;
    node.children.push_back(std::move(left));
    return node;
  }

  Formula expression() {
    if (++depth_ > kMaxDepth) cursor_.fail(std::string(kTooDeep));
    Formula result = either();
    if (cursor_.at("?")) {
      const Token place = cursor_.take();
      Formula node = node_of(FormulaKind::kTernary, "", place, std::move(result));
      node.children.push_back(expression());
      if (!cursor_.accept(":"))
        cursor_.fail("expected ':' of 'condition ? a : b', got " + describe(cursor_.peek()));
      node.children.push_back(expression());
      result = finish(std::move(node));
    }
    if (is_word("if")) fail_at_choice();
    --depth_;
    return result;
  }

  /// `a ?? b ?? c` is `a ?? (b ?? c)`: the first that is there.
  Formula either() {
    Formula result = binary(0);
    if (!at_absent()) return result;
    if (++depth_ > kMaxDepth) cursor_.fail(std::string(kTooDeep));
    const Token place = cursor_.take();
    cursor_.take();
    if (result.kind == FormulaKind::kBinary && result.children[1].kind == FormulaKind::kName)
      report(place, "?? replaces what may be absent, and '" + result.operation + "' is stronger",
             "(" + result.children[1].text + " ?? b)");
    Formula node = node_of(FormulaKind::kBinary, "??", place, std::move(result));
    node.children.push_back(either());
    --depth_;
    return finish(std::move(node));
  }

  bool at_absent() const {
    return cursor_.at("?") && cursor_.peek(1).text == "?" &&
           cursor_.peek(1).offset == cursor_.peek().offset + 1;
  }

  bool is_word(std::string_view word) const {
    return cursor_.peek().kind == TokenKind::kName && cursor_.peek().text == word;
  }

  [[noreturn]] void fail_at_choice() const {
    cursor_.fail("a choice is written 'condition ? a : b'");
  }

  /// The operator here; of one that another language writes as a word, ours, after saying so.
  std::string operation() {
    if (cursor_.peek().kind != TokenKind::kName) return cursor_.operation();
    const Token word = cursor_.peek();
    std::string ours = operator_of_word(word.text);
    if (ours.empty()) return "";
    report(word, "'" + word.text + "' is not an operator here", ours);
    cursor_.put({TokenKind::kPunctuation, ours, word.offset});
    return ours;
  }

  Formula binary(std::size_t level) {
    if (level == kLevels.size()) return unary();
    Formula left = binary(level + 1);
    bool compared = false;
    while (true) {
      const std::string operation = this->operation();
      if (!contains(kLevels[level], operation)) return left;
      const Token place{TokenKind::kPunctuation, operation, cursor_.peek().offset};
      if (compared) report(place, "comparisons do not chain", "a < b && b < c");
      compared = contains(kComparisons, operation);
      cursor_.skip_operation(operation);
      if (compared && is_word("None") && left.kind == FormulaKind::kName)
        cursor_.fail("there is no None: what may be absent is tested by its name, '" + left.text +
                     " ? a : b'");
      Formula node = node_of(FormulaKind::kBinary, operation, place, std::move(left));
      node.children.push_back(binary(level + 1));
      left = finish(std::move(node));
    }
  }

  Formula unary() {
    if (++depth_ > kMaxDepth) cursor_.fail(std::string(kTooDeep));
    Formula result;
    const std::string operation = this->operation();
    if (contains(kUnaryOperators, operation)) {
      Formula node = start(FormulaKind::kUnary);
      node.operation_offset = node.offset;
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
      const Token opener = cursor_.peek();
      if (cursor_.accept("(")) {
        node = node_of(FormulaKind::kCall, "", opener, std::move(node));
        list(node, ")", opener);
      } else if (cursor_.accept("[")) {
        node = node_of(FormulaKind::kIndex, "", opener, std::move(node));
        node.children.push_back(expression());
        cursor_.expect_closing("]", opener);
      } else if (cursor_.at("{") && node.kind == FormulaKind::kName && !in_condition_) {
        cursor_.take();
        node = node_of(FormulaKind::kTypedBraces, "", opener, std::move(node));
        list(node, "}", opener);
      } else if (cursor_.at(".") || cursor_.at("->")) {
        node = node_of(FormulaKind::kMember, cursor_.take().text, opener, std::move(node));
        if (cursor_.peek().kind != TokenKind::kName)
          cursor_.fail("expected a member's name after '" + node.operation + "', got " +
                       describe(cursor_.peek()));
        node.text = cursor_.take().text;
        node.text += template_arguments();
      } else {
        return node;
      }
      node = finish(std::move(node));
    }
  }

  void list(Formula& node, std::string_view closer, const Token& opener) {
    if (!cursor_.at(closer)) {
      do {
        const Token first = cursor_.peek();
        node.children.push_back(expression());
        if (cursor_.at("=") && node.children.back().kind == FormulaKind::kName)
          fail_at(first, "arguments have no names here: they stand in the schema's order");
      } while (cursor_.accept(","));
    }
    cursor_.expect_closing(closer, opener);
  }

  Formula primary() {
    const Token token = cursor_.peek();
    if (token.kind == TokenKind::kNumber || token.kind == TokenKind::kString) {
      if (token.kind == TokenKind::kNumber) check_number(token);
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
      if (cursor_.at(","))
        cursor_.fail("parentheses hold one value: several results are `std::make_tuple(a, b)` in "
                     "tensor code and a map of expressions in code of elements");
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

  void check_number(const Token& token) {
    double value = 0;
    const char* end = token.text.data() + token.text.size();
    const auto [stop, code] = std::from_chars(token.text.data(), end, value);
    if (stop != end || code != std::errc())
      errors_.push_back(number_mistake(token.text, token.offset));
  }

  Formula name() {
    Formula node = start(FormulaKind::kName);
    if (is_word("if") || is_word("else")) fail_at_choice();
    const bool lambda = is_word("lambda") && cursor_.peek(1).kind == TokenKind::kName;
    if (lambda || contains(kStatements, cursor_.peek().text))
      cursor_.fail(std::string(kOnlyLocals));
    if (is_word("None"))
      cursor_.fail("there is no None: an operator takes {} for what is absent, and an element is "
                   "always a number");
    if (is_word("True") || is_word("False")) {
      const Token word = cursor_.peek();
      const std::string ours = word.text == "True" ? "true" : "false";
      report(word, "unknown name '" + word.text + "'", ours);
      cursor_.put({TokenKind::kName, ours, word.offset});
    }
    const std::string& first = cursor_.peek().text;
    if (is_literal(first)) {
      node.kind = FormulaKind::kLiteral;
      node.text = cursor_.take().text;
      return finish(std::move(node));
    }
    bool qualified = cursor_.accept("::");
    if (qualified) node.text = "::";
    while (true) {
      if (cursor_.peek().kind != TokenKind::kName)
        cursor_.fail("expected a name after '::', got " + describe(cursor_.peek()));
      node.text += cursor_.take().text;
      // Behind a plain name `<` compares: `where(a < b, c > (d), e)`.
      if (qualified) node.text += template_arguments();
      if (!cursor_.accept("::")) return finish(std::move(node));
      qualified = true;
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
    if (!cursor_.at("(") && !cursor_.at("{")) {
      const std::string list =
          text_.substr(node.offset + 1, cursor_.end_of_previous() - node.offset - 2);
      throw SyntaxError{
          {node.offset, list.size() + 2, "a list is written in braces", "{" + list + "}", 0}};
    }
    std::vector<std::string> bound = {"return", "auto", "const"};
    if (cursor_.at("(")) {
      const std::vector<Token> parameters = group(")");
      for (const Token& token : parameters)
        if (token.kind == TokenKind::kName) bound.push_back(token.text);
    }
    if (!cursor_.at("{"))
      cursor_.fail("expected the body of a lambda, got " + describe(cursor_.peek()));
    const std::vector<Token> body = group("}");
    for (std::size_t i = 0; i < body.size(); ++i) {
      const Token& token = body[i];
      const std::string previous = i == 0 ? "" : body[i - 1].text;
      const std::string next = i + 1 == body.size() ? "" : body[i + 1].text;
      const bool declared =
          previous == "auto" || (previous == "&" && i > 1 && body[i - 2].text == "auto");
      if (declared) bound.push_back(token.text);
      const bool free = token.kind == TokenKind::kName && previous != "." && previous != "->" &&
                        previous != "::" && next != "::" && !contains(bound, token.text);
      if (!free) continue;
      Formula use;
      use.text = token.text;
      use.offset = token.offset;
      use.length = token.text.size();
      if (next == "(") {
        Formula call;
        call.kind = FormulaKind::kCall;
        call.offset = use.offset;
        call.length = use.length;
        call.children.push_back(std::move(use));
        use = std::move(call);
      }
      node.children.push_back(std::move(use));
    }
    node = finish(std::move(node));
    node.text = text_.substr(node.offset, node.length);
    return node;
  }

  const std::string& text_;
  TokenCursor cursor_;
  std::vector<ExprError>& errors_;
  int depth_ = 0;
  int locals_ = 0;
  bool in_condition_ = false;  ///< of a loop: a '{' begins its locals
};

}  // namespace

FormulaResult parse_formula(const std::string& text) {
  FormulaResult result;
  std::vector<Token> tokens = tokenize(text, result.errors);
  if (!result.errors.empty()) return result;
  try {
    result.formula = Parser(text, std::move(tokens), result.errors).parse();
    result.complete = true;
  } catch (const SyntaxError& failure) {
    result.errors.push_back(failure.error);
  }
  return result;
}

}  // namespace tenon::codegen::expr
