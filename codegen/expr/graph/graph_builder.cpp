#include "codegen/expr/graph/graph_builder.h"

#include "codegen/expr/formulas/foreign.h"
#include "codegen/expr/formulas/formula_names.h"
#include "codegen/expr/graph/append_new.h"
#include "codegen/expr/graph/constants.h"
#include "codegen/expr/graph/operators.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace tenon::codegen::expr {
namespace {

/// The names that the value of a condition is made of without a call.
void tested_names(const Formula& condition, std::vector<const Formula*>& names) {
  if (condition.kind == FormulaKind::kName) names.push_back(&condition);
  const bool plain = condition.kind == FormulaKind::kParentheses ||
                     condition.kind == FormulaKind::kUnary ||
                     (condition.kind == FormulaKind::kBinary && condition.operation != "??");
  if (!plain) return;
  for (const Formula& child : condition.children) tested_names(child, names);
}

std::string plural(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace

bool is_draw(std::string_view name) { return name == "uniform" || name == "normal"; }

GraphBuilder::GraphBuilder(Graph& graph, Names names, Vocabulary vocabulary,
                           std::vector<std::string> expanding)
    : graph_(graph), names_(std::move(names)), vocabulary_(std::move(vocabulary)),
      expanding_(std::move(expanding)) {}

std::optional<NodeId> GraphBuilder::add(const std::string& text, std::vector<ExprError>& errors) {
  const std::size_t before = errors.size();
  const FormulaResult parsed = parse_formula(text);
  errors_ = &errors;
  for (const ExprError& error : parsed.errors) report(error);
  if (!parsed.complete) return std::nullopt;
  std::vector<std::string> known = {"inf", "nan", "pi"};  // `e` is a name of many things
  for (const auto& [name, node] : names_) known.push_back(name);
  for (ExprError& error : local_mistakes(parsed.formula, known)) report(std::move(error));
  const Value value = lower(parsed.formula);
  return errors.size() == before ? value : std::nullopt;
}

void GraphBuilder::report(const Token& token, std::string message, std::string suggestion) {
  errors_->push_back({token.offset, std::max<std::size_t>(token.text.size(), 1), std::move(message),
                      std::move(suggestion), 0});
}

void GraphBuilder::report(ExprError mistake) {
  mistake.elsewhere = vocabulary_.inlined;
  errors_->push_back(std::move(mistake));
}

GraphBuilder::Value GraphBuilder::lower(const Formula& tree) {
  switch (tree.kind) {
  case FormulaKind::kName: return name(tree);
  case FormulaKind::kLiteral: return literal(tree);
  case FormulaKind::kParentheses: return lower(tree.children[0]);
  case FormulaKind::kUnary: return unary(tree);
  case FormulaKind::kBinary: return tree.operation == "??" ? absent(tree) : binary(tree);
  case FormulaKind::kTernary: return ternary(tree);
  case FormulaKind::kCall: return call(tree);
  case FormulaKind::kLocal:
    // After an error the name still counts as known, to avoid errors that only follow from it.
    names_[tree.text] = lower(tree.children[0]).value_or(graph_.integer(0));
    locals_.insert(tree.text);
    return lower(tree.children[1]);
  case FormulaKind::kRepeat: repeat(tree); return lower(tree.children[1]);
  case FormulaKind::kCheck: {
    const Formula& call = tree.children[0];
    errors_->push_back({call.offset, call.length,
                        "a check is of tensor code: `check: NAME` beside an expression of elements "
                        "names a function that throws",
                        "", 0});
    return lower(tree.children[1]);
  }
  case FormulaKind::kMember: {
    const Formula& owner = tree.children[0];
    if (const auto mistake = module_mistake(tree, constant_names())) {
      errors_->push_back(*mistake);
    } else {
      const std::size_t dot = tree.operation_offset;
      const bool meant = owner.kind == FormulaKind::kName && is_function(tree.text);
      errors_->push_back({dot, tree.operation.size(), "expressions have functions, no members",
                          meant ? tree.text + "(" + owner.text + ")" : "", 0});
    }
    return std::nullopt;
  }
  case FormulaKind::kIndex:
  case FormulaKind::kBraces:
  case FormulaKind::kTypedBraces:
  case FormulaKind::kLambda:
    errors_->push_back({tree.offset, tree.length,
                        "lists, indices and lambdas are of tensor code: an expression is of "
                        "numbers of one element each",
                        "", 0});
  }
  return std::nullopt;
}

GraphBuilder::Value GraphBuilder::ternary(const Formula& tree) {
  const Formula& condition = tree.children[0];
  std::vector<const Formula*> tests;
  tested_names(condition, tests);
  std::erase_if(tests, [&](const Formula* one) {
    return vocabulary_.optionals == nullptr || !is_optional(one->text) ||
           tested_.contains(one->text);
  });
  if (tests.empty()) {
    const Value test = lower(condition);
    const Value yes = lower(tree.children[1]);
    const Value no = lower(tree.children[2]);
    return apply_function({TokenKind::kName, "where", tree.operation_offset}, {test, yes, no});
  }
  const std::string& tested = tests[0]->text;
  if (condition.kind != FormulaKind::kName) {
    const Token token{TokenKind::kName, tested, tests[0]->offset};
    report(token,
           "'" + tested + "' may be absent: its test is its name alone, '" + tested + " ? a : b'");
  }
  // Where it is absent, what its test guards is lowered and then left out.
  tested_.insert(tested);
  const Value yes = lower(tree.children[1]);
  tested_.erase(tested);
  const Value no = lower(tree.children[2]);
  return vocabulary_.optionals->given.contains(tested) ? yes : no;
}

std::vector<std::string> GraphBuilder::carried_names(const Formula& step) {
  std::vector<std::string> carried;
  for (const Formula* one = &step; one->kind == FormulaKind::kLocal; one = &one->children[1]) {
    const Token token{TokenKind::kName, one->text, one->offset};
    if (locals_.contains(one->text)) {
      carried.push_back(one->text);
    } else if (names_.contains(one->text)) {
      report(token, "'" + one->text +
                        "' is an argument, which nothing changes: a loop carries "
                        "locals that are defined before it");
    } else {
      bool read = false;
      for (const Formula* later = &one->children[1]; later->kind == FormulaKind::kLocal;
           later = &later->children[1])
        read = read || uses_name(later->children[0], one->text);
      if (!read)
        report(token, "no later expression of the step reads '" + one->text +
                          "', and no local before the loop has that name");
    }
  }
  return carried;
}

void GraphBuilder::repeat(const Formula& tree) {
  const Token token{TokenKind::kName, "repeat", tree.operation_offset};
  if (vocabulary_.rows) report(token, "a loop is of `pointwise`: a row has reductions");
  const std::size_t before = errors_->size();
  const std::vector<std::string> carried = carried_names(tree.children[2]);
  auto loop = std::make_shared<Loop>();
  std::from_chars(tree.text.data(), tree.text.data() + tree.text.size(), loop->most);
  // What names stand for inside: variables of the body, each for a node outside.
  Names inside;
  std::map<NodeId, NodeId> captured;
  std::vector<NodeId> arguments;
  for (const std::string& name : carried) {
    const std::string variable = "c" + std::to_string(loop->carried.size());
    inside[name] = loop->body.variable(NodeKind::kTensor, variable);
    loop->carried.push_back(inside[name]);
    arguments.push_back(graph_.as_value(names_.at(name)));
  }
  for (const auto& [name, id] : names_) {
    if (inside.contains(name)) continue;
    const Node outside = graph_[id];
    if (outside.kind == NodeKind::kConstant) {
      inside[name] = outside.value_kind == ValueKind::kMask
                         ? loop->body.mask_constant(outside.number != 0)
                         : loop->body.constant(outside.number, outside.integral);
      continue;
    }
    const bool scalar = outside.domain == Domain::kScalar;
    const auto [found, added] = captured.try_emplace(id, 0);
    if (added)
      found->second = loop->body.variable(scalar ? NodeKind::kScalar : NodeKind::kTensor,
                                          "x" + std::to_string(captured.size()));
    inside[name] = found->second;
  }
  Vocabulary vocabulary = vocabulary_;
  vocabulary.draws = nullptr;
  GraphBuilder steps(loop->body, std::move(inside), std::move(vocabulary), expanding_);
  steps.errors_ = errors_;
  steps.locals_ = locals_;
  steps.tested_ = tested_;
  steps.inlined_ = inlined_;
  if (const Value condition = steps.lower(tree.children[0]))
    loop->condition = loop->body.as_mask(*condition);
  for (const Formula* one = &tree.children[2]; one->kind == FormulaKind::kLocal;
       one = &one->children[1]) {
    steps.names_[one->text] = steps.lower(one->children[0]).value_or(loop->body.integer(0));
    steps.locals_.insert(one->text);
  }
  inlined_ = steps.inlined_;
  for (const std::string& name : carried)
    loop->next.push_back(loop->body.as_value(steps.names_.at(name)));
  if (errors_->size() == before && carried.empty())
    report(token, "a loop gives a local that is defined before it a new value in each step");
  if (errors_->size() != before || vocabulary_.rows) return;
  const std::vector<NodeId> used = topological_order(loop->body, loop->roots());
  for (const auto& [outside, variable] : captured) {
    if (std::find(used.begin(), used.end(), variable) == used.end()) continue;
    loop->captured.push_back(variable);
    arguments.push_back(graph_.as_value(outside));
  }
  loop->describe();
  for (std::size_t i = 0; i < carried.size(); ++i)
    names_[carried[i]] = graph_.repeat(loop, static_cast<std::uint32_t>(i), arguments);
}

GraphBuilder::Value GraphBuilder::binary(const Formula& tree) {
  const Value a = lower(tree.children[0]);
  const Value b = lower(tree.children[1]);
  if (!a || !b) return std::nullopt;
  const Token token{TokenKind::kPunctuation, tree.operation, tree.operation_offset};
  const Op op = binary_operators().at(tree.operation);
  const bool shift = op == Op::kLshift || op == Op::kRshift;
  return logical(op) != op || shift ? bitwise(op, token, *a, *b) : graph_.call(op, {*a, *b});
}

GraphBuilder::Value GraphBuilder::bitwise(Op op, const Token& token, NodeId a, NodeId b) {
  if (logical(op) != op && is_mask(a) && is_mask(b)) return graph_.call(logical(op), {a, b});
  if (graph_[a].floating || graph_[b].floating) {
    report(token, "'" + token.text + "' needs integers, got a floating value");
    return std::nullopt;
  }
  return graph_.call(op, {a, b});
}

GraphBuilder::Value GraphBuilder::unary(const Formula& tree) {
  const Value operand = lower(tree.children[0]);
  if (!operand) return std::nullopt;
  const Token token{TokenKind::kPunctuation, tree.operation, tree.operation_offset};
  if (token.text == "-") return graph_.call(Op::kNeg, {*operand});
  if (token.text == "+") return graph_.as_value(*operand);
  if (token.text == "*") {
    report(token, "'*' takes two values");
    return std::nullopt;
  }
  if (token.text == "!" || is_mask(*operand)) return graph_.call(Op::kLogicalNot, {*operand});
  if (graph_[*operand].floating) {
    report(token, "'~' needs integers or conditions, got a floating value");
    return std::nullopt;
  }
  return bitwise_not(*operand);
}

NodeId GraphBuilder::bitwise_not(NodeId operand) {
  // Of Bool it is the other one, as its one bit has it.
  if (vocabulary_.category == "bool")
    return graph_.as_value(graph_.call(Op::kLogicalNot, {operand}));
  return graph_.call(Op::kBitwiseNot, {operand});
}

GraphBuilder::Value GraphBuilder::literal(const Formula& tree) {
  const std::string& text = tree.text;
  if (text == "true" || text == "false") return graph_.mask_constant(text == "true");
  const Token token{TokenKind::kNumber, text, tree.offset};
  if (text[0] == '"' || text[0] == '\'' || text == "nullptr") {
    report(token, "an element is a number, got " + text);
    return std::nullopt;
  }
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, value);
  if (stop != end || code != std::errc()) return std::nullopt;  // the parser said so
  const bool integral = text.find_first_of(".eE") == std::string::npos;
  std::uint64_t whole = 0;  // the double may be rounded
  const bool fits_integer = std::from_chars(text.data(), end, whole).ec == std::errc();
  if (integral && (!fits_integer || whole > std::uint64_t{1} << 53)) {
    report(token, "an integer must not exceed 2^53, got " + text);
    return std::nullopt;
  }
  return graph_.constant(value, integral);
}

bool GraphBuilder::is_optional(const std::string& name) const {
  const AbsentOperands* absent = vocabulary_.absent;
  const OptionalTensors* optionals = vocabulary_.optionals;
  return (absent != nullptr && absent->names.contains(name)) ||
         (optionals != nullptr && optionals->names.contains(name));
}

bool GraphBuilder::is_no_value(const Token& token) {
  if (vocabulary_.no_values == nullptr) return false;
  const auto what = vocabulary_.no_values->find(token.text);
  if (what == vocabulary_.no_values->end()) return false;
  report(token, "'" + token.text + "' " + what->second + ", and is no value here");
  return true;
}

GraphBuilder::Value GraphBuilder::name(const Formula& tree) {
  const Token token{TokenKind::kName, tree.text, tree.offset};
  if (const auto mistake = module_mistake(tree)) {
    errors_->push_back(*mistake);
    return std::nullopt;
  }
  if (is_optional(token.text)) {
    const bool number = vocabulary_.absent != nullptr;
    if (tested_.contains(token.text)) {
      const bool given = vocabulary_.optionals->given.contains(token.text);
      return given ? names_.at(token.text) : graph_.integer(0);
    }
    report(token,
           "'" + token.text + "' may be absent: " +
               (number ? "say which number stands for it then"
                       : "test it, or say what stands for it then"),
           "(" + token.text + (number ? " ?? 1)" : " ?? 0)"));
    return std::nullopt;
  }
  if (const auto it = names_.find(token.text); it != names_.end()) return it->second;
  if (is_no_value(token)) return std::nullopt;
  if (const NamedConstant* constant = find_named_constant(token.text))
    return graph_.constant(constant->value, false);
  if (is_function(token.text)) {
    const Intrinsic* row = find_row_intrinsic(token.text);
    const bool none = row != nullptr && row->arity == 0;
    report(token,
           "'" + token.text + "' is a function and needs " + (none ? "parentheses" : "arguments"),
           token.text + (none ? "()" : "(...)"));
    return std::nullopt;
  }
  std::vector<std::string> known;
  for (const auto& [known_name, node] : names_) known.push_back(known_name);
  for (const NamedConstant& constant : named_constants()) known.emplace_back(constant.name);
  report(unknown_name(token.text, token.offset, known));
  return std::nullopt;
}

GraphBuilder::Value GraphBuilder::call(const Formula& tree) {
  const Formula& callee = tree.children[0];
  const bool member = callee.kind == FormulaKind::kMember && callee.operation == ".";
  if (!member && callee.kind != FormulaKind::kName) {
    errors_->push_back(
        {callee.offset, callee.length, "a function of expressions is called by its name", "", 0});
    return std::nullopt;
  }
  if (const auto mistake = module_mistake(callee)) {
    errors_->push_back(*mistake);
    return std::nullopt;
  }
  std::vector<Value> arguments;
  if (member) arguments.push_back(lower(callee.children[0]));
  for (std::size_t i = 1; i < tree.children.size(); ++i)
    arguments.push_back(lower(tree.children[i]));
  return apply_function(
      {TokenKind::kName, callee.text, callee.offset + callee.length - callee.text.size()},
      arguments);
}

GraphBuilder::Value GraphBuilder::apply_function(const Token& token,
                                                 const std::vector<Value>& arguments) {
  const std::vector<const Function*> found = functions(token.text);
  // An operator's own expression is made of the intrinsic of its name.
  const bool defined = !found.empty() && found[0]->op.empty();
  const Intrinsic* row = defined ? nullptr : find_intrinsic(token.text);
  if (!defined && vocabulary_.rows) {
    // `fmax` is of two values, or of the elements of a row.
    const Intrinsic* of_rows = find_row_intrinsic(token.text);
    if (of_rows && (row == nullptr || of_rows->arity == arguments.size())) row = of_rows;
  }
  if (found.empty() && row == nullptr) {
    if (is_draw(token.text)) return draw(token, arguments.size());
    if (names_.count(token.text) != 0)
      report(token, "'" + token.text + "' is a value, not a function");
    else if (vocabulary_.rows)
      report(token, "unknown function '" + token.text + "'",
             suggest_row_function(token.text, function_names()));
    else
      report_unknown_function(token);
    return std::nullopt;
  }
  if (row != nullptr && arguments.size() != row->arity) {
    const bool of_two = arguments.size() == 2;
    report(token,
           "'" + token.text + "' takes " + plural(row->arity, "argument") + ", got " +
               std::to_string(arguments.size()),
           of_two && row->op == Op::kRowMax   ? "maximum(x, y)"
           : of_two && row->op == Op::kRowMin ? "minimum(x, y)"
                                              : "");
    return std::nullopt;
  }
  std::vector<NodeId> nodes;
  for (const Value& argument : arguments) {
    if (!argument) return std::nullopt;
    nodes.push_back(*argument);
  }
  if (row == nullptr) {
    if (!fits(found, token)) return std::nullopt;
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
  return row->op == Op::kBitwiseNot ? bitwise_not(nodes[0]) : graph_.call(row->op, nodes);
}

GraphBuilder::Value GraphBuilder::absent(const Formula& tree) {
  const Formula& left = tree.children[0];
  if (left.kind != FormulaKind::kName || !is_optional(left.text)) {
    if (is_no_value({TokenKind::kName, left.text, left.offset})) return std::nullopt;
    const Token token{TokenKind::kPunctuation, "??", tree.operation_offset};
    report(token, "what stands before ?? must be an argument that may be absent");
    return std::nullopt;
  }
  if (vocabulary_.optionals == nullptr) return optional(tree, left.text);
  const Value otherwise = lower(tree.children[1]);
  const bool given = vocabulary_.optionals->given.contains(left.text);
  return given ? Value(names_.at(left.text)) : otherwise;
}

GraphBuilder::Value GraphBuilder::optional(const Formula& tree, const std::string& name) {
  const Token place{TokenKind::kPunctuation, "?", tree.operation_offset + 1};
  const Value value = lower(tree.children[1]);
  if (!value) return std::nullopt;
  const Node& node = graph_[*value];
  const NodeId operand = names_.at(name);
  const bool tensor = graph_[operand].kind == NodeKind::kTensor;
  if (node.kind != NodeKind::kConstant || (tensor && node.value_kind == ValueKind::kMask)) {
    report(place,
           "what stands for an absent " + std::string(tensor ? "tensor" : "argument") +
               " must be a number",
           name + " ?? 1");
    return std::nullopt;
  }
  const auto [before, inserted] = vocabulary_.absent->defaults.try_emplace(name, node.number);
  if (before->second != node.number) {
    report(place, "another number already stands for '" + name + "' where it is absent");
  }
  return operand;
}

GraphBuilder::Value GraphBuilder::draw(const Token& token, std::size_t num_arguments) {
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

bool GraphBuilder::check_row_arguments(Op op, const Token& token,
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
  if (position.is_call(Op::kRowArgmax) || position.is_call(Op::kRowArgmin)) return true;
  report(token,
         position.floating ? "'pick' needs an integer position, got a floating value"
                           : "'pick' needs a position for each row: an argument named in "
                             "`rows`, argmax(x) or argmin(x)",
         position.kind == NodeKind::kTensor ? "rows: " + position.name : "");
  return false;
}

void GraphBuilder::report_unknown_function(const Token& token) {
  const std::string why = why_no_function(token.text);
  static const Functions none;
  for (const Function& one : vocabulary_.shared != nullptr ? *vocabulary_.shared : none) {
    if (one.name != token.text || !why.empty()) continue;
    report(token, "'" + token.text + "' " + one.why_opaque);
    errors_->back().elsewhere = one.why_opaque.empty();
    return;
  }
  report(token, "unknown function '" + token.text + "'" + why,
         suggest_function(token.text, function_names()));
}

bool GraphBuilder::is_function(const std::string& name) const {
  return find_intrinsic(name) != nullptr || !functions(name).empty() ||
         (vocabulary_.rows && find_row_intrinsic(name) != nullptr);
}

std::vector<const Function*> GraphBuilder::functions(const std::string& name) const {
  std::vector<const Function*> found;
  for (const Functions* list : {vocabulary_.own, vocabulary_.shared, &rule_functions()}) {
    if (list == nullptr) continue;
    for (const Function& one : *list) {
      if (one.name == name && !one.opaque) found.push_back(&one);
    }
    // What is no operator has no overloads, and hides what is called the same behind it.
    if (!found.empty() && found[0]->op.empty()) return {found[0]};
  }
  return found;
}

const Function* GraphBuilder::choose(const std::vector<const Function*>& found, const Token& token,
                                     const std::vector<NodeId>& arguments) {
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

GraphBuilder::Value GraphBuilder::expand(const Function& function, const Token& token,
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
    // It is said once: of the first in the circle, where that is defined.
    const bool here =
        again == expanding_.begin() && label <= *std::min_element(again, expanding_.end());
    report(token, "'" + token.text + "' is computed by itself: " + cycle);
    errors_->back().elsewhere = !here;
    return std::nullopt;
  }
  // Those that every row has are reductions; what they are made of is no matter.
  static const Functions none;
  const Functions& own = vocabulary_.own != nullptr ? *vocabulary_.own : none;
  const bool of_rows =
      std::any_of(own.begin(), own.end(), [&](const Function& one) { return &one == &function; });
  if (of_rows && !check_row_arguments(Op::kRowSum, token, arguments)) return std::nullopt;
  const std::string* body = function.body_for(vocabulary_.category);
  if (body == nullptr) {
    report(token, "'" + token.text + "' has no expression for " + vocabulary_.category + " dtypes");
    return std::nullopt;
  }
  std::vector<ExprError> inner;
  for (std::size_t i = arguments.size(); i < function.parameters.size(); ++i) {
    const std::size_t from_end = function.parameters.size() - i;
    const std::string& literal = function.defaults[function.defaults.size() - from_end];
    const Value value = GraphBuilder(graph_, {}, {}).add(literal, inner);
    if (!value) return std::nullopt;
    arguments.push_back(*value);
  }
  Names names;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    NodeId argument = arguments[i];
    const bool is_float = i < function.floats.size() && function.floats[i];
    if (is_float && graph_[argument].domain == Domain::kScalar && !graph_[argument].floating)
      argument = graph_.call(Op::kMul, {argument, graph_.constant(1, false)});
    names[function.parameters[i]] = argument;
  }
  // Its names are its own: rows' operands that may be absent are values by now.
  Vocabulary vocabulary = vocabulary_;
  vocabulary.absent = nullptr;
  vocabulary.optionals = nullptr;
  vocabulary.no_values = nullptr;
  vocabulary.inlined = true;
  const std::size_t drawn = vocabulary.draws ? vocabulary.draws->size() : 0;
  const Value value =
      GraphBuilder(graph_, std::move(names), std::move(vocabulary), std::move(expanding))
          .add(*body, inner);
  for (const ExprError& error : inner) {
    report(token, "in '" + function.name + "': " + error.message, error.suggestion);
    // Another library is not checked with this one.
    errors_->back().elsewhere = error.elsewhere && !function.of_base;
  }
  for (std::size_t i = drawn; vocabulary_.draws && i < vocabulary_.draws->size(); ++i) {
    (*vocabulary_.draws)[i].offset = token.offset;
    (*vocabulary_.draws)[i].length = token.text.size();
  }
  return value;
}

bool GraphBuilder::fits(const std::vector<const Function*>& found, const Token& token) {
  if (vocabulary_.inlined) return true;
  std::size_t depth = 0, inlined = 0, size = 0;
  for (const Function* one : found) {
    depth = std::max(depth, one->depth);
    inlined = std::max(inlined, one->inlined);
    size = std::max(size, one->size);
  }
  inlined_ += size;
  const bool deep = depth >= kMaxInlinedDepth;
  if (!deep && inlined_ <= kMaxInlinedSize) return true;
  report(token, deep ? "'" + token.text + "' is nested too deeply: it calls " +
                           std::to_string(kMaxInlinedDepth - 1) + " functions, one inside the other"
                     : "the expression becomes too large by inlining '" + token.text + "'");
  errors_->back().elsewhere =
      (depth > kMaxInlinedDepth || inlined > kMaxInlinedSize) && !found[0]->of_base;
  inlined_ = 0;
  return false;
}

std::vector<std::string> GraphBuilder::function_names() const {
  std::vector<std::string> names = intrinsic_names();
  for (const Functions* list : {&rule_functions(), vocabulary_.shared, vocabulary_.own}) {
    if (list == nullptr) continue;
    for (const Function& one : *list) {
      if (!one.opaque) append_new(names, one.name);
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
