#include "codegen/optimizers/emit_optimizers.h"

#include <algorithm>
#include <set>

namespace tenon::codegen::optimizers {
namespace {

using schema::BaseType;
using Kind = Expr::Kind;

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) result += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
  return result + '"';
}

std::string cpp_word(const std::string& python) {
  return python == "True" ? "true" : python == "False" ? "false" : python;
}

/// `[0.9, 0.999]` between other brackets.
std::string bracketed(std::string text, char open, char close) {
  if (!text.starts_with("[")) return text;
  text.front() = open;
  text.back() = close;
  for (size_t comma = text.find(','); comma != text.npos; comma = text.find(',', comma + 1))
    if (text[comma + 1] != ' ') text.insert(comma + 1, " ");
  return text;
}

class Emitter {
 public:
  Emitter(const Optimizer& optimizer, const Model& model) : one_(optimizer), model_(model) {}

  ir::Optimizer run() {
    out_.name = one_.name();
    out_.module = one_.module();
    out_.comment = one_.comment;
    out_.base = one_.base;
    out_.base_module = Optimizer::module_of(one_.base);
    out_.starts_at_construction = one_.starts_at_construction;
    emit_options();
    for (const RangeCheck& check : one_.checks) emit_check(check);
    for (const StateItem& item : one_.states) emit_state(item);
    emit_update();
    if (one_.lists) emit_lists();
    emit_formula();
    out_.helpers.assign(helpers_.begin(), helpers_.end());
    return std::move(out_);
  }

 private:
  // ---- options ----

  void emit_options() {
    for (const schema::Argument& argument : one_.schema.args) {
      ir::OptimizerOption option;
      option.name = argument.name;
      option.keyword_only = argument.kwarg_only;
      option.is_pair = argument.type.list_size() == 2;
      const std::string& text = argument.default_value->text;
      option.default_text = {cpp_word(bracketed(text, '{', '}')), bracketed(text, '(', ')')};
      if (!is_switch(argument.name)) option.cpp_type = cpp_type(argument);
      option.python_type = python_type(argument);
      out_.options.push_back(std::move(option));
    }
    for (const auto& [name, value] : one_.fixed) {
      ir::OptimizerOption& option = out_.options.emplace_back();
      option.name = name;
      option.default_text = {cpp_word(value), value};
      option.is_settled = true;
    }
    out_.group = one_.group;
    if (!out_.group.empty()) return;
    for (const schema::Argument& argument : one_.schema.args) out_.group.push_back(argument.name);
  }

  static std::string cpp_type(const schema::Argument& argument) {
    if (argument.type.list_size()) return argument.name + "_t";
    const BaseType base = argument.type.base;
    const std::string plain = base == BaseType::kFloat ? "double"
                              : base == BaseType::kInt ? "int64_t"
                                                       : "bool";
    return argument.type.is_optional() ? "std::optional<" + plain + ">" : plain;
  }

  /// PyTorch takes a tensor for a learning rate.
  static std::string python_type(const schema::Argument& argument) {
    if (argument.name == "lr") return "float | tenon.Tensor";
    if (argument.type.list_size()) return "tuple[float, float]";
    const BaseType base = argument.type.base;
    const std::string plain = base == BaseType::kFloat ? "float"
                              : base == BaseType::kInt ? "int"
                                                       : "bool";
    return plain + (argument.type.is_optional() ? " | None" : "");
  }

  // ---- names ----

  /// Of C++'s constructor: `defaults.lr()`, or of a step: `options.lr()`.
  std::string cpp_name(const Expr& e, const char* options) const {
    for (const auto& [name, value] : one_.fixed)
      if (e.text == name) return cpp_word(value);
    if (one_.schema.find_arg(e.text)) {
      const std::string option = options + ("." + e.text) + "()";
      return e.kind == Kind::kElement ? "std::get<" + std::to_string(e.index) + ">(" + option + ")"
                                      : option;
    }
    const StateItem* item = one_.state(e.text);
    if (!item) return e.text;
    const std::string value = "state." + e.text + "()";
    return item->kind == StateItem::Kind::kStep ? value : value + ".item<double>()";
  }

