#include "codegen/emit/autograd.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "codegen/emit/forward.h"
#include "codegen/emit/gradient_kernels.h"
#include "codegen/emit/pointwise.h"
#include "codegen/emit/rowwise.h"
#include "codegen/expr/composition.h"
#include "codegen/expr/formula.h"
#include "codegen/expr/formula_names.h"
#include "codegen/model/cpp_types.h"
#include "codegen/model/differentiability.h"
#include "codegen/model/expression.h"

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

const char* input_kind(const Argument& argument) {
  if (argument.type.is_tensor_list()) return "list";
  return argument.type.is_optional_tensor() ? "optional" : "tensor";
}

/// Tensor arguments of an operator whose derivative is derived from its expression.
std::vector<const Argument*> tensor_arguments(const Operator& op) {
  std::vector<const Argument*> inputs;
  for (const Argument& argument : op.schema.args) {
    if (argument.type.holds_tensors()) inputs.push_back(&argument);
  }
  return inputs;
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
    node_ = {{"name", node_name(model, op_index)},
             {"ident", cpp_identifier(op_.schema)},
             {"source", short_source(derivative ? derivative->location : op_.location)},
             {"file", (derivative ? derivative->location : op_.location).file->path()},
             {"line", (derivative ? derivative->location : op_.location).line},
             {"inputs", Json::array()},
             {"num_results", op_.schema.returns.size()},
             {"differentiable_outputs", differentiable_outputs_},
             {"saved", Json::array()},
             {"formulas", Json::array()},
             {"pointwise", Json::array()},
             {"rowwise", nullptr},
             {"forward", nullptr},
             {"kernels", Json::array()},
             {"operators", Json::array()}};
    for (size_t i = 0; i < inputs_.size(); ++i) {
      node_["inputs"].push_back({{"name", inputs_[i]->name}, {"kind", input_kind(*inputs_[i])}});
    }
  }

  Json run() {
    if (written_) {
      written();
    } else if (op_.rowwise ? !derived_from_rows() : !derived()) {
      return nullptr;
    }
    forward();
    finish_saved();
    return std::move(node_);
  }

 private:
  struct Saved {
    Json json;
    std::set<size_t> users;  // differentiable inputs whose gradient needs it
  };

  int result_index(const std::string& name) const {
    for (size_t i = 0; i < op_.schema.returns.size(); ++i) {
      if (name == op_.schema.return_name(i) || name == "result" + std::to_string(i)) {
        return static_cast<int>(i);
      }
    }
    return -1;
  }

  Saved& save(const std::string& variable) {
    for (auto& [name, saved] : saved_) {
      if (name == variable) return saved;
    }
    return saved_.emplace_back(variable, Saved{}).second;
  }

  /// A whole argument or result under its own name.
  void save_whole(const std::string& name, const std::set<size_t>& users) {
    Saved& saved = save(name);
    saved.users.insert(users.begin(), users.end());
    if (!saved.json.is_null()) return;
    if (const Argument* argument = op_.schema.find_arg(name)) {
      const auto& type = argument->type;
      const char* kind = type.is_tensor()                 ? "tensor"
                         : type.is_optional_tensor()      ? "optional_tensor"
                         : type.is_tensor_list()          ? "tensor_list"
                         : type.is_optional_tensor_list() ? "optional_tensor_list"
                                                          : "value";
      saved.json = {
          {"name", name}, {"kind", kind},       {"type", cpp_owned_type(type)},
          {"init", name}, {"pointwise", false}, {"is_self", argument == op_.schema.self()}};
      return;
    }
    const int index = result_index(name);
    const bool list = op_.schema.returns[index].type.is_tensor_list();
    saved.json = {{"name", name},
                  {"kind", list ? "result_list" : "result"},
                  {"index", index},
                  {"pointwise", false}};
  }

  void save_attribute(const expr::SavedValue& value, const std::set<size_t>& users) {
    Saved& saved = save(value.variable);
    saved.users.insert(users.begin(), users.end());
    const bool of_result = !op_.schema.find_arg(value.name);
    saved.json = {{"name", value.variable},
                  {"kind", of_result ? "result_value" : "value"},
                  {"type", value.cpp_type},
                  {"shown", shown_name(value)},
                  {"init", value.initializer}};
    if (of_result) {
      saved.json["of"] = value.name;
      saved.json["index"] = result_index(value.name);
    }
  }

  /// How many parts of apply() read a saved value: formulas, and the pointwise gradients as one.
  size_t readers(const std::string& name) const {
    const auto uses = [&](const Json& part) {
      return std::find(part["uses"].begin(), part["uses"].end(), name) != part["uses"].end();
    };
    const Json& formulas = node_["formulas"];
    const Json& pointwise = node_["pointwise"];
    return static_cast<size_t>(std::count_if(formulas.begin(), formulas.end(), uses)) +
           (std::any_of(pointwise.begin(), pointwise.end(), uses) ? 1 : 0);
  }

  void finish_saved() {
    for (auto& [name, saved] : saved_) {
      saved.json["users"] = saved.users;
      if (!saved.json.contains("pointwise")) saved.json["pointwise"] = false;
      if (!saved.json.contains("shown")) saved.json["shown"] = name;
      // A gradient needs it whichever input is asked for: no condition then.
      saved.json["guarded"] = saved.users.size() < inputs_.size();
      saved.json["shared"] = readers(name) > 1;
      node_["saved"].push_back(saved.json);
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
    Json uses = Json::array();
    for (const size_t index : formula.kept) {
      const KeptValue& kept = written_->kept[index];
      if (kept.value.attribute.empty()) {
        save_whole(kept.value.name, kept.users);
      } else {
        save_attribute(kept.value, kept.users);
      }
      uses.push_back(kept.value.variable);
    }
    for (std::string name : expr::called_functions(formula.rewritten)) {
      if (name.starts_with("tenon::")) name.erase(0, 7);
      if (!name.starts_with("std::") && name.find('<') == std::string::npos) add_operator(name);
    }
    const Formula& source = *formula.source;
    const bool not_implemented = source.kind == FormulaKind::kNotImplemented;
    node_["formulas"].push_back(
        {{"outputs", formula.inputs},
         {"text", not_implemented
                      ? source.text.text
                      : expr::print_formula(expr::with_true_division(formula.rewritten))},
         {"original", source.text.text},
         {"not_implemented", not_implemented},
         {"source", short_source(source.text.location)},
         {"line", source.text.location.line},
         {"file", source.text.location.file ? source.text.location.file->path() : ""},
         {"uses_grads", expr::uses_name(formula.written, "grads")},
         {"uses", uses}});
  }

  void forward() {
    Json rule = emit_forward(op_, written_ ? &*written_ : nullptr);
    if (rule.is_null()) return;
    for (const Json& name : rule["operators"]) add_operator(name.get<std::string>());
    rule.erase("operators");
    node_["forward"] = std::move(rule);
  }

  void add_operator(const std::string& name) {
    for (const Json& seen : node_["operators"]) {
      if (seen == name) return;
    }
    node_["operators"].push_back(name);
  }

  /// The derivative that follows from a pointwise expression.
  bool derived() {
    if (!op_.pointwise) return false;
    std::optional<expr::Expression> expression = differentiable_expression(op_);
    if (!expression) return false;
    if (op_.schema.returns.size() > 1) {
      for (size_t i = 0; i < differentiable_outputs_.size(); ++i)
        differentiable_outputs_[i] = depends_on_tensors(*expression, expression->outputs[i]);
      node_["differentiable_outputs"] = differentiable_outputs_;
    }
    expr::Derivative derivative = expr::differentiate(*expression);
    emit_pointwise_gradients({std::move(*expression), std::move(derivative)});
    return true;
  }

  /// The same of a `rowwise` entry. One kernel computes all gradients, so that all it reads is
  /// kept.
  bool derived_from_rows() {
    RowwiseGradients gradients = emit_rowwise_gradients(op_);
    if (gradients.json.is_null()) return false;
    std::set<size_t> users;
    for (size_t i = 0; i < inputs_.size(); ++i) users.insert(i);
    for (const std::string& name : gradients.saved) {
      if (op_.schema.find_arg(name)) {
        save_whole(name, users);
        continue;
      }
      Saved& saved = save(name);
      saved.users = users;
      for (size_t i = 0; i < op_.schema.returns.size(); ++i) {
        if (name == expr::result_name(i, op_.schema.returns.size()))
          saved.json = {{"name", name}, {"kind", "result"}, {"index", i}};
      }
    }
    Saved& shape = save("row_shape");
    shape.users = users;
    shape.json = {{"name", "row_shape"},
                  {"kind", "value"},
                  {"type", "tenon::native::RowShape"},
                  {"init", row_shape_text(op_)}};
    for (Json& gradient : gradients.json["gradients"]) {
      const std::string name = gradient["input"].get<std::string>();
      gradient["sizes"] = nullptr;
      if (gradient["kind"] == "Row") {
        // With or without the reduced dimensions, as the argument was.
        gradient["sizes"] = name + "_sizes";
        Saved& sizes = save(name + "_sizes");
        sizes.users = users;
        const bool optional = op_.schema.find_arg(name)->type.is_optional_tensor();
        sizes.json = {{"name", name + "_sizes"},
                      {"kind", "value"},
                      {"type", "::std::vector<int64_t>"},
                      {"init", optional
                                   ? "(" + name + " ? " + name + "->sizes() : tenon::IntArrayRef())"
                                   : name + ".sizes()"}};
      }
      gradient["input"] = index_of(inputs_, name);
    }
    for (const Json& name : gradients.json["operators"]) add_operator(name.get<std::string>());
    node_["rowwise"] = std::move(gradients.json);
    return true;
  }

  void emit_pointwise_gradients(PointwiseGradients gradients) {
    if (gradients.derivative.gradients.empty()) return;
    for (const auto& gradient : gradients.derivative.gradients) {
      const size_t index = index_of(inputs_, gradient.input);
      const GradientText text = emit_gradient(op_, gradients.expression, gradient);
      std::set<size_t> users = {index};
      Json uses = Json::array();
      for (const auto& name : gradient.tensors) uses.push_back(name);
      for (const auto& name : gradient.scalars) uses.push_back(name);
      for (uint32_t r : gradient.results) {
        uses.push_back(expr::result_name(r, gradients.expression.outputs.size()));
      }
      for (const Json& name : uses) {
        save_whole(name.get<std::string>(), users);
        save(name.get<std::string>()).json["pointwise"] = true;
      }
      for (const auto& name : text.operators) add_operator(name);
      node_["pointwise"].push_back({{"input", index},
                                    {"form", text.form},
                                    {"text", text.text},
                                    {"readable", text.readable},
                                    {"uses", uses}});
    }
    node_["kernels"] = emit_gradient_kernels(
        op_, gradients, [&](const std::string& name) { return index_of(inputs_, name); });
  }

  const Operator& op_;
  std::optional<Differentiability> written_;
  std::vector<const Argument*> inputs_;
  std::vector<bool> differentiable_outputs_;
  std::vector<std::pair<std::string, Saved>> saved_;
  Json node_;
};

}  // namespace

