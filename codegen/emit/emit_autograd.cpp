#include "codegen/emit/emit_autograd.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <stdexcept>

#include "codegen/emit/emit_forward.h"
#include "codegen/emit/emit_gradient.h"
#include "codegen/emit/emit_pointwise.h"
#include "codegen/emit/emit_rowwise.h"
#include "codegen/expr/formulas/composition.h"
#include "codegen/expr/formulas/formula.h"
#include "codegen/expr/formulas/formula_names.h"
#include "codegen/expr/graph/append_new.h"
#include "codegen/meaning/cpp_names.h"
#include "codegen/meaning/expression.h"
#include "codegen/meaning/row_expression.h"

namespace tenon::codegen {
namespace {

using schema::Argument;
using schema::SchemaKind;

std::string camel_case(const std::string& name) {
  std::string text;
  bool upper = true;
  for (char c : name) {
    if (c == '_') {
      upper = true;
      continue;
    }
    text += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = false;
  }
  return text;
}

/// "MulBackward0": numbered among the entries of one base name, so that a node's name is stable
/// when another operator is added.
std::string node_name(const Model& model, size_t op_index) {
  const Operator& op = model.operators()[op_index];
  const std::string base = op.base_name();
  size_t number = 0;
  for (size_t i = 0; i < op_index; ++i) {
    if (model.operators()[i].base_name() == base) ++number;
  }
  return camel_case(op.schema.base_name()) + "Backward" + std::to_string(number);
}

ir::InputKind input_kind(const Argument& argument) {
  if (argument.type.is_tensor_list()) return ir::InputKind::kList;
  return argument.type.is_optional_tensor() ? ir::InputKind::kOptional : ir::InputKind::kTensor;
}

ir::SavedKind saved_kind(const schema::Type& type) {
  if (type.is_tensor()) return ir::SavedKind::kTensor;
  if (type.is_optional_tensor()) return ir::SavedKind::kOptionalTensor;
  if (type.is_tensor_list()) return ir::SavedKind::kTensorList;
  return type.is_optional_tensor_list() ? ir::SavedKind::kOptionalTensorList
                                        : ir::SavedKind::kValue;
}

size_t index_of(const std::vector<const Argument*>& inputs, const std::string& name) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i]->name == name) return i;
  }
  return inputs.size();
}

/// What a kept property of a tensor is called where a graph is looked at, as in PyTorch:
/// "self_sym_sizes".
std::string shown_name(const expr::SavedValue& value) {
  const std::string& attribute = value.attribute;
  if (attribute == "sizes" || attribute == "numel" || attribute == "strides")
    return value.name + "_sym_" + attribute;
  if (attribute.rfind("size_m", 0) == 0)
    return value.name + "_sym_argsize_minus_" + attribute.substr(6);
  if (attribute.rfind("size_", 0) == 0) return value.name + "_sym_argsize_" + attribute.substr(5);
  return value.variable;
}

/// Whether an output can have a derivative: it is no condition and made of more than numbers.
bool depends_on_tensors(const expr::Expression& expression, expr::NodeId output) {
  const expr::Graph& g = expression.graph;
  if (g[output].value_kind == expr::ValueKind::kMask) return false;
  const auto order = expr::topological_order(g, {output});
  return std::any_of(order.begin(), order.end(),
                     [&](expr::NodeId id) { return g[id].kind == expr::NodeKind::kTensor; });
}

class NodeEmitter {
 public:
  NodeEmitter(const Model& model, size_t op_index) : op_(model.operators()[op_index]) {
    const Derivative* derivative = model.derivative_of(op_index);
    const FormulaSet* formulas = derivative ? derivative->default_set() : nullptr;
    if (formulas) {
      written_ = differentiability(op_, *derivative, *formulas);
      inputs_ = written_->inputs;
      differentiable_outputs_ = written_->outputs;
    } else {
      inputs_ = tensor_arguments(op_);
      differentiable_outputs_.assign(op_.schema.returns.size(), true);
    }
    node_.name = node_name(model, op_index);
    node_.ident = cpp_identifier(op_.schema);
    node_.place = ir::Place(derivative ? derivative->location : op_.location);
    node_.num_results = op_.schema.returns.size();
    size_t tensors = 0;
    std::vector<std::string> lists;
    for (const Argument* input : inputs_) {
      node_.inputs.push_back({input->name, input_kind(*input), tensors, lists});
      if (node_.inputs.back().kind == ir::InputKind::kList) {
        lists.push_back(input->name);
      } else {
        ++tensors;
      }
    }
  }

  std::optional<ir::Node> run() {
    if (written_ && !written_->derived) {
      written();
    } else if (op_.as<Rowwise>() ? !derived_from_rows() : !derived()) {
      return std::nullopt;
    }
    node_.differentiable_outputs = differentiable_outputs_;
    node_.forward = emit_forward(op_, written_ ? &*written_ : nullptr, differentiable_outputs_,
                                 node_.operators);
    finish_saved();
    return std::move(node_);
  }

