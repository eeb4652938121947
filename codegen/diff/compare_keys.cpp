#include <algorithm>
#include <optional>
#include <set>

#include "codegen/diff/compare_entry.h"

namespace tenon::codegen {
namespace {

using Names = std::set<std::string>;

bool is_composite(const Operator& op) {
  const bool by_key = std::any_of(op.dispatch.begin(), op.dispatch.end(), [](const auto& kernel) {
    return kernel.key.starts_with("Composite");
  });
  return op.composition() != nullptr || op.is<CompositeFunction>() || by_key;
}

/// The dispatch keys that have a kernel; empty for every backend.
std::optional<Names> coverage(const Model& model, const Operator& op) {
  if (is_composite(op)) return std::nullopt;
  Names keys;
  for (const DispatchEntry& kernel : op.dispatch) keys.insert(kernel.key);
  if (op.is<Structured>()) keys.insert("Meta");
  if (op.as<Pointwise>() || op.as<Update>() || op.as<Rowwise>() || op.as<Delegate>()) {
    const OperatorRef* target =
        op.as<Delegate>() ? model.find(op.as<Delegate>()->of.text) : nullptr;
    if (target != nullptr && &model.op(*target) != &op && !model.op(*target).as<Delegate>()) {
      if (const auto delegated = coverage(model, model.op(*target))) keys.merge(Names(*delegated));
    } else {
      keys.merge(Names{"CPU", "CUDA", "Meta"});
    }
  }
  // Upstream's default is CompositeImplicit.
  if (keys.empty()) return std::nullopt;
  return keys;
}

Names without(const Names& names, const Names& others) {
  Names result;
  std::set_difference(names.begin(), names.end(), others.begin(), others.end(),
                      std::inserter(result, result.end()));
  return result;
}

std::string join(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "`" : ", `") + name + "`";
  return text;
}

void compare_coverage(const EntryPair& pair, ChangeList& changes) {
  const auto before = coverage(pair.before_model, pair.old_op());
  const auto after = coverage(pair.after_model, pair.new_op());
  if (before == after) return;
  if (!after) {
    changes.add("added-dispatch", kCompatible, "is now computed on every backend");
    return;
  }
  if (!before) {
    changes.add("removed-dispatch", kBreaksBoth,
                "is now computed by kernels for " + join(*after) + " alone, was on every backend");
    return;
  }
  if (const Names gone = without(*before, *after); !gone.empty()) {
    changes.add("removed-dispatch", kBreaksBoth, "has no kernel any more for " + join(gone));
  }
  if (const Names added = without(*after, *before); !added.empty()) {
    changes.add("added-dispatch", kCompatible, "now has a kernel for " + join(added));
  }
}

Names texts(const std::vector<LocatedName>& names) {
  Names result;
  for (const LocatedName& name : names) result.insert(name.text);
  return result;
}

void compare_tags(const EntryPair& pair, ChangeList& changes) {
  const Names before = texts(pair.old_op().tags), after = texts(pair.new_op().tags);
  if (const Names gone = without(before, after); !gone.empty()) {
    changes.add("tags", kCompatible, "no longer has the tags " + join(gone));
  }
  if (const Names added = without(after, before); !added.empty()) {
    changes.add("tags", kCompatible, "now has the tags " + join(added));
  }
}

std::string python_place(const Operator& op) {
  return op.python_module ? "`" + op.python_module->text + "`" : "none";
}

/// The expressions of `pointwise` as one text, for comparison.
std::string expressions(const Operator& op) {
  std::string text;
  if (op.as<Update>()) {
    for (const auto& part : op.as<Update>()->parts)
      text += part.name.text + ": " + part.expression.text + "\n";
  }
  if (!op.as<Pointwise>()) return text;
  for (const PointwiseCase& one : op.as<Pointwise>()->cases) {
    text += one.output + "/" + one.category + "/" + one.backend + ": " + one.expression.text + "\n";
  }
  return text;
}

}  // namespace

void compare_keys(const EntryPair& pair, ChangeList& changes) {
  const Operator& before = pair.old_op();
  const Operator& after = pair.new_op();
  compare_coverage(pair, changes);
  compare_tags(pair, changes);
  if (python_place(before) != python_place(after)) {
    changes.add("python-module", kBreaksCallers,
                "its Python module is " + python_place(after) + ", was " + python_place(before));
  }
  if (before.as<Pointwise>() && after.as<Pointwise>() && before.promotion != after.promotion) {
    changes.add("promotion", kBreaksBoth,
                "its dtype rule is `" + std::string(to_string(*after.promotion)) + "`, was `" +
                    std::string(to_string(*before.promotion)) + "`");
  }
  const bool both = (before.as<Pointwise>() && after.as<Pointwise>()) ||
                    (before.as<Update>() && after.as<Update>());
  if (both && expressions(before) != expressions(after)) {
    changes.add("expression", kCompatible, "its expression is another");
  }
  const Names required =
      without(texts(after.cpp_no_default_args), texts(before.cpp_no_default_args));
  if (!required.empty()) {
    changes.add("cpp-default", kBreaksCallers, join(required) + " no longer has a default in C++");
  }
}

}  // namespace tenon::codegen
