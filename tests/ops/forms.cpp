#include "tests/ops/forms.h"

#include <set>

#include "codegen/schema/parser.h"

namespace tenon::ops_test {
namespace {

using schema::FunctionSchema;

struct Parsed {
  OperatorEntry* op;
  FunctionSchema schema;
};

bool same_inputs(const FunctionSchema& a, const FunctionSchema& b) {
  const auto left = a.non_out_args(), right = b.non_out_args();
  if (left.size() != right.size()) return false;
  for (size_t i = 0; i < left.size(); ++i) {
    if (left[i]->name != right[i]->name || left[i]->type != right[i]->type) return false;
  }
  return true;
}

std::map<std::string, Forms, std::less<>> collect() {
  std::vector<Parsed> all;
  for (OperatorEntry* op : all_operators()) {
    const auto parsed = schema::parse_schema(op->info->schema);
    TENON_CHECK(parsed.ok(), op->qualified_name(),
                " has a schema that does not parse: ", op->info->schema);
    all.push_back({op, *parsed.schema});
  }
  std::map<std::string, Forms, std::less<>> forms;
  std::set<const OperatorEntry*> derived;
  for (const Parsed& base : all) {
    if (base.schema.kind() != schema::SchemaKind::kFunctional) continue;
    Forms form{base.op, base.schema};
    for (const Parsed& other : all) {
      if (!same_inputs(base.schema, other.schema)) continue;
      if (other.schema.is_inplace() && other.schema.name == base.schema.name + "_" &&
          other.schema.overload == base.schema.overload) {
        form.inplace = other.op;
        derived.insert(other.op);
      } else if (other.schema.is_out() && other.schema.name == base.schema.name) {
        form.out = other.op;
        derived.insert(other.op);
      }
    }
    forms.emplace(base.schema.full_name(), std::move(form));
  }
  for (const Parsed& other : all) {
    Forms form{other.op, other.schema};
    form.derived = derived.count(other.op) > 0;
    forms.emplace(other.schema.full_name(), std::move(form));
  }
  return forms;
}

}  // namespace

const std::map<std::string, Forms, std::less<>>& all_forms() {
  static const auto forms = collect();
  return forms;
}

}  // namespace tenon::ops_test
