#include <algorithm>

#include "codegen/check/rules.h"
#include "codegen/meaning/row_expression.h"
#include "codegen/model/foreach.h"
#include "codegen/schema/printer.h"

namespace tenon::codegen::rules {

using schema::SchemaKind;

void method_needs_self(const Entry& entry) {
  if (!entry.op.variants.method) return;
  const schema::Argument* self = entry.schema().self();
  const bool fits = self != nullptr && self->type.is_tensor();
  if (fits) return;
  entry.sink.error(entry.op.variants_location,
                   "a method needs the positional argument `Tensor self`");
}

void method_of_module(const Entry& entry) {
  if (!entry.op.variants.method || !entry.op.python_module) return;
  entry.sink.error(entry.op.variants_location, "an operator of python_module `" +
                                                   entry.op.python_module->text +
                                                   "` cannot be a method");
}

void derivable_inplace(const Entry& entry) {
  if (!entry.op.variants.inplace) return;
  if (derive_inplace(entry.schema())) {
    const std::vector<schema::Argument>& args = entry.schema().args;
    const auto first = std::find_if(args.begin(), args.end(), [](const schema::Argument& arg) {
      return arg.type.holds_tensors();
    });
    if (!entry.op.is<Foreach>() && first != args.end() && first->name != "self") {
      entry.sink.error(entry.op.variants_location,
                       "an in-place form writes to `self`, which must be the first tensor: `" +
                           first->name + "` stands before it");
      return;
    }
    if (entry.op.as<Rowwise>()) {
      DiagnosticSink reported;  // by rowwise_expression
      const std::optional<RowExpression> row = parse_rowwise(entry.op, reported);
      if (!row || !reduces(*row)) return;
      entry.sink.error(entry.op.variants_location,
                       "no in-place form follows from this expression: the result has one value "
                       "per row, `self` has the elements");
      return;
    }
    if (!entry.op.is<Foreach>() || !entry.op.composition()) return;
    const expr::FormulaResult parsed = expr::parse_formula(entry.op.composition()->text.text);
    if (!parsed.ok() || written_to_self(entry.op, parsed.formula)) return;
    entry.sink.error(entry.op.composition()->text.location,
                     "no in-place form follows from this expression: it needs a call of an "
                     "operator that has one, `f(self, ...)`");
    return;
  }
  entry.sink.error(entry.op.variants_location,
                   "no in-place form follows from this schema: it needs `Tensor self` and the one "
                   "return `Tensor`, or lists of them, without annotations");
}

void derivable_out(const Entry& entry) {
  if (!entry.op.variants.out || derive_out(entry.schema(), out_overload(entry.op))) return;
  entry.sink.error(entry.op.variants_location,
                   "no out form follows from this schema: every return must be a Tensor or a list "
                   "of them, and nothing may be annotated");
}

void out_name_needs_out(const Entry& entry) {
  if (!entry.op.out_name || entry.op.variants.out) return;
  entry.sink.error(entry.op.out_name->location,
                   "`out_name` names the derived out form; add `out` to `variants`");
}

void out_function_only(const Entry& entry) {
  if (entry.kind() != SchemaKind::kOut || !entry.op.variants.method) return;
  entry.sink.error(entry.op.variants_location, "an out schema can only be a function");
}

}  // namespace tenon::codegen::rules
