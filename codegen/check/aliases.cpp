#include <algorithm>

#include "codegen/check/rules.h"
#include "codegen/schema/printer.h"

namespace tenon::codegen::rules {

namespace {

using schema::Alias;
using schema::Argument;
using schema::Return;
using schema::SchemaKind;

bool shares_set(const Alias& a, const Alias& b) {
  return std::any_of(a.before.begin(), a.before.end(), [&](char letter) {
    return std::find(b.before.begin(), b.before.end(), letter) != b.before.end();
  });
}

}  // namespace

bool lacks_write(const schema::FunctionSchema& schema) {
  const Argument* self = schema.self();
  return schema.is_inplace_name() && (self == nullptr || !self->is_mutable());
}

void inplace_schema(const Entry& entry) {
  const schema::FunctionSchema& schema = entry.schema();
  if (!schema.is_inplace_name()) return;
  const Argument* self = schema.self();
  if (lacks_write(schema)) {
    entry.sink.error(entry.op.at(self != nullptr ? self->span : schema.name_span),
                     "in-place `" + schema.name + "` must write to self: `Tensor(a!) self`");
    return;
  }
  if (self->type.is_tensor_list()) {
    if (!schema.returns.empty()) {
      entry.sink.error(entry.op.at(schema.returns_span),
                       "in-place `" + schema.name + "` on a list of tensors returns `()`, got `" +
                           schema::returns_to_string(schema.returns) + "`");
    }
    return;
  }
  const bool returns_self = schema.returns.size() == 1 && schema.returns[0].type == self->type &&
                            schema.returns[0].alias == self->alias;
  if (returns_self) return;
  entry.sink.error(entry.op.at(schema.returns_span),
                   "in-place `" + schema.name + "` must return self, `Tensor" +
                       schema::to_string(*self->alias) + "`, got `" +
                       schema::returns_to_string(schema.returns) + "`");
}

void mutable_self(const Entry& entry) {
  const schema::FunctionSchema& schema = entry.schema();
  const Argument* self = schema.self();
  if (self == nullptr || !self->is_mutable() || schema.is_inplace_name() || schema.is_dunder()) {
    return;
  }
  entry.sink.error(entry.op.at(self->span),
                   "`" + schema.name + "` writes to self, so its name must end in `_`",
                   schema.name + "_");
}

std::vector<SchemaProblem> out_problems(const schema::FunctionSchema& schema) {
  std::vector<SchemaProblem> problems;
  std::vector<const Argument*> returned;
  bool after_out = false, all_tensors = true;
  for (const Argument& arg : schema.args) {
    if (!arg.kwarg_only || !arg.is_mutable()) {
      if (after_out) {
        problems.push_back(
            {arg.span, "argument `" + arg.name + "` must stand before the out arguments"});
      }
      continue;
    }
    after_out = true;
    all_tensors = all_tensors && arg.type.is_tensor();
    // Scratch memory is of no use to the caller.
    if (!arg.name.starts_with("_scratch_")) returned.push_back(&arg);
  }
  // A list of tensors can only be written: what returns is for, method chaining, needs a tensor.
  if (!all_tensors) {
    if (!schema.returns.empty()) {
      problems.push_back(
          {schema.returns_span, "an out schema that writes a list of tensors returns `()`, got `" +
                                    schema::returns_to_string(schema.returns) + "`"});
    }
    return problems;
  }
  if (schema.returns.size() != returned.size()) {
    problems.push_back({schema.returns_span, "an out schema returns its out arguments: expected " +
                                                 std::to_string(returned.size()) +
                                                 " returns, got " +
                                                 std::to_string(schema.returns.size())});
    return problems;
  }
  for (size_t i = 0; i < returned.size(); ++i) {
    const Return& ret = schema.returns[i];
    if (ret.type == returned[i]->type && ret.alias == returned[i]->alias) continue;
    problems.push_back({ret.span, "return " + std::to_string(i) + " must be out argument `" +
                                      schema::to_string(*returned[i]) + "`, got `" +
                                      schema::to_string(ret) + "`"});
  }
  return problems;
}

void out_schema(const Entry& entry) {
  if (entry.kind() != SchemaKind::kOut && entry.kind() != SchemaKind::kScratch) return;
  for (SchemaProblem& problem : out_problems(entry.schema())) {
    entry.sink.error(entry.op.at(problem.span), std::move(problem.message));
  }
}

void out_base_name(const Entry& entry) {
  const schema::FunctionSchema& schema = entry.schema();
  if (!schema.name.ends_with("_out")) return;
  const std::string base = schema.name.substr(0, schema.name.size() - 4);
  entry.sink.error(entry.op.at(schema.name_span),
                   "names ending in `_out` are made from out overloads",
                   base + "." + (schema.overload.empty() ? "out" : schema.overload + "_out"));
}

void mutable_returns(const Entry& entry) {
  const schema::FunctionSchema& schema = entry.schema();
  const size_t writing =
      static_cast<size_t>(std::count_if(schema.returns.begin(), schema.returns.end(),
                                        [](const Return& ret) { return ret.is_mutable(); }));
  const bool mixed = writing != 0 && writing != schema.returns.size();
  if (mixed && !schema.is_inplace_name()) {
    entry.sink.error(entry.op.at(schema.returns_span),
                     "either all returns are written arguments or none is, got `" +
                         schema::returns_to_string(schema.returns) + "`");
  }
  for (const Return& ret : schema.returns) {
    if (!ret.is_mutable()) continue;
    const bool known =
        std::any_of(schema.args.begin(), schema.args.end(), [&](const Argument& arg) {
          return arg.is_mutable() && shares_set(*arg.alias, *ret.alias);
        });
    if (!known) {
      entry.sink.error(entry.op.at(ret.span),
                       "`" + schema::to_string(ret) + "` returns memory of no written argument");
    }
  }
}

void view_annotation(const Entry& entry) {
  const schema::FunctionSchema& schema = entry.schema();
  for (const Return& ret : schema.returns) {
    if (!ret.alias || ret.is_mutable()) continue;
    const bool known =
        std::any_of(schema.args.begin(), schema.args.end(), [&](const Argument& arg) {
          return arg.alias && shares_set(*arg.alias, *ret.alias);
        });
    if (!known) {
      entry.sink.error(entry.op.at(ret.span), "`" + schema::to_string(ret) +
                                                  "` is a view of no argument: give the argument " +
                                                  "the annotation `" +
                                                  schema::to_string(*ret.alias) + "`");
    }
  }
  for (const Argument& arg : schema.args) {
    if (!arg.alias || arg.alias->is_write || arg.alias->after_wildcard) continue;
    const bool used =
        std::any_of(schema.returns.begin(), schema.returns.end(), [&](const Return& ret) {
          return ret.alias && shares_set(*arg.alias, *ret.alias);
        });
    if (!used) {
      entry.sink.error(entry.op.at(arg.span), "`" + schema::to_string(arg) +
                                                  "` is viewed by no return: annotate the return " +
                                                  "or write `-> *`");
    }
  }
}

}  // namespace tenon::codegen::rules
