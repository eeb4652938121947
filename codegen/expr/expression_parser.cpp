#include "codegen/expr/expression_parser.h"

#include "codegen/expr/append_new.h"
#include "codegen/expr/foreign.h"
#include "codegen/schema/suggest.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace tenon::codegen::expr {
namespace {

constexpr int kMaxDepth = 200;

struct BinaryOperator {
  std::string_view text;
  int level;
  Op op;
};

constexpr std::array<BinaryOperator, 18> kOperators = {{
    {"||", 1, Op::kLogicalOr},
    {"&&", 2, Op::kLogicalAnd},
    {"|", 3, Op::kBitwiseOr},
    {"^", 4, Op::kBitwiseXor},
    {"&", 5, Op::kBitwiseAnd},
    {"==", 6, Op::kEq},
    {"!=", 6, Op::kNe},
    {"<", 7, Op::kLt},
    {"<=", 7, Op::kLe},
    {">", 7, Op::kGt},
    {">=", 7, Op::kGe},
    {"<<", 8, Op::kLshift},
    {">>", 8, Op::kRshift},
    {"+", 9, Op::kAdd},
    {"-", 9, Op::kSub},
    {"*", 10, Op::kMul},
    {"/", 10, Op::kDiv},
    {"%", 10, Op::kRemainder},
}};
constexpr int kUnaryLevel = 11;

const BinaryOperator* find_operator(const std::string& text) {
  for (const BinaryOperator& candidate : kOperators)
    if (candidate.text == text) return &candidate;
  return nullptr;
}

std::optional<double> named_constant(const std::string& name) {
  if (name == "inf") return std::numeric_limits<double>::infinity();
  if (name == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (name == "pi") return std::numbers::pi;
  if (name == "e") return std::numbers::e;
  return std::nullopt;
}

bool is_draw(const std::string& name) { return name == "uniform" || name == "normal"; }

std::string plural(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace

ExpressionParser::ExpressionParser(Graph& graph, Names names, Vocabulary vocabulary,
                                   std::vector<std::string> expanding)
    : graph_(graph), names_(std::move(names)), vocabulary_(std::move(vocabulary)),
      expanding_(std::move(expanding)) {}

std::optional<NodeId> ExpressionParser::parse(const std::string& text,
                                              std::vector<ExprError>& errors) {
  const std::size_t before = errors.size();
  std::vector<Token> tokens = tokenize(text, errors);
  if (errors.size() != before || !translate_foreign(tokens, errors)) return std::nullopt;
  cursor_ = TokenCursor(std::move(tokens));
  unread_.clear();
  errors_ = &errors;
  try {
    const Value value = statements();
    return errors.size() == before ? value : std::nullopt;
  } catch (const SyntaxError& failure) {
    errors.push_back(failure.error);
    return std::nullopt;
  }
}

void ExpressionParser::report(const Token& token, std::string message, std::string suggestion) {
  errors_->push_back({token.offset, std::max<std::size_t>(token.text.size(), 1), std::move(message),
                      std::move(suggestion), 0});
}

ExpressionParser::Value ExpressionParser::statements() {
  while (cursor_.peek().kind == TokenKind::kName && cursor_.peek(1).text == "=") {
    const Token target = cursor_.take();
    cursor_.take();
    const Value value = ternary();
    if (!cursor_.accept(";"))
      cursor_.fail("expected ';' after the definition of '" + target.text + "', got " +
                   describe(cursor_.peek()));
    if (names_.count(target.text) != 0) report(target, "'" + target.text + "' is already defined");
    // After an error the name still counts as known, to avoid errors that only follow from it.
    names_[target.text] = value.value_or(graph_.integer(0));
    unread_[target.text] = target;
  }
  const Value value = ternary();
  for (const auto& [name, token] : unread_) report(token, "no expression reads '" + name + "'");
  if (cursor_.peek().kind != TokenKind::kEnd) {
    if (cursor_.at("**")) cursor_.fail("'**' is not an operator here", "pow(a, b)");
    if (cursor_.at("//")) cursor_.fail("'//' is not an operator here", "floor_divide(a, b)");
    cursor_.fail("expected an operator or the end of the text, got " + describe(cursor_.peek()));
  }
  return value;
}

ExpressionParser::Value ExpressionParser::ternary() {
  if (++depth_ > kMaxDepth) cursor_.fail("the expression is nested too deeply");
  const std::size_t begin = cursor_.peek().offset;
  test_.reset();
  Value result = binary(1);
  if (cursor_.at("?")) {
    const Token token = cursor_.take();
    const std::optional<Token> test = std::exchange(test_, std::nullopt);
    if (test && test->offset != begin)
      report(*test, "'" + test->text + "' may be absent: its test is its name alone, '" +
                        test->text + " ? a : b'");
    const bool outermost = test && tested_.insert(test->text).second;
    const Value yes = ternary();
    if (outermost) tested_.erase(test->text);
    if (!cursor_.accept(":"))
      cursor_.fail("expected ':' of 'condition ? a : b', got " + describe(cursor_.peek()));
    const Value no = ternary();
    if (test)
      result = vocabulary_.optionals->given.contains(test->text) ? yes : no;
    else
      result = apply_function({TokenKind::kName, "where", token.offset}, {result, yes, no});
  }
  --depth_;
  return result;
}

ExpressionParser::Value ExpressionParser::binary(int level) {
  if (level == kUnaryLevel) return unary();
  Value left = binary(level + 1);
  bool compared = false;
  while (true) {
    const std::string operation = cursor_.operation();
    const BinaryOperator* row = find_operator(operation);
    if (row == nullptr || row->level != level) return left;
    const Token token{TokenKind::kPunctuation, operation, cursor_.peek().offset};
    if (compared) report(token, "comparisons do not chain", "a < b && b < c");
    compared = level == 6 || level == 7;
    cursor_.skip_operation(operation);
    const Value right = binary(level + 1);
    left = combine(operation, token, left, right);
  }
}

ExpressionParser::Value ExpressionParser::combine(const std::string& operation, const Token& token,
                                                  Value a, Value b) {
  if (!a || !b) return std::nullopt;
  const Op op = find_operator(operation)->op;
  switch (op) {
  case Op::kBitwiseAnd: return bitwise(op, Op::kLogicalAnd, token, *a, *b);
  case Op::kBitwiseOr: return bitwise(op, Op::kLogicalOr, token, *a, *b);
  case Op::kBitwiseXor: return bitwise(op, Op::kLogicalXor, token, *a, *b);
  case Op::kLshift:
  case Op::kRshift: return bitwise(op, op, token, *a, *b);
  default: return graph_.call(op, {*a, *b});
  }
}

ExpressionParser::Value ExpressionParser::bitwise(Op bits, Op logic, const Token& token, NodeId a,
                                                  NodeId b) {
  if (logic != bits && is_mask(a) && is_mask(b)) return graph_.call(logic, {a, b});
  if (graph_[a].floating || graph_[b].floating) {
    report(token, "'" + token.text + "' needs integers, got a floating value");
    return std::nullopt;
  }
  return graph_.call(bits, {a, b});
}

ExpressionParser::Value ExpressionParser::unary() {
  if (++depth_ > kMaxDepth) cursor_.fail("the expression is nested too deeply");
  Value result;
  if (cursor_.at("-") || cursor_.at("+") || cursor_.at("!") || cursor_.at("~")) {
    const Token token = cursor_.take();
    const Value operand = unary();
    if (!operand)
      result = std::nullopt;
    else if (token.text == "-")
      result = graph_.call(Op::kNeg, {*operand});
    else if (token.text == "+")
      result = graph_.as_value(*operand);
    else if (token.text == "!" || is_mask(*operand))
      result = graph_.call(Op::kLogicalNot, {*operand});
    else if (graph_[*operand].floating)
      report(token, "'~' needs integers or conditions, got a floating value");
    else
      result = graph_.call(Op::kBitwiseNot, {*operand});
  } else {
    result = primary();
  }
  --depth_;
  return result;
}

ExpressionParser::Value ExpressionParser::primary() {
  Value value = operand();
  while (cursor_.at(".") && cursor_.peek(1).kind == TokenKind::kName) {
    cursor_.take();
    const Token function = cursor_.take();
    value = call(function, {value});
  }
  return value;
}

ExpressionParser::Value ExpressionParser::operand() {
  const Token token = cursor_.peek();
  switch (token.kind) {
  case TokenKind::kNumber: cursor_.take(); return number(token);
  case TokenKind::kName: cursor_.take(); return cursor_.at("(") ? call(token, {}) : name(token);
  case TokenKind::kPunctuation:
    if (cursor_.accept("(")) {
      const Value value = ternary();
      cursor_.expect_closing(")", token);
      return value;
    }
    break;
  default: break;
  }
  cursor_.fail("expected a value, got " + describe(token));
}

ExpressionParser::Value ExpressionParser::number(const Token& token) {
  double value = 0;
  const char* end = token.text.data() + token.text.size();
  const auto [stop, code] = std::from_chars(token.text.data(), end, value);
  if (stop != end || code != std::errc()) {
    report(token, "'" + token.text + "' is not a number", without_suffix(token.text));
    return std::nullopt;
  }
  const bool integral = token.text.find_first_of(".eE") == std::string::npos;
  if (integral && value > 9007199254740992.0) {
    report(token, "an integer must not exceed 2^53, got " + token.text);
    return std::nullopt;
  }
  return graph_.constant(value, integral);
}

ExpressionParser::Value ExpressionParser::name(const Token& token) {
  const AbsentOperands* absent = vocabulary_.absent;
  if (absent != nullptr && absent->names.contains(token.text)) return optional(token);
  const OptionalTensors* optionals = vocabulary_.optionals;
  if (optionals != nullptr && optionals->names.contains(token.text)) return maybe_given(token);
  if (const auto it = names_.find(token.text); it != names_.end()) {
    unread_.erase(token.text);
    return it->second;
  }
  if (const auto value = named_constant(token.text)) return graph_.constant(*value, false);
  if (token.text == "true" || token.text == "false")
    return graph_.mask_constant(token.text == "true");
  if (find_intrinsic(token.text) != nullptr || !functions(token.text).empty()) {
    report(token, "'" + token.text + "' is a function and needs arguments", token.text + "(...)");
    return std::nullopt;
  }
  std::vector<std::string> known;
  for (const auto& [known_name, node] : names_) known.push_back(known_name);
  report(token, "unknown name '" + token.text + "'", schema::nearest(token.text, known));
  return std::nullopt;
}

ExpressionParser::Value ExpressionParser::call(const Token& token, std::vector<Value> arguments) {
  const Token opener = cursor_.take();
  if (!cursor_.at(")")) {
    do arguments.push_back(ternary());
    while (cursor_.accept(","));
  }
  cursor_.expect_closing(")", opener);
  return apply_function(token, arguments);
}

ExpressionParser::Value ExpressionParser::apply_function(const Token& token,
                                                         const std::vector<Value>& arguments) {
  const std::vector<const Function*> found = functions(token.text);
  // An operator's own expression is made of the intrinsic of its name.
  const bool defined = !found.empty() && found[0]->op.empty();
  const Intrinsic* row = defined ? nullptr : find_intrinsic(token.text);
  if (!defined && row == nullptr && vocabulary_.rows) row = find_row_intrinsic(token.text);
  if (found.empty() && row == nullptr) {
    if (is_draw(token.text)) return draw(token, arguments.size());
    if (names_.count(token.text) != 0)
      report(token, "'" + token.text + "' is a value, not a function");
    else
      report(token, "unknown function '" + token.text + "'" + why_no_function(token.text),
             suggest_function(token.text, function_names()));
    return std::nullopt;
  }
  if (row != nullptr && arguments.size() != row->arity) {
    report(token, "'" + token.text + "' takes " + plural(row->arity, "argument") + ", got " +
                      std::to_string(arguments.size()));
    return std::nullopt;
  }
  std::vector<NodeId> nodes;
  for (const Value& argument : arguments) {
    if (!argument) return std::nullopt;
    nodes.push_back(*argument);
  }
  if (row == nullptr) {
    const Function* function = choose(found, token, nodes);
    return function != nullptr ? expand(*function, token, std::move(nodes)) : std::nullopt;
  }
  if (is_row_op(row->op) && !check_row_arguments(row->op, token, nodes)) return std::nullopt;
  if (row->integers == Integers::kOnly) {
    for (NodeId node : nodes)
      if (graph_[node].floating) {
        report(token, "'" + token.text + "' needs integers, got a floating value");
        return std::nullopt;
      }
  }
  return graph_.call(row->op, nodes);
}

ExpressionParser::Value ExpressionParser::optional(const Token& token) {
  if (!cursor_.at("?") || cursor_.peek(1).text != "?") {
    report(token, "'" + token.text + "' may be absent: say which number stands for it then",
           "(" + token.text + " ?? 1)");
    return std::nullopt;
  }
  cursor_.take();
  const Token second = cursor_.take();
  const Value value = unary();
  if (!value) return std::nullopt;
  const Node& node = graph_[*value];
  const NodeId operand = names_.at(token.text);
  const bool tensor = graph_[operand].kind == NodeKind::kTensor;
  if (node.kind != NodeKind::kConstant || (tensor && node.value_kind == ValueKind::kMask)) {
    report(second,
           "what stands for an absent " + std::string(tensor ? "tensor" : "argument") +
               " must be a number",
           token.text + " ?? 1");
    return std::nullopt;
  }
  const auto [before, inserted] = vocabulary_.absent->defaults.try_emplace(token.text, node.number);
  if (before->second != node.number) {
    report(second, "another number already stands for '" + token.text + "' where it is absent");
  }
  return operand;
}

ExpressionParser::Value ExpressionParser::draw(const Token& token, std::size_t num_arguments) {
  if (num_arguments != 0) {
    report(token, "'" + token.text + "' takes no arguments, got " + std::to_string(num_arguments),
           token.text == "uniform" ? "low + (high - low) * uniform()" : "mean + std * normal()");
    return std::nullopt;
  }
  if (vocabulary_.draws == nullptr) {
    report(token,
           "'" + token.text + "' draws random numbers, which only `pointwise` of new results can");
    return std::nullopt;
  }
  std::vector<Draw>& draws = *vocabulary_.draws;
  const NodeId node =
      graph_.variable(NodeKind::kRandom, token.text + std::to_string(draws.size()) + "_");
  draws.push_back({token.text, node, 0, token.offset, token.text.size()});
  return node;
}

ExpressionParser::Value ExpressionParser::maybe_given(const Token& token) {
  const bool given = vocabulary_.optionals->given.contains(token.text);
  const bool at_test = cursor_.at("?");
  if (at_test && cursor_.peek(1).text == "?") {
    cursor_.take();
    cursor_.take();
    const Value otherwise = unary();
    return given ? Value(names_.at(token.text)) : otherwise;
  }
  // Where it is absent, what its test guards is parsed and then left out.
  if (tested_.contains(token.text)) return given ? names_.at(token.text) : graph_.integer(0);
  if (at_test) {
    test_ = token;
    return graph_.mask_constant(given);
  }
  report(token, "'" + token.text + "' may be absent: test it, or say what stands for it then",
         "(" + token.text + " ?? 0)");
  return std::nullopt;
}

bool ExpressionParser::check_row_arguments(Op op, const Token& token,
                                           const std::vector<NodeId>& arguments) {
  if (!is_reduction(op)) return true;
  if (graph_[arguments[0]].domain != Domain::kElement) {
    report(token, "'" + token.text + "' takes the elements of a row, got one value per " +
                      (graph_[arguments[0]].domain == Domain::kRow ? "row" : "call"));
    return false;
  }
  if (op != Op::kPick) return true;
  const Node& position = graph_[arguments[1]];
  if (position.kind == NodeKind::kTensor && position.domain == Domain::kRow) return true;
  report(token, position.floating ? "'pick' needs an integer position, got a floating value"
                                  : "'pick' needs a position for each row: an argument named in "
                                    "`rows`");
  return false;
}

std::vector<const Function*> ExpressionParser::functions(const std::string& name) const {
  std::vector<const Function*> found;
  for (const Functions* list : {vocabulary_.own, vocabulary_.shared, &rule_functions()}) {
    if (list == nullptr) continue;
    for (const Function& one : *list) {
      if (one.name == name) found.push_back(&one);
    }
    // Overloads are of one place: what stands first hides what another library calls the same.
    if (!found.empty() && found[0]->op.empty()) break;
  }
  return found;
}

const Function* ExpressionParser::choose(const std::vector<const Function*>& found,
                                         const Token& token, const std::vector<NodeId>& arguments) {
  const Function* best = nullptr;
  int best_score = -1;
  for (const Function* one : found) {
    if (!one->takes(arguments.size())) continue;
    // Overloads differ in which argument is a number; each takes the other kind too.
    int score = 0;
    for (std::size_t i = 0; i < arguments.size() && i < one->numbers.size(); ++i) {
      score += one->numbers[i] == (graph_[arguments[i]].domain == Domain::kScalar);
    }
    if (score > best_score) {
      best = one;
      best_score = score;
    }
  }
  if (best != nullptr) return best;
  const std::size_t most = found[0]->parameters.size();
  const std::size_t least = most - found[0]->defaults.size();
  report(token, "'" + token.text + "' takes " +
                    (least < most ? std::to_string(least) + " to " : "") +
                    plural(most, "argument") + ", got " + std::to_string(arguments.size()));
  return nullptr;
}

ExpressionParser::Value ExpressionParser::expand(const Function& function, const Token& token,
                                                 std::vector<NodeId> arguments) {
  const std::string label = function.op.empty() ? function.name : function.op;
  std::vector<std::string> expanding = expanding_;
  expanding.push_back(label);
  if (const auto again = std::find(expanding_.begin(), expanding_.end(), label);
      again != expanding_.end()) {
    std::string cycle;
    for (auto name = expanding.begin() + (again - expanding_.begin()); name != expanding.end();
         ++name) {
      cycle += (cycle.empty() ? "" : " -> ") + *name;
    }
    report(token, "'" + token.text + "' is computed by itself: " + cycle);
    return std::nullopt;
  }
  const std::string* body = function.body_for(vocabulary_.category);
  if (body == nullptr) {
    report(token, "'" + token.text + "' has no expression for " + vocabulary_.category + " dtypes");
    return std::nullopt;
  }
  std::vector<ExprError> inner;
  for (std::size_t i = arguments.size(); i < function.parameters.size(); ++i) {
    const std::size_t from_end = function.parameters.size() - i;
    const std::string& literal = function.defaults[function.defaults.size() - from_end];
    const Value value = ExpressionParser(graph_, {}, {}).parse(literal, inner);
    if (!value) return std::nullopt;
    arguments.push_back(*value);
  }
  Names names;
  for (std::size_t i = 0; i < arguments.size(); ++i) names[function.parameters[i]] = arguments[i];
  // Its names are its own: rows' operands that may be absent are values by now.
  Vocabulary vocabulary = vocabulary_;
  vocabulary.absent = nullptr;
  vocabulary.optionals = nullptr;
  const std::size_t drawn = vocabulary.draws ? vocabulary.draws->size() : 0;
  const Value value =
      ExpressionParser(graph_, std::move(names), std::move(vocabulary), std::move(expanding))
          .parse(*body, inner);
  for (const ExprError& error : inner)
    report(token, "in '" + function.name + "': " + error.message, error.suggestion);
  for (std::size_t i = drawn; vocabulary_.draws && i < vocabulary_.draws->size(); ++i) {
    (*vocabulary_.draws)[i].offset = token.offset;
    (*vocabulary_.draws)[i].length = token.text.size();
  }
  return value;
}

std::vector<std::string> ExpressionParser::function_names() const {
  std::vector<std::string> names = intrinsic_names();
  for (const Functions* list : {&rule_functions(), vocabulary_.shared, vocabulary_.own}) {
    if (list == nullptr) continue;
    for (const Function& one : *list) {
      append_new(names, one.name);
    }
  }
  if (vocabulary_.draws) names.insert(names.end(), {"uniform", "normal"});
  for (auto op = Op::kRowSum; vocabulary_.rows && op < Op::kCount;
       op = static_cast<Op>(static_cast<int>(op) + 1)) {
    names.emplace_back(intrinsic(op).name);
  }
  return names;
}

}  // namespace tenon::codegen::expr
