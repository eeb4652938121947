#include "codegen/load/fused_part.h"

#include <algorithm>
#include <cctype>

#include "codegen/expr/formulas/formula_names.h"
#include "codegen/expr/formulas/tensor_methods.h"
#include "codegen/expr/graph/constants.h"
#include "codegen/expr/graph/differentiate.h"
#include "codegen/expr/graph/infer.h"
#include "codegen/expr/graph/parse.h"
#include "codegen/expr/rows/differentiate_rows.h"
#include "codegen/load/composition_trees.h"
#include "codegen/meaning/expression.h"
#include "codegen/meaning/operands.h"
#include "codegen/meaning/row_expression.h"
#include "codegen/schema/parser.h"
#include "codegen/schema/printer.h"

namespace tenon::codegen::detail {

namespace {

using expr::Formula;
using expr::FormulaKind;
using schema::Argument;
using schema::BaseType;

/// Operators that reduce, and the function of rows that each is.
constexpr std::pair<std::string_view, std::string_view> kReductions[] = {
    {"sum", "sum"}, {"mean", "mean"}, {"amax", "max"},           {"amin", "min"},
    {"max", "max"}, {"min", "min"},   {"logsumexp", "logsumexp"}};

/// Row operators that an operator is, beside those of its name with `_` before it.
constexpr std::pair<std::string_view, std::string_view> kRowOperators[] = {
    {"layer_norm", "native_layer_norm"}};

std::string unqualified(const std::string& name, const std::string& ns) {
  for (const std::string& prefix : {std::string("tenon::"), ns + "::"}) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return name;
}

bool is_plain(const std::string& text) {
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.'; });
}

/// Names of generated kernels, which no argument has.
constexpr std::string_view kOfKernels[] = {"V", "s", "Row", "T", "Traversal"};

bool gives_one_tensor(const std::vector<const Operator*>& overloads) {
  return !overloads.empty() &&
         std::all_of(overloads.begin(), overloads.end(), [](const Operator* op) {
           return op->schema.returns.size() == 1 && op->schema.returns[0].type.is_tensor();
         });
}

/// As split() and chunk().
bool gives_list(const std::vector<const Operator*>& overloads) {
  return !overloads.empty() &&
         std::all_of(overloads.begin(), overloads.end(), [](const Operator* op) {
           return op->schema.returns.size() == 1 && op->schema.returns[0].type.is_tensor_list();
         });
}

}  // namespace

OperatorIndex::OperatorIndex(const std::vector<Operator>& own, const std::vector<Operator>& base) {
  for (const std::vector<Operator>* list : {&own, &base}) {
    for (const Operator& op : *list) {
      by_name_[(op.schema.ns.empty() ? "" : op.schema.ns + "::") + op.schema.name].push_back(&op);
      if (list == &own) own_.insert(&op);
    }
  }
}

const std::vector<const Operator*>& OperatorIndex::find(const std::string& name,
                                                        const std::string& ns) const {
  static const std::vector<const Operator*> none;
  const std::string base = unqualified(name, ns);
  for (const std::string& full : {ns + "::" + base, base}) {
    if (const auto found = by_name_.find(full); found != by_name_.end()) return found->second;
  }
  return none;
}

// ---- types

std::string FusedPart::type_of(const Formula& tree) const {
  const auto type_of_schema = [](const schema::Type& type) -> std::string {
    if (type.is_tensor()) return "T";
    if (type.is_list() || type.is_optional()) return "";
    if (type.is(BaseType::kInt) || type.is(BaseType::kSymInt)) return "int";
    if (type.is(BaseType::kFloat)) return "float";
    if (type.is(BaseType::kBool)) return "bool";
    return type.is(BaseType::kScalar) ? "Scalar" : "";
  };
  const auto child = [&](size_t i) { return type_of(tree.children[i]); };
  switch (tree.kind) {
  case FormulaKind::kName: {
    if (!scopes_.empty()) {
      const auto found = scopes_.back().find(tree.text);
      if (found != scopes_.back().end()) return found->second.kind == Kind::kNumber ? "float" : "T";
      return literal(tree) ? "float" : "";
    }
    if (const Argument* argument = op_.schema.find_arg(tree.text))
      return type_of_schema(argument->type);
    if (fusible_.contains(tree.text)) return "T";
    if (const auto found = kept_.find(tree.text); found != kept_.end()) return found->second;
    return literal(tree) ? "float" : "";
  }
  case FormulaKind::kLiteral:
    if (tree.text == "true" || tree.text == "false") return "bool";
    if (!literal(tree)) return "";
    return tree.text.find_first_of(".eE") == std::string::npos ? "int" : "float";
  case FormulaKind::kParentheses: return child(0);
  case FormulaKind::kUnary: return child(0) == "T" || tree.operation != "!" ? child(0) : "bool";
  case FormulaKind::kBinary: {
    if (tree.operation == "??") {
      const Argument* argument =
          scopes_.empty() ? op_.schema.find_arg(tree.children[0].text) : nullptr;
      return argument ? type_of_schema(argument->type.without_optional()) : "";
    }
    const std::string a = child(0), b = child(1);
    if (a.empty() || b.empty()) return "";
    if (a == "T" || b == "T") return "T";
    if (tree.operation == "&&" || tree.operation == "||" || tree.operation == "==" ||
        tree.operation == "!=" || tree.operation[0] == '<' || tree.operation[0] == '>')
      return "bool";
    if (a == "Scalar" || b == "Scalar") return "";
    return a == "int" && b == "int" && tree.operation != "/" ? "int" : "float";
  }
  case FormulaKind::kIndex: {
    const Formula& whole = tree.children[0];
    const bool called =
        whole.kind == FormulaKind::kCall && whole.children[0].kind == FormulaKind::kName;
    if (called) return gives_list(index_.find(whole.children[0].text, op_.schema.ns)) ? "T" : "";
    const Argument* list = scopes_.empty() ? op_.schema.find_arg(whole.text) : nullptr;
    return list != nullptr && list->type.is_tensor_list() ? "T" : "";
  }
  case FormulaKind::kTernary: return child(1) == child(2) ? child(1) : "";
  case FormulaKind::kCall: {
    const Formula& callee = tree.children[0];
    if (callee.kind == FormulaKind::kMember) {
      const expr::TensorMethod* method = expr::find_tensor_method(callee.text);
      if (method == nullptr)
        return gives_one_tensor(index_.find(callee.text, op_.schema.ns)) ? "T" : "";
      const bool number = method->type == "int" || method->type == "bool";
      return number ? std::string(method->type) : method->type == "Tensor" ? "T" : "";
    }
    if (callee.kind != FormulaKind::kName) return "";
    if (callee.text == "Scalar") return "Scalar";
    if (callee.text.starts_with("std::get<")) return "T";
    if (callee.text.starts_with("std::")) return "float";
    return gives_one_tensor(index_.find(callee.text, op_.schema.ns)) ? "T" : "";
  }
  default: return "";
  }
}

// ---- operands and names

size_t FusedPart::add_operand(FusedOperand operand) {
  const bool pure = operand.tree == nullptr || operand.type != "Tensor";
  for (size_t i = 0; pure && i < state_.operands.size(); ++i) {
    const FusedOperand& other = state_.operands[i];
    const bool guards = operand.role == Role::kSizes || operand.role == Role::kDims;
    if (other.value == operand.value && other.type == operand.type &&
        (!guards || other.role == operand.role))
      return i;
  }
  operand.name = unique(operand.name, operand.tree == nullptr);
  state_.operands.push_back(std::move(operand));
  return state_.operands.size() - 1;
}

bool FusedPart::is_taken(const std::string& name) const {
  const auto same = [&](const auto& one) { return one.name == name; };
  return std::any_of(state_.operands.begin(), state_.operands.end(), same) ||
         std::any_of(state_.locals.begin(), state_.locals.end(), same) ||
         is_function_of_expressions(name) || expr::find_named_constant(name) != nullptr ||
         std::find(std::begin(kOfKernels), std::end(kOfKernels), name) != std::end(kOfKernels);
}

std::string FusedPart::unique(const std::string& name, bool is_argument) const {
  // Other arguments may become operands later.
  const auto is_free = [&](const std::string& one) {
    const bool other = !is_argument || one != name;
    return !is_taken(one) && !(other && op_.schema.find_arg(one) != nullptr);
  };
  std::string free = name;
  for (int i = 1; !is_free(free); ++i) free = name + std::to_string(i);
  return free;
}

std::string FusedPart::bind(const std::string& name, const std::string& text) {
  if (is_plain(text)) return text;
  // Results of the kernel are result0, result1, ...
  const std::string free = unique(name.starts_with("result") ? "y" : name, false);
  Local local = {free, text, {}};
  for (const expr::NameUse& use : expr::free_names(expr::parse_formula(text).formula))
    local.uses.insert(use.name);
  state_.locals.push_back(std::move(local));
  return free;
}

bool FusedPart::use(Value& value, Role role) {
  if (!value.leaf) return role == Role::kElement ? true : value.kind == Kind::kCondition;
  std::optional<Role>& known = state_.operands[*value.leaf].role;
  const bool is_row = role == Role::kRow || role == Role::kPosition;
  if (known && known != role) return false;
  if (!known && value.domain == Domain::kKept && !is_row) return false;
  known = role;
  if (role == Role::kCondition) value.kind = Kind::kCondition;
  if (is_row && value.domain == Domain::kElement) value.domain = Domain::kDropped;
  if (is_row || role == Role::kColumn) value.direct.clear();
  value.of_columns = role == Role::kColumn;
  return true;
}

void FusedPart::count(const std::vector<Value>& read, const Value& made) {
  ++state_.num_operators;
  for (const Value& one : read)
    state_.unfused_traffic +=
        one.kind != Kind::kNumber && one.domain == Domain::kElement && !one.of_columns;
  state_.unfused_traffic += made.domain == Domain::kElement;
}

FusedPart::MaybeValue FusedPart::combined(std::vector<Value>& values, std::string text, Kind kind) {
  const auto is_free = [&](const Value& one) {
    return one.leaf && !state_.operands[*one.leaf].role;
  };
  const bool one_row = state_.over == "all";
  bool any_dropped = false;
  for (const Value& one : values)
    any_dropped |= one.kind != Kind::kNumber && one.domain == Domain::kDropped && !one_row;
  Value result = {"", kind, any_dropped ? Domain::kDropped : Domain::kKept, {}, {}, false};
  bool all_columns = true;
  for (Value& one : values) {
    if (one.kind == Kind::kNumber) continue;
    if (is_free(one) && one.domain == Domain::kKept && !use(one, Role::kRow)) return std::nullopt;
    if (is_free(one) && !use(one, any_dropped ? Role::kRow : Role::kElement)) return std::nullopt;
    if (any_dropped && one.domain != Domain::kDropped) return std::nullopt;
    if (one.domain == Domain::kElement) result.domain = Domain::kElement;
    result.direct.insert(one.direct.begin(), one.direct.end());
    all_columns &= one.of_columns;
  }
  result.of_columns = all_columns;
  if (one_row && result.domain == Domain::kKept) result.domain = Domain::kDropped;
  for (size_t i = values.size(); i-- > 0;) {
    const std::string key = "$" + std::to_string(i);
    const size_t at = text.find(key);
    text.replace(at, key.size(), values[i].text);
  }
  result.text = std::move(text);
  count(values, result);
  return result;
}

// ---- trees

FusedPart::MaybeValue FusedPart::value(const Formula& tree) {
  const std::string type = type_of(tree);
  if (!type.empty() && type != "T") return number(tree);
  const State before = state_;
  if (MaybeValue made = translate(tree)) return made;
  state_ = before;
  return operand(tree);
}

bool FusedPart::add_result(const Formula& tree) {
  MaybeValue made = translate(tree);
  if (!made || made->leaf || made->kind == Kind::kNumber) return false;
  results_.push_back(std::move(*made));
  return true;
}

FusedPart::MaybeValue FusedPart::translate(const Formula& tree) {
  switch (tree.kind) {
  case FormulaKind::kName: return name(tree);
  case FormulaKind::kParentheses: return translate(tree.children[0]);
  case FormulaKind::kUnary: return unary(tree);
  case FormulaKind::kBinary: return tree.operation == "??" ? optional_column(tree) : binary(tree);
  case FormulaKind::kCall: return call(tree);
  default: return std::nullopt;
  }
}

FusedPart::MaybeValue FusedPart::name(const Formula& tree) {
  if (!scopes_.empty()) {
    const auto found = scopes_.back().find(tree.text);
    return found == scopes_.back().end() ? std::nullopt : MaybeValue(found->second);
  }
  const auto local = fusible_.find(tree.text);
  if (local == fusible_.end()) return operand(tree);
  state_.used_locals.insert(tree.text);
  if (const auto known = state_.known.find(tree.text); known != state_.known.end())
    return known->second;
  MaybeValue made = translate(*local->second);
  if (!made) return std::nullopt;
  made->text = bind(tree.text, made->text);
  state_.known.insert({tree.text, *made});
  return made;
}

FusedPart::MaybeValue FusedPart::number(const Formula& tree, bool for_guard) {
  if (!scopes_.empty() && inner(tree).kind == FormulaKind::kName && !for_guard) {
    const auto found = scopes_.back().find(inner(tree).text);
    if (found != scopes_.back().end()) return found->second;
  }
  const bool shadowed =
      inner(tree).kind == FormulaKind::kName && op_.schema.find_arg(inner(tree).text) != nullptr;
  if (const auto text = literal(tree); text && !shadowed && !for_guard)
    return Value{*text, Kind::kNumber};
  const std::string type = type_of(tree);
  if (type.empty() || type == "T" || !scopes_.empty()) return std::nullopt;
  const bool named = inner(tree).kind == FormulaKind::kName;
  const size_t index =
      add_operand({named ? inner(tree).text : "n", type, expr::print_formula(tree),
                   named ? nullptr : &tree, for_guard ? Role::kSizes : Role::kNumber});
  Value made = {state_.operands[index].name, Kind::kNumber};
  made.leaf = index;
  return made;
}

FusedPart::MaybeValue FusedPart::operand(const Formula& tree) {
  if (!scopes_.empty() || type_of(tree) != "T") return std::nullopt;
  const Formula& root = inner(tree);
  const bool outside = root.kind == FormulaKind::kName && !fusible_.contains(root.text);
  const size_t index = add_operand(
      {outside ? root.text : "x", "Tensor", expr::print_formula(root), outside ? nullptr : &root});
  Value made = {state_.operands[index].name, Kind::kTensor, Domain::kElement, {index}, index};
  const Composition& composition = *op_.composition();
  const bool column = outside && holds_name(composition.columns, root.text);
  if (column && !use(made, Role::kColumn)) return std::nullopt;
  const std::optional<Role>& role = state_.operands[index].role;
  if (role == Role::kCondition) made.kind = Kind::kCondition;
  made.of_columns = role == Role::kColumn;
  const bool is_row = role == Role::kRow || role == Role::kPosition;
  if (is_row) made.domain = Domain::kDropped;
  if (is_row || made.of_columns) made.direct.clear();
  return made;
}

FusedPart::MaybeValue FusedPart::optional_column(const Formula& tree) {
  const Formula& name = inner(tree.children[0]);
  const auto text = literal(tree.children[1]);
  if (!scopes_.empty() || name.kind != FormulaKind::kName || !text) return std::nullopt;
  const Argument* argument = op_.schema.find_arg(name.text);
  if (argument == nullptr || !argument->type.is_optional_tensor() ||
      !holds_name(op_.composition()->columns, name.text))
    return std::nullopt;
  const size_t index = add_operand({name.text, "Tensor?", name.text, nullptr, Role::kColumn});
  Value made = {"(" + state_.operands[index].name + " ?? " + *text + ")"};
  made.of_columns = true;
  return made;
}

FusedPart::MaybeValue FusedPart::unary(const Formula& tree) {
  MaybeValue a = value(tree.children[0]);
  if (!a || a->kind == Kind::kNumber || tree.operation == "+") return std::nullopt;
  std::vector<Value> values = {*a};
  if (tree.operation == "-") return pointwise("(-$0)", std::move(values));
  if (tree.operation != "!" && tree.operation != "~") return std::nullopt;
  if (!use(values[0], Role::kCondition)) return std::nullopt;
  return combined(values, "(!$0)", Kind::kCondition);
}

FusedPart::MaybeValue FusedPart::binary(const Formula& tree) {
  MaybeValue a = value(tree.children[0]);
  MaybeValue b = a ? value(tree.children[1]) : std::nullopt;
  if (!a || !b) return std::nullopt;
  std::vector<Value> values = {*a, *b};
  const std::string& operation = tree.operation;
  const bool logic = operation == "&" || operation == "|" || operation == "^";
  if (!logic) return pointwise("($0 " + operation + " $1)", std::move(values));
  if (!use(values[0], Role::kCondition) || !use(values[1], Role::kCondition)) return std::nullopt;
  const std::string sign = operation == "^" ? "^" : operation + operation;
  return combined(values, "($0 " + sign + " $1)", Kind::kCondition);
}

FusedPart::MaybeValue FusedPart::call(const Formula& tree) {
  const Formula& callee = tree.children[0];
  Arguments arguments;
  std::string function = callee.text;
  if (callee.kind == FormulaKind::kMember) arguments.push_back(&callee.children[0]);
  if (callee.kind != FormulaKind::kMember && callee.kind != FormulaKind::kName) return std::nullopt;
  for (size_t i = 1; i < tree.children.size(); ++i) arguments.push_back(&tree.children[i]);
  constexpr std::string_view kGet = "std::get<";
  if (function.starts_with(kGet) && arguments.size() == 1) {
    const Formula& of = inner(*arguments[0]);
    if (of.kind != FormulaKind::kCall || of.children[0].kind != FormulaKind::kName)
      return std::nullopt;
    Arguments inside;
    for (size_t i = 1; i < of.children.size(); ++i) inside.push_back(&of.children[i]);
    return call_of(of.children[0].text, inside, static_cast<size_t>(function[kGet.size()] - '0'));
  }
  const bool method_order = callee.kind == FormulaKind::kMember && function == "where";
  if (method_order && arguments.size() == 3) std::swap(arguments[0], arguments[1]);
  return call_of(function, arguments, 0);
}

FusedPart::MaybeValue FusedPart::call_of(const std::string& called, const Arguments& arguments,
                                         size_t result) {
  const std::string& ns = op_.schema.ns;
  const std::vector<const Operator*>& overloads = index_.find(called, ns);
  if (overloads.empty() || arguments.empty()) return std::nullopt;
  const std::string function = unqualified(called, ns);
  const bool own = index_.is_own(*overloads[0]);
  for (const auto& [name, meaning] : kReductions) {
    if (!own && function == name) return reduction(std::string(meaning), arguments);
  }
  if (!own && function == "gather") return pick(arguments);
  if (!own && (function == "squeeze" || function == "unsqueeze"))
    return squeezed(function, arguments);
  if (!own && function == "detach") {
    MaybeValue x = value(*arguments[0]);
    if (!x || x->leaf || state_.over.empty()) return std::nullopt;
    x->text = "detach(" + x->text + ")";
    return x;
  }
  std::string row_name = "_" + function;
  for (const auto& [name, row] : kRowOperators) {
    if (!own && function == name) row_name = row;
  }
  for (const Operator* one : overloads) {
    if (one->schema.args.size() < arguments.size()) continue;
    if (one->as<Rowwise>()) return row_operator(*one, *one, arguments, result);
    for (const Operator* row : index_.find(row_name, ns)) {
      if (!own && row->as<Rowwise>()) return row_operator(*one, *row, arguments, result);
    }
    if (own && one->is<Composition>()) return composition(*one, arguments);
  }
  // The function of one choice, as `_gelu_tanh`.
  std::string chosen = function;
  std::vector<Value> values;
  std::string text;
  for (const Formula* argument : arguments) {
    const Formula& tree = inner(*argument);
    if (tree.kind == FormulaKind::kLiteral && tree.text[0] == '"') {
      const std::string word = tree.text.substr(1, tree.text.size() - 2);
      chosen += word == "none" ? "" : "_" + word;
      if (word != "none" && chosen[0] != '_') chosen = "_" + chosen;
      continue;
    }
    MaybeValue one = value(*argument);
    if (!one) return std::nullopt;
    text += (text.empty() ? "$" : ", $") + std::to_string(values.size());
    values.push_back(std::move(*one));
  }
  const auto fits = [&](const Operator& one) {
    for (size_t i = 0; i < values.size() && i < one.schema.args.size(); ++i) {
      if (one.schema.args[i].type.is_tensor() == (values[i].kind == Kind::kNumber)) return false;
    }
    return true;
  };
  for (const Operator* one : overloads) {
    if (one->check && fits(*one) && (own || !is_check_of_dtypes(*one))) return std::nullopt;
  }
  return pointwise(chosen + "(" + text + ")", std::move(values));
}

FusedPart::MaybeValue FusedPart::pointwise(const std::string& text, std::vector<Value> values) {
  // What the call means for elements of floating dtype, and which arguments are conditions.
  std::vector<expr::Parameter> parameters;
  std::string probe = text;
  for (size_t i = values.size(); i-- > 0;) {
    const bool number = values[i].kind == Kind::kNumber;
    const bool fixed = number && !is_taken(values[i].text);
    const std::string parameter = "p" + std::to_string(i);
    if (!fixed) parameters.push_back({parameter, !number, !number, false, number});
    probe.replace(probe.find("$" + std::to_string(i)), 2, fixed ? values[i].text : parameter);
  }
  const expr::ParseResult parsed =
      expr::parse_expressions({probe}, parameters, functions_, "floating");
  if (!parsed.ok() || !parsed.expression.draws.empty()) return std::nullopt;
  const expr::Graph& graph = parsed.expression.graph;
  const expr::NodeId root = parsed.expression.outputs[0];
  const expr::TypeInfo info = expr::infer_types(graph, root);
  const bool any_tensor = std::any_of(values.begin(), values.end(),
                                      [](const Value& one) { return one.kind == Kind::kTensor; });
  if (!any_tensor) return std::nullopt;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].kind == Kind::kNumber) continue;
    const std::string parameter = "p" + std::to_string(i);
    const auto holds = [&](const std::vector<std::string>& names) {
      return std::find(names.begin(), names.end(), parameter) != names.end();
    };
    // An operand that the expression does not read may still decide the shape.
    if (!holds(info.tensors)) return std::nullopt;
    if (!holds(info.compute_tensors) && !use(values[i], Role::kCondition)) return std::nullopt;
  }
  const bool condition = graph[root].value_kind == expr::ValueKind::kMask;
  return combined(values, text, condition ? Kind::kCondition : Kind::kTensor);
}

