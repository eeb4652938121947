// Reductions and row operators in fused parts.

#include <algorithm>

#include "codegen/load/composition_trees.h"
#include "codegen/load/fused_part.h"
#include "codegen/load/loaders.h"
#include "codegen/meaning/operands.h"
#include "codegen/meaning/row_expression.h"
#include "codegen/schema/printer.h"

namespace tenon::codegen::detail {

using expr::Formula;
using expr::FormulaKind;
using schema::Argument;
using schema::BaseType;

namespace {

/// The tree with `x ?? a` as x, or as a if it is absent.
Formula with_optionals(Formula tree, const std::map<std::string, bool>& given) {
  for (Formula& child : tree.children) child = with_optionals(std::move(child), given);
  if (tree.kind != FormulaKind::kBinary || tree.operation != "??") return tree;
  const auto found = given.find(tree.children[0].text);
  if (found == given.end()) return tree;
  Formula chosen = std::move(tree.children[found->second ? 0 : 1]);
  return chosen;
}

}  // namespace

bool FusedPart::set_over(const std::string& over) {
  if (state_.over.empty()) state_.over = over;
  return state_.over == over;
}

std::optional<std::string> FusedPart::dims_of(const Formula& written) {
  const Formula& tree = inner(written);
  if (tree.kind == FormulaKind::kBraces) {
    std::string all;
    for (const Formula& child : tree.children) {
      const auto one = integer(child);
      if (!one || (*one)[0] != '-') return std::nullopt;
      all += (all.empty() ? "" : ", ") + *one;
    }
    return all.empty() ? "all" : all;
  }
  if (const auto one = integer(tree)) return (*one)[0] == '-' ? one : std::nullopt;
  const Argument* argument =
      scopes_.empty() && tree.kind == FormulaKind::kName ? op_.schema.find_arg(tree.text) : nullptr;
  const bool dims = argument != nullptr && argument->type.base == BaseType::kInt;
  if (!dims || (argument->type.is_optional() && !argument->type.without_optional().is_list()))
    return std::nullopt;
  const size_t index =
      add_operand({tree.text, schema::to_string(argument->type), tree.text, nullptr, Role::kDims});
  return state_.operands[index].name;
}

std::optional<std::string> FusedPart::dims_of_sizes(const Formula& written,
                                                    const Formula& normalized) {
  const Formula& tree = inner(written);
  if (tree.kind == FormulaKind::kBraces && !tree.children.empty()) {
    std::vector<size_t> sizes;
    std::string dims;
    bool own = true;  // `{x.size(-1)}` of x holds in every call
    for (size_t i = 0; i < tree.children.size(); ++i) {
      const std::string dim = "-" + std::to_string(tree.children.size() - i);
      dims += (i == 0 ? "" : ", ") + dim;
      own &= expr::print_formula(tree.children[i]) ==
             expr::print_formula(normalized) + ".size(" + dim + ")";
    }
    for (size_t i = 0; i < tree.children.size() && !own; ++i) {
      MaybeValue size = number(tree.children[i], true);
      if (!size) return std::nullopt;
      sizes.push_back(*size->leaf);
    }
    if (!own) state_.sizes.push_back(std::move(sizes));
    return dims;
  }
  const Argument* argument =
      scopes_.empty() && tree.kind == FormulaKind::kName ? op_.schema.find_arg(tree.text) : nullptr;
  if (argument == nullptr || argument->type.is_optional() || !argument->type.is_list() ||
      argument->type.base != BaseType::kSymInt)
    return std::nullopt;
  const size_t index = add_operand({tree.text, "SymInt[]", tree.text, nullptr, Role::kDims});
  return state_.operands[index].name;
}

FusedPart::MaybeValue FusedPart::reduction(const std::string& function,
                                           const Arguments& arguments) {
  const bool one_row = arguments.size() == 1;
  if (arguments.size() > 3 || ((function == "max" || function == "min") && !one_row &&
                               inner(*arguments[1]).kind != FormulaKind::kBraces))
    return std::nullopt;
  MaybeValue x = value(*arguments[0]);
  if (!x || x->kind != Kind::kTensor || !use(*x, Role::kElement) || x->domain != Domain::kElement ||
      x->of_columns)
    return std::nullopt;
  const auto over = one_row ? std::optional<std::string>("all") : dims_of(*arguments[1]);
  bool keepdim = false;
  if (arguments.size() == 3) {
    keepdim = is_literal(*arguments[2], "true");
    if (!keepdim && !is_literal(*arguments[2], "false")) return std::nullopt;
  }
  // The one row of all elements gives values without dimensions.
  if (!over || (*over == "all" && keepdim) || !set_over(*over)) return std::nullopt;
  state_.broadcasts.push_back(x->direct);
  Value made = {function + "(" + x->text + ")", Kind::kTensor,
                keepdim ? Domain::kKept : Domain::kDropped};
  count({*x}, made);
  return made;
}

FusedPart::MaybeValue FusedPart::pick(const Arguments& arguments) {
  if (arguments.size() != 3) return std::nullopt;
  MaybeValue x = value(*arguments[0]);
  const auto over = dims_of(*arguments[1]);
  if (!x || x->kind != Kind::kTensor || x->domain != Domain::kElement || x->of_columns || !over ||
      *over != "-1" || !use(*x, Role::kElement) || !set_over(*over))
    return std::nullopt;
  MaybeValue index = value(*arguments[2]);
  if (!index || !index->leaf || index->domain != Domain::kKept || !use(*index, Role::kPosition))
    return std::nullopt;
  state_.broadcasts.push_back(x->direct);
  Value made = {"pick(" + x->text + ", " + index->text + ")", Kind::kTensor, Domain::kKept};
  count({*x}, made);
  return made;
}

FusedPart::MaybeValue FusedPart::squeezed(const std::string& function, const Arguments& arguments) {
  if (arguments.size() != 2 || integer(*arguments[1]) != "-1") return std::nullopt;
  MaybeValue x = value(*arguments[0]);
  if (!x || x->kind == Kind::kNumber) return std::nullopt;
  if (function == "unsqueeze") {
    const bool free = x->leaf && !state_.operands[*x->leaf].role;
    const bool row = x->domain == Domain::kDropped && state_.over == "-1";
    if (!free && !row) return std::nullopt;
    x->domain = Domain::kKept;
    return x;
  }
  if (x->leaf || x->domain != Domain::kKept || state_.over != "-1") return std::nullopt;
  x->domain = Domain::kDropped;
  return x;
}

FusedPart::MaybeValue FusedPart::row_operator(const Operator& called, const Operator& row,
                                              const Arguments& arguments, size_t result) {
  const Rowwise& spec = *row.as<Rowwise>();
  if ((row.check && !is_check_of_dtypes(row)) || result >= row.schema.returns.size() ||
      !spec.over || (row.promotion != Promotion::kDefault && row.promotion != Promotion::kElements))
    return std::nullopt;
  std::map<std::string, const Formula*> given;
  for (size_t i = 0; i < arguments.size(); ++i) given[called.schema.args[i].name] = arguments[i];
  expr::Renaming renamed;
  std::map<std::string, bool> optionals;
  std::vector<Value> elements;
  bool keepdim = spec.keepdim;
  std::string over = spec.over->text;
  for (const Argument& argument : row.schema.args) {
    const auto found = given.find(argument.name);
    const Formula* tree = found == given.end() ? nullptr : found->second;
    if (found != given.end()) given.erase(found);
    const schema::Type type = argument.type.without_optional();
    if (argument.name == over) {
      const bool sizes = type.is_list() && type.base == BaseType::kSymInt;
      const auto dims = tree == nullptr ? std::nullopt
                        : sizes         ? dims_of_sizes(*tree, *arguments[0])
                                        : dims_of(*tree);
      if (!dims) return std::nullopt;
      over = *dims;
    } else if (argument.name == "keepdim" || is_half_to_float(argument)) {
      const bool yes = tree != nullptr && is_literal(*tree, "true");
      if (tree != nullptr && !yes && !is_literal(*tree, "false")) return std::nullopt;
      if (is_half_to_float(argument) && yes) return std::nullopt;
      if (argument.name == "keepdim") keepdim = yes;
    } else if (type.is_tensor()) {
      if (argument.type.is_optional()) optionals[argument.name] = tree != nullptr;
      if (tree == nullptr) {
        if (argument.type.is_optional()) continue;
        return std::nullopt;
      }
      const bool column = holds_name(spec.columns, argument.name);
      const Formula& root = inner(*tree);
      const Argument* outer = scopes_.empty() && root.kind == FormulaKind::kName
                                  ? op_.schema.find_arg(root.text)
                                  : nullptr;
      if (outer != nullptr && outer->type.is_optional_tensor() && column &&
          argument.type.is_optional()) {
        const size_t index = add_operand({root.text, "Tensor?", root.text, nullptr, Role::kColumn});
        renamed[argument.name] = state_.operands[index].name;
        optionals.erase(argument.name);  // `?? 1` stays
        continue;
      }
      MaybeValue one = value(*tree);
      if (!one || one->kind != Kind::kTensor) return std::nullopt;
      if (column) {
        if (one->leaf ? !use(*one, Role::kColumn) : !one->of_columns) return std::nullopt;
      } else if (holds_name(spec.rows, argument.name)) {
        const bool free = one->leaf && !state_.operands[*one->leaf].role;
        if (free && !use(*one, Role::kRow)) return std::nullopt;
        if (one->domain == Domain::kElement) return std::nullopt;
      } else {
        if (!use(*one, Role::kElement) || one->domain != Domain::kElement || one->of_columns)
          return std::nullopt;
        elements.push_back(*one);
      }
      renamed[argument.name] = bind(argument.name, one->text);
    } else if (is_number(type)) {
      const Argument* of_call = called.schema.find_arg(argument.name);
      const Argument& default_of = of_call != nullptr ? *of_call : argument;
      const auto written = tree == nullptr ? literal_of(default_of) : std::nullopt;
      if (argument.type.is_optional()) optionals[argument.name] = tree != nullptr;
      if (tree == nullptr && argument.type.is_optional()) continue;
      MaybeValue one = tree == nullptr ? std::nullopt : value(*tree);
      if (tree == nullptr ? !written : !one || one->kind != Kind::kNumber) return std::nullopt;
      renamed[argument.name] = one ? one->text : *written;
    } else if (tree != nullptr) {
      return std::nullopt;
    }
  }
  given.erase("cudnn_enable");  // without effect
  // An argument that the row operator has not, as `dtype`.
  if (!given.empty() || (over == "all" && keepdim) || !set_over(over)) return std::nullopt;
  DiagnosticSink none;
  const std::optional<RowExpression> parsed = parse_rowwise(row, none);
  if (!parsed) return std::nullopt;
  const expr::Graph& graph = parsed->expression.graph;
  const expr::Node& root = graph[parsed->expression.outputs[result]];
  // Its results are Bool or integers, which a kernel of floating elements does not compute with.
  const bool whole = root.kind == expr::NodeKind::kCall && expr::is_whole(root.op);
  if (whole || root.value_kind == expr::ValueKind::kMask) return std::nullopt;
  Value made;
  for (const Value& one : elements) made.direct.insert(one.direct.begin(), one.direct.end());
  state_.broadcasts.push_back(made.direct);
  for (const NamedExpressions::Part& part : spec.parts) {
    const std::string own = part.name.text.empty() ? row.schema.return_name(0) : part.name.text;
    const Formula text =
        with_optionals(expr::parse_formula(part.expression.text).formula, optionals);
    const Formula* rest = &text;
    expr::Renaming inside = renamed;
    for (; rest->kind == FormulaKind::kLocal; rest = &rest->children[1])
      inside[rest->text] = bind(rest->text, "(" + print_formula(rest->children[0], inside) + ")");
    if (expr::has_rest(*rest)) return std::nullopt;
    renamed[own] = bind(own, "(" + print_formula(*rest, inside) + ")");
  }
  made.text = renamed[row.schema.return_name(result)];
  const Domain of_row = keepdim ? Domain::kKept : Domain::kDropped;
  for (size_t i = 0; i < row.schema.returns.size(); ++i) {
    if (i != result && graph[parsed->expression.outputs[i]].domain == expr::Domain::kRow)
      state_.saved.push_back({renamed[row.schema.return_name(i)], Kind::kTensor, of_row});
  }
  const bool reduces = root.domain == expr::Domain::kRow;
  if (reduces) made.domain = of_row;
  if (reduces) made.direct.clear();
  count(elements, made);
  return made;
}

FusedPart::MaybeValue FusedPart::composition(const Operator& called, const Arguments& arguments) {
  const expr::FormulaResult parsed = expr::parse_formula(called.composition()->text.text);
  if (!parsed.ok() || called.check || !called.fuse || scopes_.size() > 20 ||
      called.schema.returns.size() != 1)
    return std::nullopt;
  std::map<std::string, Value> scope;
  for (size_t i = 0; i < called.schema.args.size(); ++i) {
    const Argument& argument = called.schema.args[i];
    MaybeValue one;
    if (i < arguments.size()) {
      one = value(*arguments[i]);
    } else if (const auto text = literal_of(argument)) {
      one = Value{*text, Kind::kNumber};
    }
    if (!one || argument.type.is_optional()) return std::nullopt;
    if (one->kind != Kind::kNumber) one->text = bind(argument.name, one->text);
    scope[argument.name] = std::move(*one);
  }
  scopes_.push_back(std::move(scope));
  const Formula* rest = &parsed.formula;
  MaybeValue made;
  for (; rest->kind == FormulaKind::kLocal; rest = &rest->children[1]) {
    made = value(rest->children[0]);
    if (!made) break;
    if (made->kind != Kind::kNumber) made->text = bind(rest->text, made->text);
    scopes_.back()[rest->text] = *made;
  }
  made = expr::has_rest(*rest) ? std::nullopt : translate(*rest);
  scopes_.pop_back();
  return made;
}

}  // namespace tenon::codegen::detail
