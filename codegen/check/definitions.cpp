// Functions of expressions: `define`.

#include <map>
#include <set>
#include <string>

#include "codegen/check/rules.h"
#include "codegen/expr/graph/parse.h"
#include "codegen/meaning/expression.h"
#include "codegen/meaning/operands.h"
#include "codegen/meaning/row_expression.h"

namespace tenon::codegen::rules {

void definition(const Model& model, DiagnosticSink& sink) {
  std::map<std::string, const Definition*> seen;
  std::set<std::string> of_base;
  for (const expr::Function& function : model.functions()) {
    if (function.of_base && !function.opaque) of_base.insert(function.name);
  }
  for (const Definition& one : model.definitions()) {
    const auto [before, fresh] = seen.try_emplace(one.name.text, &one);
    if (!fresh) {
      sink.report({Severity::kError,
                   one.name.location,
                   "`" + one.name.text + "` is defined twice",
                   {{before->second->name.location, "the first is here"}},
                   {}});
      continue;
    }
    if (is_function_of_expressions(one.name.text)) {
      sink.error(one.name.location, "`" + one.name.text + "` is a function of expressions already");
    }
    for (const Operator& op : model.operators()) {
      if (op.base_name() != one.name.text || (!op.as<Pointwise>() && !op.overload_set())) continue;
      sink.report({Severity::kError,
                   one.name.location,
                   "`" + one.name.text + "` is an operator, which expressions can call",
                   {{op.location, "it is declared here"}},
                   {}});
      break;
    }
    if (of_base.contains(one.name.text)) {
      sink.error(one.name.location, "`" + one.name.text +
                                        "` is a function of the library that this "
                                        "one adds to");
    }
    std::vector<expr::Parameter> parameters;
    bool distinct = true;
    for (const LocatedName& parameter : one.parameters) {
      if (!uses_name(one.body.text, parameter.text)) {
        sink.error(parameter.location,
                   "the expression does not use the parameter `" + parameter.text + "`");
      }
      for (const expr::Parameter& other : parameters) {
        if (other.name != parameter.text) continue;
        sink.error(parameter.location, "the parameter `" + parameter.text + "` is given twice");
        distinct = false;
      }
      parameters.push_back({.name = parameter.text});
    }
    if (!distinct) continue;
    std::vector<expr::ExprError> mistakes =
        expr::parse_expressions({one.body.text}, parameters, model.functions(), "", one.name.text)
            .errors;
    if (!mistakes.empty()) {
      // It may be of rows, as which it has fewer then.
      const auto in_rows = mistakes_in_rows(one, model.functions());
      if (in_rows.size() < mistakes.size()) mistakes = in_rows;
    }
    report(one.body, mistakes, sink);
  }
}

}  // namespace tenon::codegen::rules