// ---- the kernel

bool FusedPart::choose_full() {
  std::vector<Leaves> groups = state_.broadcasts;
  for (const Value& one : results_) {
    const bool only = results_.size() == 1 && state_.over.empty();
    if (one.domain == Domain::kElement && !only) groups.push_back(one.direct);
  }
  const auto holds_full = [&](const Leaves& group) {
    return std::any_of(group.begin(), group.end(),
                       [&](size_t i) { return state_.operands[i].role == Role::kFull; });
  };
  for (const Leaves& group : groups) {
    if (holds_full(group)) continue;
    std::optional<size_t> best;
    ptrdiff_t most = 0;
    for (const size_t i : group) {
      if (state_.operands[i].role != Role::kElement) continue;
      const ptrdiff_t in = std::count_if(groups.begin(), groups.end(),
                                         [&](const Leaves& one) { return one.contains(i); });
      if (in > most) best = i;
      most = std::max(most, in);
    }
    if (!best) return false;
    state_.operands[*best].role = Role::kFull;
  }
  return true;
}

std::string FusedPart::text_of(const Value& result) const {
  std::set<std::string> needed;
  for (const expr::NameUse& use : expr::free_names(expr::parse_formula(result.text).formula))
    needed.insert(use.name);
  std::string text = result.text;
  for (auto local = state_.locals.rbegin(); local != state_.locals.rend(); ++local) {
    if (!needed.contains(local->name)) continue;
    needed.insert(local->uses.begin(), local->uses.end());
    text = local->name + " = " + local->text + "; " + text;
  }
  return text;
}

