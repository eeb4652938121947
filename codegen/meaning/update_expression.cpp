#include "codegen/meaning/update_expression.h"

#include <algorithm>

#include "codegen/expr/graph/graph_builder.h"
#include "codegen/meaning/expression.h"
#include "codegen/meaning/operands.h"
#include "codegen/schema/suggest.h"

namespace tenon::codegen {
namespace {

using expr::NodeId;
using expr::NodeKind;

class UpdateParser {
 public:
  UpdateParser(const Operator& op, const std::set<std::string>& given, DiagnosticSink& sink)
      : op_(op), spec_(*op.as<Update>()), sink_(sink) {
    result_.given = given;
    optionals_.given = given;
    for (const schema::Argument& argument : op.schema.args) {
      const bool tensor = argument.type.holds_tensors();
      if (argument.is_mutable()) written_.push_back(argument.name);
      if (argument.type.is_optional_tensor()) optionals_.names.insert(argument.name);
      if (argument.type.is_optional_tensor() && !given.contains(argument.name)) continue;
      names_[argument.name] = result_.expression.graph.variable(
          tensor ? NodeKind::kTensor : NodeKind::kScalar, argument.name);
      result_.expression.parameters.push_back({argument.name, tensor, tensor});
    }
  }

  std::optional<UpdateExpression> run() {
    const size_t before = sink_.num_errors();
    bool failed = false;  // even so: a mistake may be said elsewhere
    std::map<std::string, NodeId> values;
    for (size_t i = 0; i < spec_.parts.size(); ++i) {
      const NamedExpressions::Part& part = spec_.parts[i];
      const std::string name = name_of(part);
      if (name.empty()) return std::nullopt;
      const schema::Argument* argument = op_.schema.find_arg(name);
      if (argument != nullptr && !argument->is_mutable()) {
        wrong_argument(part, *argument);
      } else if (argument == nullptr) {
        check_used(i, name);
      }
      const bool absent = optionals_.names.contains(name) && !result_.given.contains(name);
      if (absent) continue;
      const std::optional<NodeId> node = parse(part.expression, name);
      failed |= !node;
      if (argument != nullptr) {
        if (node) values[name] = *node;
      } else {
        // After an error the name still counts as known.
        names_[name] = node.value_or(result_.expression.graph.integer(0));
      }
    }
    for (const std::string& name : written_) {
      if (optionals_.names.contains(name) && !result_.given.contains(name)) continue;
      if (const auto found = values.find(name); found != values.end()) {
        result_.expression.outputs.push_back(found->second);
        result_.written.push_back(name);
      } else if (spec_.complete && !failed && sink_.num_errors() == before) {
        sink_.error(op_.at(op_.schema.find_arg(name)->name_span),
                    "`pointwise` gives `" + name + "`, which is written, no value");
      }
    }
    if (failed || sink_.num_errors() != before || !spec_.complete) return std::nullopt;
    return std::move(result_);
  }

 private:
  /// What the part gives a value; empty after an error.
  std::string name_of(const NamedExpressions::Part& part) {
    if (!part.name.text.empty()) return part.name.text;
    if (written_.size() == 1) return written_[0];
    sink_.error(spec_.location, "`pointwise` needs an expression for each of " +
                                    std::to_string(written_.size()) +
                                    " written arguments, by name");
    return "";
  }

  void wrong_argument(const NamedExpressions::Part& part, const schema::Argument& argument) {
    sink_.report({Severity::kError,
                  part.name.location,
                  argument.type.holds_tensors()
                      ? "`" + argument.name +
                            "` is not written: an argument that is has an "
                            "annotation of its own, as `Tensor(b!)`"
                      : "`" + argument.name + "` is an argument and can name no value",
                  {{op_.at(argument.span), "it is declared here"}},
                  {}});
  }

  std::optional<NodeId> parse(const SourceString& text, const std::string& name) {
    // In its own value an argument is there.
    expr::OptionalTensors optionals = optionals_;
    optionals.names.erase(name);
    std::vector<expr::ExprError> errors;
    expr::GraphBuilder builder(
        result_.expression.graph, names_,
        {.shared = &functions_of(op_), .category = "floating", .optionals = &optionals},
        {op_.name()});
    const auto node = builder.add(text.text, errors);
    report(text, errors, sink_);
    return node;
  }

  void check_used(size_t i, const std::string& name) {
    if (is_used_behind(spec_, i, name)) return;
    sink_.error(spec_.parts[i].name.location,
                "`" + name + "` is no written argument and no later expression uses it" +
                    hint_of_part(name, op_.schema),
                schema::nearest(name, written_));
  }

  const Operator& op_;
  const NamedExpressions& spec_;
  DiagnosticSink& sink_;
  UpdateExpression result_;
  expr::GraphBuilder::Names names_;
  expr::OptionalTensors optionals_;
  std::vector<std::string> written_;
};

}  // namespace

std::vector<std::set<std::string>> given_sets(const schema::FunctionSchema& schema) {
  std::vector<std::set<std::string>> sets = {{}};
  for (const schema::Argument& argument : schema.args) {
    if (!argument.type.is_optional_tensor()) continue;
    for (size_t i = 0, n = sets.size(); i < n; ++i) {
      sets.push_back(sets[i]);
      sets.back().insert(argument.name);
    }
  }
  return sets;
}

std::optional<UpdateExpression> parse_update(const Operator& op, const std::set<std::string>& given,
                                             DiagnosticSink& sink) {
  return UpdateParser(op, given, sink).run();
}

}  // namespace tenon::codegen
