#include "codegen/optimizers/explain_optimizer.h"

#include <algorithm>

namespace tenon::codegen::optimizers {
namespace {

std::string as_written(const Expr& e) {
  Spelling plain;
  plain.python = true;
  plain.name = [](const Expr& n) {
    return n.kind == Expr::Kind::kElement ? n.text + "[" + std::to_string(n.index) + "]" : n.text;
  };
  return print(e, plain);
}

std::string start_of(const StateItem& item) {
  if (item.kind == StateItem::Kind::kStep) return "counts the steps";
  if (item.kind == StateItem::Kind::kNumber)
    return "a number, from " + as_written(*item.init) + " on";
  return "like the parameter, from " + (item.init ? as_written(*item.init) : "0") + " on";
}

}  // namespace

bool explain_optimizer(const std::vector<Optimizer>& optimizers, const Model& model,
                       const std::string& name, std::ostream& out) {
  const auto found = std::find_if(optimizers.begin(), optimizers.end(),
                                  [&](const Optimizer& one) { return one.name() == name; });
  if (found == optimizers.end()) return false;
  const Optimizer& one = *found;
  const std::string file = "runtime/optim/" + one.module();
  out << one.schema_text.text << "\n  " << one.schema_text.location.file_name() << ":"
      << one.schema_text.location.line << "\n";
  for (const std::string& line : one.comment) out << "  " << line << "\n";
  out << "\nC++     tenon::optim::" << name << ", " << name << "Options, " << name
      << "ParamState: " << file << ".h, " << file << ".cpp\n"
      << "Python  tenon.optim." << name << ": python/optim/" << one.module() << ".py";
  std::string switches;
  for (const schema::Argument& option : one.schema.args)
    if (is_switch(option.name)) switches += (switches.empty() ? "" : ", ") + option.name;
  out << (switches.empty() ? "" : "; alone has " + switches) << "\n";
  if (!one.base.empty()) {
    out << "\nextends " << one.base;
    for (const auto& [option, value] : one.fixed) out << " with " << option << "=" << value;
    out << "\n";
  }
  out << "\nrefuses, unless\n";
  for (const RangeCheck& check : one.checks)
    out << "  " << as_written(check.condition) << ": " << check.message << "\n";
  out << "\nkeeps of each parameter\n";
  for (const StateItem& item : one.states) {
    out << "  " << item.name.text << ": " << start_of(item);
    if (item.when) out << ", if " << as_written(*item.when);
    out << "\n";
  }
  out << "\na step\n";
  for (const Statement& statement : one.update) {
    out << "  ";
    if (!statement.target.empty()) out << statement.target << " " << statement.operation << " ";
    out << as_written(statement.value) << "\n";
  }
  const Operator* op = find_operator(model, one.call()->value.text);
  if (const Update* update = op->as<Update>()) {
    out << "\nwith\n";
    for (const NamedExpressions::Part& part : update->parts)
      out << "  " << part.name.text << " = " << part.expression.text << "\n";
  }
  return true;
}

}  // namespace tenon::codegen::optimizers