bool FusedPart::can_differentiate(const Operator& kernel) const {
  if (kernel.as<Rowwise>()) {
    DiagnosticSink none;
    std::optional<RowExpression> row = parse_rowwise(kernel, none);
    const std::vector<bool> all(kernel.schema.returns.size(), true);
    return row && expr::differentiate_rows(row->expression, all).errors.empty();
  }
  expr::ParseResult parsed =
      parse_cases(kernel, pointwise_cases_for(kernel, "floating"), "floating");
  const expr::Expression& expression = parsed.expression;
  return parsed.ok() && expr::why_not(expression.graph, expression.outputs, "floating").empty() &&
         expr::differentiate(parsed.expression).errors.empty();
}

std::vector<FusedPart::Value> FusedPart::kernel_results() const {
  std::vector<Value> all = results_;
  const auto other = [&](const Value& one) { return one.domain != state_.saved[0].domain; };
  const bool agree = std::none_of(state_.saved.begin(), state_.saved.end(), other);
  if (agree && all.size() == 1 && all[0].domain == Domain::kElement)
    all.insert(all.end(), state_.saved.begin(), state_.saved.end());
  return all;
}

std::optional<Operator> FusedPart::kernel(const std::string& name) {
  const std::vector<Value> results = kernel_results();
  const auto has = [&](Role role) {
    return std::any_of(state_.operands.begin(), state_.operands.end(),
                       [&](const FusedOperand& one) { return one.role == role; });
  };
  if (state_.over.empty() && has(Role::kColumn)) state_.over = "-1";
  const bool columns_fit = state_.over[0] == '-' || has(Role::kDims);
  if (has(Role::kColumn) && !columns_fit) return std::nullopt;
  bool keepdim = false, dropped = false, condition = false;
  for (const Value& one : results) {
    keepdim |= one.domain == Domain::kKept;
    dropped |= one.domain == Domain::kDropped;
    condition |= one.kind == Kind::kCondition;
  }
  if ((keepdim && dropped) || !choose_full()) return std::nullopt;
  Operator made;
  Rowwise rows;
  rows.over = SourceString{state_.over, op_.location, {}};
  rows.location = op_.composition()->text.location;
  rows.keepdim = keepdim;
  std::string arguments;
  for (FusedOperand& one : state_.operands) {
    if (!one.role) one.role = Role::kElement;
    if (one.role == Role::kSizes) continue;
    arguments += (arguments.empty() ? "" : ", ") + one.type + " " + one.name;
    const LocatedName located = {one.name, op_.location};
    if (one.role == Role::kColumn) rows.columns.push_back(located);
    if (one.role == Role::kRow || one.role == Role::kPosition) rows.rows.push_back(located);
  }
  const bool several = results.size() > 1;
  std::string returns = "Tensor";
  for (size_t i = 1; i < results.size(); ++i) returns += ", Tensor";
  const std::string text =
      name + "(" + arguments + ") -> " + (several ? "(" + returns + ")" : returns);
  schema::ParseResult parsed = schema::parse_schema(text);
  if (!parsed.ok()) return std::nullopt;
  made.schema = std::move(*parsed.schema);
  made.schema_text = {text, op_.location, {}};
  made.location = made.variants_location = op_.location;
  made.functions = op_.functions;
  made.fused_dtypes = dtypes_;
  made.has_methods = op_.has_methods;
  made.variants.function = true;
  const auto add_key = [&](const char* key) { made.keys.push_back({key, op_.location}); };
  for (const char* key : {"func", "variants"}) add_key(key);
  if (state_.over.empty()) {
    add_key("pointwise");
    // All of them have the operands' dtype, which is floating.
    if (several && condition) return std::nullopt;
    if (several) made.promotion = Promotion::kFloat;
    if (several) add_key("promote");
    Pointwise spec;
    spec.location = rows.location;
    for (size_t i = 0; i < results.size(); ++i) {
      const std::string output = several ? made.schema.return_name(i) : "";
      spec.cases.push_back({output, "floating", "", {text_of(results[i]), rows.location, {}}});
    }
    made.computation = std::move(spec);
  } else {
    for (const char* key : {"rowwise", "over"}) add_key(key);
    for (size_t i = 0; i < results.size(); ++i) {
      const std::string output = several ? made.schema.return_name(i) : "";
      rows.parts.push_back({{output, rows.location}, {text_of(results[i]), rows.location, {}}});
    }
    made.computation = std::move(rows);
  }
  return can_differentiate(made) ? std::optional(std::move(made)) : std::nullopt;
}