 private:
  size_t result_index(const std::string& name) const {
    for (size_t i = 0; i < op_.schema.returns.size(); ++i) {
      if (name == op_.schema.return_name(i) || name == "result" + std::to_string(i) ||
          name == expr::result_name(i, op_.schema.returns.size())) {
        return i;
      }
    }
    throw std::logic_error("[tenonc] no result is called " + name);
  }

  /// What is kept under the name, for these users too; new: `make` says what it is.
  template <class Make>
  ir::SavedValue& save(const std::string& name, const std::set<size_t>& users, const Make& make) {
    auto& all = node_.saved;
    auto known =
        std::find_if(all.begin(), all.end(), [&](const auto& s) { return s.name == name; });
    if (known == all.end()) {
      ir::SavedValue saved;
      saved.name = saved.shown = name;
      make(saved);
      known = all.insert(all.end(), std::move(saved));
    }
    known->users.insert(users.begin(), users.end());
    return *known;
  }

  /// A whole argument or result under its own name.
  ir::SavedValue& save_whole(const std::string& name, const std::set<size_t>& users) {
    return save(name, users, [&](ir::SavedValue& saved) {
      if (const Argument* argument = op_.schema.find_arg(name)) {
        saved.kind = saved_kind(argument->type);
        saved.type = cpp_owned_type(argument->type);
        saved.init = name;
        saved.is_self = argument == op_.schema.self();
        return;
      }
      saved.index = result_index(name);
      const bool list = op_.schema.returns[*saved.index].type.is_tensor_list();
      saved.kind = list ? ir::SavedKind::kResultList : ir::SavedKind::kResult;
    });
  }

  void save_attribute(const expr::SavedValue& value, const std::set<size_t>& users) {
    save(value.variable, users, [&](ir::SavedValue& saved) {
      saved.type = value.cpp_type;
      saved.init = value.initializer;
      saved.shown = shown_name(value);
      if (op_.schema.find_arg(value.name)) return;
      saved.kind = ir::SavedKind::kResultValue;
      saved.of = value.name;
      saved.index = result_index(value.name);
    });
  }

  /// A value of the call that C++ computes, for all inputs.
  void save_value(const std::string& name, const char* type, const std::string& init) {
    save(name, all_inputs(), [&](ir::SavedValue& saved) {
      saved.type = type;
      saved.init = init;
    });
  }

  std::set<size_t> all_inputs() const {
    std::set<size_t> all;
    for (size_t i = 0; i < inputs_.size(); ++i) all.insert(i);
    return all;
  }

  /// How many parts of apply() read a saved value: formulas, and the pointwise gradients as one.
  size_t readers(const std::string& name) const {
    const auto uses = [&](const auto& part) {
      return std::find(part.uses.begin(), part.uses.end(), name) != part.uses.end();
    };
    const auto& formulas = node_.formulas;
    const auto& pointwise = node_.pointwise;
    return static_cast<size_t>(std::count_if(formulas.begin(), formulas.end(), uses)) +
           (std::any_of(pointwise.begin(), pointwise.end(), uses) ? 1 : 0);
  }

  void finish_saved() {
    const bool has_list =
        std::any_of(node_.inputs.begin(), node_.inputs.end(),
                    [](const ir::NodeInput& input) { return input.kind == ir::InputKind::kList; });
    for (ir::SavedValue& saved : node_.saved) {
      saved.of_result = saved.kind == ir::SavedKind::kResult ||
                        saved.kind == ir::SavedKind::kResultList ||
                        saved.kind == ir::SavedKind::kResultValue;
      // A gradient needs it whichever input is asked for: no condition then. A value costs less
      // than a condition.
      saved.guarded = saved.users.size() < inputs_.size() && !saved.of_result && !has_list &&
                      saved.kind != ir::SavedKind::kValue;
      saved.shared = readers(saved.name) > 1;
    }
  }

  /// Formulas of derivatives.yaml: those that are pointwise become kernels, the rest C++ text.
  void written() {
    std::vector<PointwiseFormula> pointwise;
    for (const BackwardFormula& formula : written_->backward) {
      if (auto expression = as_pointwise(op_, *written_, formula)) {
        pointwise.push_back({inputs_[formula.inputs[0]]->name, std::move(*expression)});
      } else {
        text_formula(formula);
      }
    }
    emit_pointwise_gradients(join_formulas(op_, std::move(pointwise)));
  }

  void text_formula(const BackwardFormula& formula) {
    ir::NodeFormula result;
    for (const size_t index : formula.kept) {
      const KeptValue& kept = written_->kept[index];
      if (kept.value.attribute.empty()) {
        save_whole(kept.value.name, kept.users);
      } else {
        save_attribute(kept.value, kept.users);
      }
      result.uses.push_back(kept.value.variable);
    }
    for (std::string name : expr::called_functions(formula.rewritten)) {
      if (name.starts_with("tenon::")) name.erase(0, 7);
      const bool is_operator = !name.starts_with("std::") && name.find('<') == std::string::npos;
      if (is_operator) expr::append_new(node_.operators, name);
    }
    const Formula& source = *formula.source;
    result.outputs = formula.inputs;
    result.original = source.text.text;
    result.not_implemented = source.kind == FormulaKind::kNotImplemented;
    result.text =
        result.not_implemented
            ? source.text.text
            : expr::print_formula(expr::with_meaning_in_cpp(formula.rewritten, op_.name()));
    result.place = ir::Place(source.text.location);
    result.uses_grads = expr::uses_name(formula.written, "grads");
    node_.formulas.push_back(std::move(result));
  }