Json emit_node(const Model& model, size_t op_index) {
  const Operator& op = model.operators()[op_index];
  if (op.non_differentiable || op.is_composite_implicit()) return nullptr;
  if (op.schema.kind() == SchemaKind::kOut) return nullptr;
  if (!op.pointwise && !op.rowwise && !model.derivative_of(op_index)) return nullptr;
  Json node = NodeEmitter(model, op_index).run();
  if (node.is_null() || node["inputs"].empty()) return nullptr;
  return node;
}

Json emit_autograd(const Model& model, size_t op_index, size_t form_index, const Json& node) {
  const Operator& op = model.operators()[op_index];
  const VariantSchema& form = model.variants(op_index)[form_index];
  bool constant = false;
  switch (form.kind) {
  case SchemaKind::kOut: return {{"kind", "out"}};
  case SchemaKind::kInplace:
    // The functional form of a composite operator is recorded operator by operator.
    if (op.is_composite_implicit()) return nullptr;
    constant = node.is_null() && op.pointwise && !op.update;
    return {
        {"kind", "inplace"},
        {"differentiable", !node.is_null()},
        {"changes_geometry", op.has_tag("inplace_view")},
        {"constant", constant ? Json(camel_case(op.schema.base_name()) + "Backward0") : nullptr}};
  default: break;
  }
  if (node.is_null()) return nullptr;
  return {{"kind", "functional"}, {"differentiable", true}};
}

}  // namespace tenon::codegen