std::string FusedPart::guard(std::string FusedOperand::*text) const {
  constexpr const char* kRoles[] = {"",        "kElement", "kFull",    "kCondition",
                                    "kColumn", "kRow",     "kPosition"};
  std::string tensors, more, full, dims, element;
  for (const FusedOperand& one : state_.operands) {
    if (one.type == "Scalar") more += " && !" + one.*text + ".is_complex()";
    if (one.role == Role::kFull && full.empty()) full = one.*text;
    if (one.role == Role::kDims && one.name == state_.over) {
      const bool sizes = one.type == "SymInt[]";
      if (sizes) more += " && tenon::native::ends_in(" + full + ", " + one.*text + ")";
      dims = sizes               ? "tenon::native::last_dims(" + one.*text + ")"
             : one.type == "int" ? "tenon::IntArrayRef({" + one.*text + "})"
                                 : one.*text;
    }
    if (!one.type.starts_with("Tensor")) continue;
    const bool is_element = one.role == Role::kElement || one.role == Role::kFull;
    if (is_element && element.empty()) element = one.*text;
    tensors += (tensors.empty() ? "{" : ", {") + one.*text +
               ", tenon::native::FusedRole::" + kRoles[static_cast<size_t>(*one.role)] + "}";
  }
  for (const std::vector<size_t>& sizes : state_.sizes) {
    std::string list;
    for (const size_t size : sizes)
      list += (list.empty() ? "" : ", ") + state_.operands[size].*text;
    more += " && tenon::native::ends_in(" + full + ", tenon::IntArrayRef({" + list + "}))";
  }
  std::string dtypes;
  for (const std::string& dtype : dtypes_)
    dtypes += (dtypes.empty() ? "" : " || ") + element + ".scalar_type() == tenon::k" + dtype;
  if (!dtypes.empty()) more += " && (" + dtypes + ")";
  if (state_.over == "all") dims = "std::nullopt";
  if (dims.empty() && !state_.over.empty()) dims = "tenon::IntArrayRef({" + state_.over + "})";
  return "tenon::native::can_fuse({" + tensors + "}" + (dims.empty() ? "" : ", " + dims) + ")" +
         more;
}

size_t FusedPart::fused_traffic() const {
  size_t traffic = 0;
  for (const FusedOperand& one : state_.operands)
    traffic +=
        one.role == Role::kElement || one.role == Role::kFull || one.role == Role::kCondition;
  for (const Value& one : results_) traffic += one.domain == Domain::kElement;
  return traffic;
}

}  // namespace tenon::codegen::detail