  std::string python_name(const Expr& e) const {
    const bool is_option = one_.schema.find_arg(e.text) || e.text == "first";
    if (is_option) {
      return "group[\"" + e.text + "\"]" +
             (e.kind == Kind::kElement ? "[" + std::to_string(e.index) + "]" : "");
    }
    return one_.state(e.text) ? "state[\"" + e.text + "\"].item()" : e.text;
  }

  /// With the names of a step.
  ir::Both text_of(const Expr& e) {
    note_helpers(e);
    Spelling cpp{.name = [&](const Expr& n) { return cpp_name(n, "options"); }};
    Spelling python{.python = true, .name = [&](const Expr& n) { return python_name(n); }};
    return {print(e, cpp), print(e, python)};
  }

  /// With the names of the constructors' parameters.
  void emit_check(const RangeCheck& check) {
    const auto name = [](const Expr& e) {
      return e.kind == Kind::kElement ? e.text + "[" + std::to_string(e.index) + "]" : e.text;
    };
    const Spelling cpp{.name = [&](const Expr& n) { return cpp_name(n, "defaults"); }};
    const Spelling python{.python = true, .name = name};
    ir::OptimizerCheck& out = out_.checks.emplace_back();
    out.condition = {print(check.condition, cpp), print_operand(check.condition, python)};
    out.message = check.message;
    size_t from = 0;
    while (from < check.message.size()) {
      const size_t open = std::min(check.message.find('{', from), check.message.size());
      if (open > from) out.cpp_message.push_back(quoted(check.message.substr(from, open - from)));
      if (open == check.message.size()) break;
      const size_t close = check.message.find('}', open);
      out.cpp_message.push_back(cpp_value(check.message.substr(open + 1, close - open - 1)));
      from = close + 1;
    }
  }

  /// `lr` or `betas[0]` of a message.
  std::string cpp_value(const std::string& text) const {
    const size_t bracket = text.find('[');
    Expr e;
    e.kind = bracket == text.npos ? Kind::kName : Kind::kElement;
    e.text = text.substr(0, bracket);
    if (bracket != text.npos) e.index = static_cast<size_t>(text[bracket + 1] - '0');
    return cpp_name(e, "defaults");
  }

  // ---- state and update ----

  void emit_state(const StateItem& item) {
    ir::OptimizerState& out = out_.states.emplace_back();
    out.name = item.name.text;
    out.kind = item.kind == StateItem::Kind::kStep     ? "step"
               : item.kind == StateItem::Kind::kNumber ? "number"
                                                       : "tensor";
    if (item.init) out.init = text_of(*item.init);
    if (item.when) out.when = text_of(*item.when);
  }

  void emit_update() {
    for (const Statement& statement : one_.update) {
      ir::OptimizerStatement& out = out_.statements.emplace_back();
      out.name = statement.target;
      if (statement.target.empty()) {
        out.kind = "call";
        out_.call = emit_call(statement.value);
        continue;
      }
      out.kind = !one_.state(statement.target) ? "let"
                 : statement.operation == "*=" ? "scale"
                                               : "set";
      out.value = text_of(statement.value);
    }
    const schema::FunctionSchema& schema = find_operator(model_, out_.call.name)->schema;
    out_.header = "tenon/ops/" + schema.base_name() + ".h";
  }

  ir::OptimizerCall emit_call(const Expr& call) {
    ir::OptimizerCall out;
    out.name = call.text;
    const auto& arguments = find_operator(model_, call.text)->schema.args;
    for (size_t i = 0; i < call.operands.size(); ++i) {
      const Expr& value = call.operands[i];
      ir::OptimizerArgument& argument = out.arguments.emplace_back();
      argument.name = arguments[i].name;
      argument.is_written = arguments[i].is_mutable() && !arguments[i].type.is_optional();
      argument.is_keyword = arguments[i].kwarg_only;
      argument.is_whole = arguments[i].type.is(BaseType::kInt);
      if (!arguments[i].type.holds_tensors()) {
        argument.kind = "number";
        argument.value = text_of(value);
        if (value.kind == Kind::kName && value.text == "first") out_.uses_first = true;
        continue;
      }
      argument.kind = value.text;
      const StateItem* item = one_.state(value.text);
      if (!item) continue;
      argument.kind = item->kind == StateItem::Kind::kStep ? "steps" : "state";
      argument.state = value.text;
      if (item->when) argument.when = text_of(*item->when);
    }
    return out;
  }