  /// The derivative that follows from a pointwise expression.
  bool derived() {
    if (!op_.as<Pointwise>()) return false;
    std::optional<expr::Expression> expression = differentiable_expression(op_);
    if (!expression) return false;
    if (op_.schema.returns.size() > 1) {
      for (size_t i = 0; i < differentiable_outputs_.size(); ++i)
        differentiable_outputs_[i] =
            differentiable_outputs_[i] && depends_on_tensors(*expression, expression->outputs[i]);
    }
    expr::Derivative derivative = expr::differentiate(*expression);
    emit_pointwise_gradients({std::move(*expression), std::move(derivative)});
    return true;
  }

  /// The same of a `rowwise` entry. One kernel computes all gradients, so that all it reads is
  /// kept.
  bool derived_from_rows() {
    std::optional<RowwiseGradients> rows =
        emit_rowwise_gradients(op_, differentiable_outputs_,
                               [&](const std::string& name) { return index_of(inputs_, name); });
    if (!rows) return false;
    differentiable_outputs_ = rows->differentiable;
    for (const std::string& name : rows->saved) save_whole(name, all_inputs());
    save_value("row_shape", "tenon::native::RowShape", row_shape_text(op_));
    // For those who look at the graph.
    for (const Argument& argument : op_.schema.args) {
      if (is_geometry(op_, argument)) save_whole(argument.name, all_inputs());
    }
    for (const ir::RowGradient& gradient : rows->gradients.gradients) {
      if (gradient.sizes.empty()) continue;
      const std::string& name = inputs_[gradient.input]->name;
      const bool optional = inputs_[gradient.input]->type.is_optional_tensor();
      save_value(gradient.sizes, "::std::vector<int64_t>",
                 optional ? "(" + name + " ? " + name + "->sizes() : tenon::IntArrayRef())"
                          : name + ".sizes()");
    }
    for (const std::string& name : rows->gradients.operators)
      expr::append_new(node_.operators, name);
    node_.rowwise = std::move(rows->gradients);
    return true;
  }

  void emit_pointwise_gradients(const PointwiseGradients& gradients) {
    if (gradients.derivative.gradients.empty()) return;
    const auto input_index = [&](const std::string& name) { return index_of(inputs_, name); };
    for (const auto& gradient : gradients.derivative.gradients) {
      ir::PointwiseGradient one = emit_gradient(op_, gradients.expression, gradient,
                                                input_index(gradient.input), node_.operators);
      one.uses = gradient.tensors;
      one.uses.insert(one.uses.end(), gradient.scalars.begin(), gradient.scalars.end());
      for (uint32_t r : gradient.results) {
        one.uses.push_back(expr::result_name(r, gradients.expression.outputs.size()));
      }
      for (const std::string& name : one.uses) save_whole(name, {one.input}).pointwise = true;
      node_.pointwise.push_back(std::move(one));
    }
    node_.kernels = emit_gradient_kernels(op_, gradients, input_index);
  }

  const Operator& op_;
  std::optional<Differentiability> written_;
  std::vector<const Argument*> inputs_;
  std::vector<bool> differentiable_outputs_;
  ir::Node node_;
};

}  // namespace

std::optional<ir::Node> emit_node(const Model& model, size_t op_index) {
  const Operator& op = model.operators()[op_index];
  if (op.non_differentiable || op.is_composite_implicit()) return std::nullopt;
  if (op.schema.kind() == SchemaKind::kOut) return std::nullopt;
  if (!op.as<Pointwise>() && !op.as<Rowwise>() && !model.derivative_of(op_index))
    return std::nullopt;
  std::optional<ir::Node> node = NodeEmitter(model, op_index).run();
  if (!node || node->inputs.empty()) return std::nullopt;
  return node;
}

std::optional<ir::Autograd> emit_autograd(const Model& model, size_t op_index, size_t form_index,
                                          const std::optional<ir::Node>& node) {
  const Operator& op = model.operators()[op_index];
  ir::Autograd autograd;
  autograd.differentiable = node.has_value();
  switch (model.variants(op_index)[form_index].kind) {
  case SchemaKind::kOut: autograd.kind = SchemaKind::kOut; return autograd;
  case SchemaKind::kInplace: {
    // The functional form of a composite operator is recorded operator by operator.
    if (op.is_composite_implicit()) return std::nullopt;
    const bool constant = !node && op.as<Pointwise>() && !op.as<Update>();
    autograd.kind = SchemaKind::kInplace;
    autograd.changes_geometry = op.has_tag("inplace_view");
    if (constant) autograd.constant = camel_case(op.schema.base_name()) + "Backward0";
    return autograd;
  }
  default: break;
  }
  if (!node) return std::nullopt;
  return autograd;
}

}  // namespace tenon::codegen
