// Conventions of upstream's files that our dialect states in other ways: there a structured
// operator is its out form, silence means CompositeImplicit, and forms are written out one by one.

#include <algorithm>
#include <map>

#include "codegen/check/rules.h"
#include "codegen/model/signature.h"
#include "codegen/model/vocabulary.h"
#include "codegen/schema/printer.h"
#include "codegen/schema/suggest.h"

namespace tenon::codegen::rules {

namespace {

using schema::Argument;
using schema::SchemaKind;

const std::vector<std::string>& structured_keys() {
  static const std::vector<std::string> keys = {"CPU", "CUDA", "MPS", "XPU", "MTIA"};
  return keys;
}

std::string out_name_of(const Family& family) {
  const Form* out = family.find(SchemaKind::kOut);
  return out == nullptr ? "" : out->schema.qualified_name();
}

}  // namespace

void structured_out(const Entry& entry) {
  if (!entry.op.is<Structured>()) return;
  if (entry.kind() != SchemaKind::kOut) {
    entry.sink.error(entry.at_key("structured"),
                     "`structured` belongs to the out schema; other forms name it in "
                     "`structured_delegate`");
  }
  if (!entry.op.upstream.device_guard) {
    entry.sink.error(entry.at_key("device_guard"), "a structured operator needs its device guard");
  }
}

void delegated_kernel(const Entry& entry) {
  if (!entry.op.as<Delegate>()) return;
  for (const DispatchEntry& kernel : entry.op.dispatch) {
    if (!contains(structured_keys(), kernel.key)) continue;
    entry.sink.report({Severity::kError,
                       kernel.key_location,
                       "the kernel for `" + kernel.key + "` already comes from `" +
                           entry.op.as<Delegate>()->of.text + "`",
                       {{entry.at_key("structured_delegate"), "it is named here"}},
                       {}});
  }
}

void redundant_dispatch(const Entry& entry) {
  const std::vector<DispatchEntry>& dispatch = entry.op.dispatch;
  if (dispatch.size() != 1 || dispatch[0].key != "CompositeImplicitAutograd") return;
  // A kernel that takes symbolic sizes has to say so by its name.
  const bool symbolic = dispatch[0].kernel.find("_symint") != std::string::npos;
  if (symbolic || entry.op.as<Delegate>()) return;
  entry.sink.error(dispatch[0].key_location,
                   "a sole `CompositeImplicitAutograd` is what leaving out `dispatch` means; call "
                   "the kernel `" +
                       entry.schema().name + "` and leave it out");
}

void explicit_factory(const Entry& entry) {
  const schema::FunctionSchema& schema = entry.schema();
  if (entry.has("dispatch") || entry.op.is<Structured>() || entry.op.as<Delegate>()) return;
  const bool takes_tensor =
      std::any_of(schema.args.begin(), schema.args.end(), [](const Argument& arg) {
        return arg.type.holds_tensors() && !(arg.kwarg_only && arg.is_mutable());
      });
  const bool factory = schema.name.starts_with("new_") || schema.name.ends_with("_like") ||
                       (schema.tensor_options() && !takes_tensor);
  if (!factory) return;
  entry.sink.error(entry.op.at(schema.name_span),
                   "`" + entry.op.name() +
                       "` makes tensors, so it needs a `dispatch` that says it does not decompose "
                       "(CompositeExplicitAutograd)");
}

void foreach_device_check(const Entry& entry) {
  if (!entry.schema().name.starts_with("_foreach")) return;
  if (entry.op.upstream.device_check == DeviceCheck::kNoCheck) return;
  entry.sink.error(entry.op.at(entry.schema().name_span),
                   "`" + entry.schema().name +
                       "` takes tensors of several devices: add `device_check: NoCheck`");
}

void structured_family(const Model& model, const Family& family, DiagnosticSink& sink) {
  if (lacks_form(model, family)) return;
  const std::string out = out_name_of(family);
  const bool structured =
      std::any_of(family.forms.begin(), family.forms.end(), [&](const Form& form) {
        return form.origin == Form::Origin::kEntry && model.operators()[form.op].is<Structured>();
      });
  bool has_functional = false;
  for (const Form& form : family.forms) {
    has_functional = has_functional || form.kind == SchemaKind::kFunctional;
    if (form.origin != Form::Origin::kEntry) continue;
    const Operator& op = model.operators()[form.op];
    if (op.is<Structured>()) continue;
    if (structured && !op.as<Delegate>()) {
      sink.error(op.at(op.schema.name_span), "`" + op.name() + "` is a form of the structured `" +
                                                 out + "`: add `structured_delegate: " + out + "`");
    } else if (op.as<Delegate>() && op.as<Delegate>()->of.text != out &&
               model.find(op.as<Delegate>()->of.text) != nullptr) {
      const std::string what = out.empty() ? "it has none" : "that is `" + out + "`";
      sink.error(op.as<Delegate>()->of.location, "`" + op.as<Delegate>()->of.text +
                                                     "` is not the out form of `" + op.name() +
                                                     "`: " + what);
    }
  }
  if (!structured || has_functional) return;
  const Operator& op = model.operators()[family.forms.front().op];
  sink.error(op.at(op.schema.name_span),
             "the structured `" + op.name() + "` has no functional form");
}

void view_copies(const Model& model, DiagnosticSink& sink) {
  std::map<std::string, const Form*> copies;
  for (const Family& family : model.families()) {
    for (const Form& form : family.forms) {
      const schema::FunctionSchema key = view_signature(form.schema);
      const bool copies_view = form.kind == SchemaKind::kFunctional &&
                               form.origin == Form::Origin::kEntry &&
                               key.name != signature(form.schema).name;
      if (copies_view) copies.try_emplace(schema::to_string(key), &form);
    }
  }
  for (const Operator& op : model.operators()) {
    const bool needs = op.is_view() && !op.schema.is_inplace_name() &&
                       !op.schema.base_name().ends_with("_inverse") &&
                       !op.is_composite_implicit(model.dialect());
    if (!needs) continue;
    const auto copy = copies.find(schema::to_string(signature(op.schema)));
    if (copy == copies.end()) {
      if (model.has_broken_form(op.schema.name + "_copy")) continue;
      std::string wanted = op.schema.name + "_copy";
      if (!op.schema.overload.empty()) wanted += "." + op.schema.overload;
      sink.error(op.at(op.schema.name_span),
                 "the view `" + op.name() + "` needs a form that copies, `" + wanted + "`");
      continue;
    }
    const Operator& copying = model.operators()[copy->second->op];
    if (copying.has_tag("view_copy")) continue;
    sink.report(
        {Severity::kError,
         copying.at(copying.schema.name_span),
         "`" + copying.name() + "` copies what a view shows, so it needs the tag `view_copy`",
         {{op.location, "the view is declared here"}},
         {}});
  }
}

}  // namespace tenon::codegen::rules