  void emit_lists() {
    if (one_.lists->kind == Kind::kChoice) {
      out_.lists_condition = text_of(one_.lists->operands[0]).python;
      out_.lists = {emit_call(one_.lists->operands[1]), emit_call(one_.lists->operands[2])};
    } else {
      out_.lists = {emit_call(*one_.lists)};
    }
  }

  // ---- the operator's own expressions, for steps that record ----

  void emit_formula() {
    const Operator& op = *find_operator(model_, out_.call.name);
    const Update* update = op.as<Update>();
    if (update == nullptr) return;
    std::set<std::string> tensors, optional, used;
    for (const schema::Argument& argument : op.schema.args) {
      if (argument.type.holds_tensors()) tensors.insert(argument.name);
      if (argument.type.is_optional()) optional.insert(argument.name);
    }
    Spelling python;
    python.python = true;
    python.name = [](const Expr& e) { return e.text == "self" ? "param" : e.text; };
    python.is_tensor = [&](const std::string& name) { return tensors.contains(name); };
    python.may_be_none = [&](const std::string& name) { return optional.contains(name); };
    DiagnosticSink silent;  // the operator's own checks report its mistakes
    for (const NamedExpressions::Part& part : update->parts) {
      const std::optional<Expr> value = parse_expression(part.expression, silent);
      if (!value) return;
      ir::OptimizerFormula& out = out_.formula.emplace_back();
      out.text = print(*value, python);
      note_helpers(*value, &tensors);
      bool is_tensor = false;
      walk(*value, [&](const Expr& e) {
        if (e.kind != Kind::kName) return;
        used.insert(e.text);
        is_tensor = is_tensor || tensors.contains(e.text);
      });
      if (is_tensor) tensors.insert(part.name.text);
      const auto written =
          std::find_if(out_.call.arguments.begin(), out_.call.arguments.end(),
                       [&](const ir::OptimizerArgument& a) { return a.name == part.name.text; });
      if (written == out_.call.arguments.end())
        out.name = part.name.text;
      else
        out.state = written->state;
    }
    // The order of the call, so that the method reads as it.
    for (const ir::OptimizerArgument& argument : out_.call.arguments) {
      if (!used.contains(argument.name) || argument.kind == "param") continue;
      std::string text = argument.kind == "grad"    ? "grad"
                         : argument.kind == "state" ? "state[\"" + argument.state + "\"]"
                                                    : argument.value.python;
      if (!argument.when.python.empty()) text += " if " + argument.when.python + " else None";
      if (text != argument.name) out_.bindings.push_back({argument.name, text});
    }
  }

  /// Functions that are no builtins of Python.
  void note_helpers(const Expr& expr, const std::set<std::string>* tensors = nullptr) {
    walk(expr, [&](const Expr& e) {
      if (e.kind == Kind::kCall && e.text != "pow" && e.text != "abs" && e.text != "max" &&
          e.text != "min")
        helpers_.insert(e.text);
      if (e.kind != Kind::kChoice || !tensors) return;
      walk(e.operands[0], [&](const Expr& part) {
        if (e.operands[0].kind != Kind::kName && part.kind == Kind::kName &&
            tensors->contains(part.text))
          helpers_.insert("where");
      });
    });
  }

  const Optimizer& one_;
  const Model& model_;
  ir::Optimizer out_;
  std::set<std::string> helpers_;
};

void add_file(ir::Library& library, const std::string& path, const char* tmpl, size_t optimizer) {
  ir::File& file = library.files.emplace_back();
  file.path = path;
  file.template_name = tmpl;
  file.optimizer = optimizer;
}

}  // namespace

void emit_optimizers(const std::vector<Optimizer>& optimizers, const Model& model, bool python,
                     ir::Library& library) {
  for (const Optimizer& one : optimizers) {
    const size_t at = library.optimizers.size();
    const ir::Optimizer& out = library.optimizers.emplace_back(Emitter(one, model).run());
    const std::string path = "runtime/optim/" + out.module;
    add_file(library, path + ".h", "optimizers/optimizer.h.j2", at);
    add_file(library, path + ".cpp", "optimizers/optimizer.cpp.j2", at);
    if (python)
      add_file(library, "python/optim/" + out.module + ".py", "optimizers/optimizer.py.j2", at);
  }
}

}  // namespace tenon::codegen::optimizers
