// `alias`: other names of operators.

#include <algorithm>
#include <iterator>

#include "codegen/check/rules.h"
#include "codegen/schema/printer.h"
#include "codegen/schema/suggest.h"

namespace tenon::codegen::rules {

namespace {

/// What an alias may not change: types, which arguments are written, what is returned.
std::string shape_of(const schema::FunctionSchema& schema) {
  schema::FunctionSchema bare = schema;
  bare.ns.clear();
  bare.name = "f";
  bare.overload.clear();
  for (size_t i = 0; i < bare.args.size(); ++i) {
    bare.args[i].name = "a" + std::to_string(i);
    bare.args[i].default_value.reset();
    bare.args[i].kwarg_only = false;
  }
  for (schema::Return& ret : bare.returns) ret.name.clear();
  return schema::to_string(bare);
}

}  // namespace

void alias_target(const Entry& entry) {
  const Operator& op = entry.op;
  DiagnosticSink& sink = entry.sink;
  if (!op.is<AliasOf>()) {
    if (entry.has("of")) sink.error(entry.at_key("of"), "`of` needs `alias`");
    return;
  }
  for (const LocatedName& key : op.keys) {
    constexpr std::string_view kKeys[] = {"alias",         "of",       "variants",
                                          "python_module", "out_name", "cpp_no_default_args"};
    if (std::find(std::begin(kKeys), std::end(kKeys), key.text) != std::end(kKeys)) continue;
    sink.error(key.location,
               "an alias is another name of its operator, which alone can have `" + key.text + "`");
  }
  const std::optional<LocatedName>& target = op.as<AliasOf>()->of;
  if (!target) {
    if (!entry.has("of") && !entry.has_unknown_key()) {
      sink.error(op.location, "an alias needs `of`, the operator that it is another name of");
    }
    return;
  }
  const std::string& wanted = target->text;
  const OperatorRef* found = entry.model.find(wanted);
  if (found == nullptr) {
    if (!entry.model.complete() || entry.model.is_broken(wanted)) return;
    std::vector<std::string> names;
    for (const Operator& other : entry.model.operators()) {
      if (!other.is<AliasOf>()) names.push_back(other.name());
    }
    sink.error(target->location, "`of` names no operator of this library: `" + wanted + "`",
               schema::nearest(wanted, names));
    return;
  }
  const Operator& of = entry.model.op(*found);
  if (of.is<AliasOf>() || found->variant != 0) {
    sink.error(target->location,
               "`" + wanted + "` is " + (of.is<AliasOf>() ? "an alias itself" : "a derived form"),
               of.is<AliasOf>() && of.as<AliasOf>()->of ? of.as<AliasOf>()->of->text : of.name());
    return;
  }
  if (of.schema.ns != op.schema.ns) {
    sink.error(op.at(op.schema.name_span), "an alias has the namespace of its operator, `" +
                                               (of.schema.ns.empty() ? "aten" : of.schema.ns) +
                                               "`");
  }
  if (shape_of(of.schema) != shape_of(op.schema)) {
    sink.report({Severity::kError,
                 op.at(op.schema.name_span),
                 "an alias takes and returns what its operator does, `" +
                     schema::to_string(of.schema) + "`",
                 {{of.location, "the operator is here"}},
                 {}});
  }
  const bool more = (op.variants.method && !of.variants.method) ||
                    (op.variants.inplace && !of.variants.inplace) ||
                    (op.variants.out && !of.variants.out);
  if (more) sink.error(op.variants_location, "an alias has no form that `" + wanted + "` has not");
}

}  // namespace tenon::codegen::rules
