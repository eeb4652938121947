// Whose memory values of formulas are in: what they write to, and what is gone when it is read.

#include <algorithm>

#include "codegen/check/formula_checker.h"
#include "codegen/model/vocabulary.h"

namespace tenon::codegen {

namespace {

/// Methods written by hand that give the tensor itself, or its memory.
const std::vector<std::string> kSameMemory = {"data", "detach", "detach_", "requires_grad_",
                                              "set_requires_grad"};

}  // namespace

std::string FormulaChecker::owner(const Tree& tree) const {
  switch (tree.kind) {
  case FormulaKind::kName: {
    const auto local = locals_.find(tree.text);
    return local != locals_.end() ? local->second.owner : tree.text;
  }
  case FormulaKind::kParentheses:
  case FormulaKind::kIndex: return owner(tree.children[0]);
  case FormulaKind::kUnary: return tree.operation == "*" ? owner(tree.children[0]) : "";
  case FormulaKind::kTernary: return first_owner({&tree.children[1], &tree.children[2]});
  case FormulaKind::kCall: break;
  default: return {};
  }
  const Tree& callee = tree.children[0];
  if (const auto found = called_.find(&tree); found != called_.end()) {
    std::vector<const Tree*> shared;
    for (const auto& [argument, value] : given(tree, *found->second)) {
      if (shares_memory(*found->second, *argument)) shared.push_back(value);
    }
    return first_owner(shared);
  }
  if (callee.kind == FormulaKind::kMember)
    return contains(kSameMemory, callee.text) ? owner(callee.children[0]) : "";
  if (callee.text == "value_or" && tree.children.size() == 3)
    return first_owner({&tree.children[1], &tree.children[2]});
  const bool gets = callee.text.starts_with("std::get<") && tree.children.size() == 2;
  return gets ? owner(tree.children[1]) : "";
}

std::string FormulaChecker::first_owner(const std::vector<const Tree*>& values) const {
  for (const Tree* value : values) {
    if (std::string name = owner(*value); !name.empty()) return name;
  }
  return {};
}

bool FormulaChecker::is_borrowed(const Tree& tree) const {
  switch (tree.kind) {
  case FormulaKind::kName: {
    if (const auto local = locals_.find(tree.text); local != locals_.end())
      return local->second.borrowed;
    const schema::Argument* argument = derivative_.schema.find_arg(tree.text);
    return argument != nullptr && argument->type.is_list();
  }
  case FormulaKind::kParentheses:
  case FormulaKind::kUnary: return is_borrowed(tree.children[0]);
  case FormulaKind::kTernary: return is_borrowed(tree.children[1]) && is_borrowed(tree.children[2]);
  default: return false;
  }
}

void FormulaChecker::check_outlived(const Tree& value) {
  if (value.kind != FormulaKind::kCall || value.children[0].kind != FormulaKind::kMember) return;
  const Tree& callee = value.children[0];
  const Tree* object = &callee.children[0];
  while (object->kind == FormulaKind::kParentheses || object->kind == FormulaKind::kUnary)
    object = &object->children[0];
  const bool refers = callee.text == "sizes" || callee.text == "strides";
  if (!refers || object->kind == FormulaKind::kName) return;
  error(value, "these " + callee.text + " are gone with their tensor: give it a name first");
}

FormulaChecker::Given FormulaChecker::given(const Tree& tree, const Overload& overload) {
  Given all;
  if (overload.object != nullptr) all.emplace_back(overload.object, &tree.children[0].children[0]);
  for (size_t i = 0; i + 1 < tree.children.size() && i < overload.parameters.size(); ++i)
    all.emplace_back(overload.parameters[i].argument, &tree.children[i + 1]);
  return all;
}

void FormulaChecker::check_written(const Tree& tree, const std::string& name,
                                   const Overload& overload) {
  for (const auto& [argument, value] : given(tree, overload)) {
    if (!argument->is_mutable()) continue;
    const std::string written = owner(*value);
    const schema::Argument* own = derivative_.schema.find_arg(written);
    const bool tangent = own == nullptr && written.ends_with("_t");
    if (written.empty() || tangent || (own != nullptr && own->is_mutable())) {
      const bool by_reference = argument != overload.object && argument->type.is_tensor();
      if (by_reference) check_lvalue(tree, name, *value);
      continue;
    }
    const std::string plain = name.substr(0, name.size() - 1);
    const bool functional =
        name.ends_with('_') && (overload.object ? methods_ : functions_).contains(plain);
    error_at_name(tree.children[0], name.size(),
                  "`" + name + "` writes to `" + written +
                      (is_composition() ? "`, which the schema does not say"
                                        : "`, which is not the formula's"),
                  functional ? plain : "");
    return;
  }
}

bool FormulaChecker::has_written(const Tree& call) const {
  const auto found = called_.find(&call);
  if (found == called_.end()) return false;
  const Given all = given(call, *found->second);
  return std::any_of(all.begin(), all.end(), [&](const auto& one) {
    const schema::Argument* own = derivative_.schema.find_arg(owner(*one.second));
    return one.first->is_mutable() && own != nullptr && own->is_mutable();
  });
}

void FormulaChecker::check_writes(const Tree& result) {
  std::vector<const Tree*> rest = {&result};
  for (size_t i = 0; i < rest.size(); ++i) {
    const Tree& tree = *rest[i];
    const schema::Argument* own = derivative_.schema.find_arg(tree.text);
    if (tree.kind == FormulaKind::kTernary) {
      rest.insert(rest.end(), {&tree.children[1], &tree.children[2]});
    } else if (tree.kind == FormulaKind::kParentheses) {
      rest.push_back(&tree.children[0]);
    } else if (!(tree.kind == FormulaKind::kName && own != nullptr && own->is_mutable()) &&
               !has_written(tree)) {
      const bool call = tree.kind == FormulaKind::kCall && called_.contains(&tree);
      const std::string name = call ? tree.children[0].text : "";
      const std::string message = "this writes to no argument, which the schema says";
      if (!name.empty() && (methods_.contains(name + "_") || functions_.contains(name + "_"))) {
        error_at_name(tree.children[0], name.size(), message, name + "_");
      } else {
        error(tree, message);
      }
      return;
    }
  }
}

void FormulaChecker::check_lvalue(const Tree& tree, const std::string& name, const Tree& value) {
  const bool variable = value.kind == FormulaKind::kName && !locals_.contains(value.text) &&
                        derivative_.schema.find_arg(value.text) != nullptr;
  if (variable) return;
  const bool method = &value == &tree.children[1] && methods_.contains(name);
  error_at_name(tree.children[0], name.size(),
                "`" + name + "` as a function writes to arguments alone" +
                    (method ? "; `x." + name + "()` writes to any tensor" : ""));
}

}  // namespace tenon::codegen
