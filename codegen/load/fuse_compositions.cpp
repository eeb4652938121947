// Compositions whose parts of elements and rows are kernels of their own.

#include <algorithm>

#include "codegen/expr/formulas/formula_names.h"
#include "codegen/load/composition_trees.h"
#include "codegen/load/fused_part.h"
#include "codegen/load/loaders.h"
#include "codegen/schema/parser.h"

namespace tenon::codegen::detail {

namespace {

using expr::Formula;
using expr::FormulaKind;

/// An operator that writes to a tensor: what is computed before and after it differs.
bool writes(const Formula& tree) {
  const std::string& called = tree.kind == FormulaKind::kCall ? tree.children[0].text : tree.text;
  const bool call =
      tree.kind == FormulaKind::kCall && called.ends_with('_') && !called.ends_with("__");
  return call || tree.kind == FormulaKind::kLambda ||
         std::any_of(tree.children.begin(), tree.children.end(), writes);
}

/// `unsqueeze(x, -1)` of a name: what a kernel reads it as depends on who reads it.
bool is_view_of_name(const Formula& tree) {
  if (tree.kind != FormulaKind::kCall || tree.children.size() < 2) return false;
  const Formula& callee = tree.children[0];
  const bool method = callee.kind == FormulaKind::kMember;
  const bool known = callee.text == "unsqueeze" || callee.text == "squeeze";
  const Formula& of = method ? callee.children[0] : tree.children[1];
  return known && tree.children.size() == (method ? 2 : 3) &&
         inner(of).kind == FormulaKind::kName && integer(tree.children.back());
}

void substitute(Formula& tree, const std::string& name, const Formula& text) {
  if (tree.kind == FormulaKind::kName && tree.text == name) {
    tree = text;
    return;
  }
  const bool called =
      tree.kind == FormulaKind::kCall && tree.children[0].kind == FormulaKind::kName;
  for (size_t i = called ? 1 : 0; i < tree.children.size(); ++i)
    substitute(tree.children[i], name, text);
}

/// The composition with locals that only give a name other dimensions at their places.
Formula with_views_in_place(Formula tree) {
  if (tree.kind == FormulaKind::kRepeat || !expr::has_rest(tree)) return tree;
  if (tree.kind == FormulaKind::kLocal && is_view_of_name(tree.children[0])) {
    Formula rest = std::move(tree.children[1]);
    substitute(rest, tree.text, tree.children[0]);
    return with_views_in_place(std::move(rest));
  }
  tree.children[1] = with_views_in_place(std::move(tree.children[1]));
  return tree;
}

/// Partitions one composition: from its result backwards, each kernel takes as many operators as it
/// can.
class Partition {
 public:
  Partition(Operator& op, const OperatorIndex& index, const expr::Functions& functions,
            const std::vector<std::string>& dtypes, std::vector<Operator>& made)
      : op_(op), index_(index), functions_(functions), dtypes_(dtypes), made_(made) {}

  void run() {
    expr::FormulaResult parsed = expr::parse_formula(op_.composition()->text.text);
    if (!parsed.ok() || writes(parsed.formula) || !gives_tensors()) return;
    whole_ = with_views_in_place(std::move(parsed.formula));
    find_locals(whole_);
    // A local that more than one part reads is computed before them.
    size_t kept = 0;
    do {
      kept = outside_.size();
      start();
      fusion_ = {};
      rewrite_all(whole_);
    } while (outside_.size() != kept);
    if (fusion_.parts.empty()) return;
    op_.composition()->fusion = std::move(fusion_);
    for (Operator& one : parts_) made_.push_back(std::move(one));
  }

 private:
  using Trees = FusedPart::Trees;

  bool gives_tensors() const {
    return std::all_of(op_.schema.returns.begin(), op_.schema.returns.end(),
                       [](const auto& one) { return one.type.is_tensor() && !one.alias; });
  }

  void find_locals(const Formula& tree) {
    for (const Formula* rest = &tree; expr::has_rest(*rest); rest = &rest->children[1]) {
      if (rest->kind == FormulaKind::kLocal) locals_[rest->text] = &rest->children[0];
      if (rest->kind != FormulaKind::kLocal) has_checks_ = true;
    }
  }

  FusedPart new_part() const { return {op_, index_, functions_, dtypes_, fusible_, kept_}; }

  /// Which locals a kernel may compute.
  void start() {
    parts_.clear();
    num_parts_ = 0;
    uses_.clear();
    fusible_.clear();
    kept_.clear();
    for (bool more = true; more;) {
      more = false;
      for (const auto& [name, tree] : locals_) {
        if (fusible_.contains(name) || kept_.contains(name)) continue;
        const bool ready = std::all_of(
            locals_.begin(), locals_.end(), [&, &name = name, &tree = tree](const auto& other) {
              return other.first == name || fusible_.contains(other.first) ||
                     kept_.contains(other.first) || !expr::uses_name(*tree, other.first);
            });
        if (!ready) continue;
        more = true;
        FusedPart part = new_part();
        if (!outside_.contains(name) && part.add_result(*tree)) {
          fusible_[name] = tree;
        } else {
          kept_[name] = part.type_of(*tree);
        }
      }
    }
  }

  void rewrite_all(const Formula& whole) {
    std::string text;
    const Formula* rest = &whole;
    bool plain = !has_checks_;
    for (; expr::has_rest(*rest); rest = &rest->children[1]) {
      const bool local = rest->kind == FormulaKind::kLocal;
      if (local && fusible_.contains(rest->text)) continue;
      plain = false;
      text += (local ? rest->text + " = " : "") + rewrite(rest->children[0]) + "; ";
    }
    if (plain && fuse_whole(*rest)) return;
    text += rewrite(*rest);
    for (const auto& [name, tree] : fusible_) {
      // What nothing reads is reported.
      if (uses_[name] != 1) outside_.insert(name);
    }
    fusion_.text = fusion_.parts.empty() ? "" : text;
  }

  static std::vector<const Formula*> results_of(const Formula& tree) {
    std::vector<const Formula*> results;
    if (tree.kind != FormulaKind::kCall || tree.children[0].text != "std::make_tuple")
      return {&tree};
    for (size_t i = 1; i < tree.children.size(); ++i) results.push_back(&tree.children[i]);
    return results;
  }

  /// The kernel of all results; nothing where it would be of one operator.
  std::optional<FusedPart> part_of(const Formula& tree) const {
    FusedPart part = new_part();
    for (const Formula* result : results_of(tree)) {
      if (!part.add_result(*result)) return std::nullopt;
    }
    return part.num_operators() < 2 ? std::nullopt : std::optional(std::move(part));
  }

  /// The entry is the guard of one kernel, which takes its arguments.
  bool fuse_whole(const Formula& tree) {
    std::optional<FusedPart> part = part_of(tree);
    if (!part) return false;
    for (const FusedOperand& one : part->operands()) {
      if (one.tree != nullptr && (one.type == "Tensor" || uses_fusible(*one.tree))) return false;
    }
    std::optional<Operator> kernel = part->kernel(name_of("_fused"));
    if (!kernel) return false;
    note(*part, *kernel, &FusedOperand::value, fusion_);
    parts_.push_back(std::move(*kernel));
    return true;
  }

  bool uses_fusible(const Formula& tree) const {
    return std::any_of(fusible_.begin(), fusible_.end(),
                       [&](const auto& local) { return expr::uses_name(tree, local.first); });
  }

  /// `text`: how the operator that calls the kernel writes an operand.
  static void note(const FusedPart& part, const Operator& kernel, std::string FusedOperand::*text,
                   Fusion& fusion) {
    fusion.guard = part.guard(text);
    std::string arguments;
    for (const FusedOperand& one : part.operands()) {
      if (one.role == FusedOperand::Role::kSizes) continue;
      arguments += (arguments.empty() ? "" : ", ") + one.*text;
    }
    fusion.call = kernel.name() + "(" + arguments + ")";
    const bool saves = part.num_results() < kernel.schema.returns.size();
    if (saves) fusion.call = "std::get<0>(" + fusion.call + ")";
    fusion.parts = {
        {kernel.name(), part.num_operators(), part.fused_traffic(), part.unfused_traffic()}};
  }

  /// The text of the tree with calls of parts.
  std::string rewrite(const Formula& tree) {
    if (std::optional<FusedPart> part = part_of(tree)) {
      const std::string number = std::to_string(num_parts_ + 1);
      if (std::optional<Operator> kernel = part->kernel(name_of("_fused" + number))) {
        ++num_parts_;
        return text_of(call_part(*part, std::move(*kernel), tree, name_of("_part" + number)));
      }
    }
    if (std::optional<std::string> filled = rewrite_cat(tree)) return *filled;
    if (tree.kind == FormulaKind::kName && fusible_.contains(tree.text)) {
      outside_.insert(tree.text);
    }
    if (tree.kind == FormulaKind::kLiteral || tree.kind == FormulaKind::kName)
      return expr::print_formula(tree);
    // The children's texts stand for them.
    Formula rewritten = tree;
    for (size_t i = 0; i < rewritten.children.size(); ++i) {
      const bool callee =
          i == 0 && (tree.kind == FormulaKind::kCall || tree.kind == FormulaKind::kTypedBraces);
      Formula& child = rewritten.children[i];
      if (callee && child.kind != FormulaKind::kMember) continue;
      if (callee) {
        child.children[0] = as_text(rewrite(tree.children[0].children[0]));
      } else {
        child = as_text(rewrite(tree.children[i]));
      }
    }
    return expr::print_formula(rewritten);
  }

  static Formula as_text(const std::string& text) {
    Formula name;
    name.text = text;
    return name;
  }

  /// A hidden operator and what the composition passes to it.
  struct Called {
    std::string name;
    std::vector<std::string> types, passed;
    std::vector<bool> is_name;  ///< what is passed is a name, so that it may be passed once
  };

  static std::string text_of(const Called& called) {
    std::string passed;
    for (const std::string& one : called.passed) passed += (passed.empty() ? "" : ", ") + one;
    return called.name + "(" + passed + ")";
  }

  /// Makes a hidden composition that calls the kernel, or the operators.
  Called call_part(const FusedPart& part, Operator kernel, const Formula& tree,
                   const std::string& name) {
    for (const std::string& local : part.used_locals()) ++uses_[local];
    std::string arguments;
    Called called = {name, {}, {}, {}};
    std::map<const Formula*, std::string> operands;
    for (const FusedOperand& one : part.operands()) {
      arguments += (arguments.empty() ? "" : ", ") + one.type + " " + one.name;
      called.types.push_back(one.type);
      called.passed.push_back(one.tree == nullptr ? one.value : rewrite(*one.tree));
      called.is_name.push_back(one.tree == nullptr);
      if (one.tree != nullptr) operands[one.tree] = one.name;
    }
    std::string returns = "Tensor";
    for (size_t i = 1; i < part.num_results(); ++i) returns += ", Tensor";
    if (part.num_results() > 1) returns = "(" + returns + ")";
    Composition unfused;
    unfused.text = {unfused_text(part, tree, operands), op_.composition()->text.location, {}};
    unfused.fusion.emplace();
    note(part, kernel, &FusedOperand::name, *unfused.fusion);
    fusion_.parts.push_back(unfused.fusion->parts[0]);
    add_hidden(kernel, name + "(" + arguments + ") -> " + returns, std::move(unfused));
    parts_.push_back(std::move(kernel));
    return called;
  }

  /// A composition with the other properties of a kernel.
  void add_hidden(const Operator& kernel, const std::string& schema, Composition composition) {
    Operator made = kernel;
    made.fused_dtypes.reset();
    made.variants.out = false;
    made.schema_text.text = schema;
    made.schema = *schema::parse_schema(schema).schema;
    for (LocatedName& key : made.keys) {
      if (key.text == "pointwise" || key.text == "rowwise") key.text = "composite";
    }
    std::erase_if(made.keys, [](const LocatedName& key) { return key.text == "over"; });
    made.computation = std::move(composition);
    parts_.push_back(std::move(made));
  }

  /// `cat({f(x), g(y)}, d)` of kernels of elements: a hidden composition whose kernels write to the
  /// parts of one tensor, if no gradient is recorded. Nothing for other trees.
  std::optional<std::string> rewrite_cat(const Formula& tree) {
    const bool is_cat = tree.kind == FormulaKind::kCall && tree.children.size() == 3 &&
                        tree.children[0].kind == FormulaKind::kName &&
                        tree.children[0].text == "cat" && integer(tree.children[2]) &&
                        inner(tree.children[1]).kind == FormulaKind::kBraces;
    const std::vector<const Operator*>& cat = index_.find("cat", op_.schema.ns);
    if (!is_cat || cat.empty() || index_.is_own(*cat[0])) return std::nullopt;
    const std::vector<Formula>& trees = inner(tree.children[1]).children;
    std::vector<std::pair<FusedPart, Operator>> kernels;
    for (const Formula& one : trees) {
      std::optional<FusedPart> part = part_of(one);
      const std::string number = std::to_string(num_parts_ + kernels.size() + 1);
      std::optional<Operator> kernel =
          part ? part->kernel(name_of("_fused" + number)) : std::nullopt;
      if (!kernel || !kernel->as<Pointwise>() || part->num_results() != 1 ||
          !part->gives_elements())
        return std::nullopt;
      kernel->variants.out = true;
      kernels.emplace_back(std::move(*part), std::move(*kernel));
    }
    Called whole;
    std::string guard, operands, calls, unfused;
    Composition composition;
    composition.fusion.emplace();
    for (size_t k = 0; k < kernels.size(); ++k) {
      auto& [part, kernel] = kernels[k];
      ++num_parts_;
      Called called =
          call_part(part, kernel, trees[k], name_of("_part" + std::to_string(num_parts_)));
      std::vector<std::string> names;
      std::string tensors, passed;
      size_t num_tensors = 0;
      for (size_t i = 0; i < called.passed.size(); ++i) {
        size_t at = 0;
        const auto same = [&] {
          return called.is_name[i] && whole.is_name[at] && whole.types[at] == called.types[i] &&
                 whole.passed[at] == called.passed[i];
        };
        while (at < whole.passed.size() && !same()) ++at;
        if (at == whole.passed.size()) {
          whole.types.push_back(called.types[i]);
          whole.passed.push_back(called.passed[i]);
          whole.is_name.push_back(called.is_name[i]);
        }
        names.push_back("x" + std::to_string(at));
        const bool tensor = called.types[i] == "Tensor";
        passed += ", " + (tensor ? "in[" + std::to_string(num_tensors++) + "]" : names.back());
        if (tensor) tensors += (tensors.empty() ? "" : ", ") + names.back();
      }
      part.name_operands(names);
      guard += " && " + part.guard(&FusedOperand::name);
      operands += (k == 0 ? "{" : ", {") + tensors + "}";
      const std::string to_part = kernel.name() + "_out(out" + passed + ")";
      calls += "if (part == " + std::to_string(k) + ") " + to_part + "; ";
      called.passed = names;
      unfused += (k == 0 ? "" : ", ") + text_of(called);
      composition.fusion->parts.push_back(
          {kernel.name(), part.num_operators(), part.fused_traffic(), part.unfused_traffic()});
    }
    const std::string dim = *integer(tree.children[2]);
    composition.text = {
        "cat({" + unfused + "}, " + dim + ")", op_.composition()->text.location, {}};
    composition.fusion->guard = "tenon::native::can_fill_parts({" + operands + "})" + guard;
    composition.fusion->call =
        "tenon::native::filled_parts({" + operands + "}, " + dim +
        ", [&](size_t part, tenon::Tensor& out, const tenon::Tensor* in) { " + calls + "})";
    whole.name = name_of("_cat" + std::to_string(num_parts_));
    std::string arguments;
    for (size_t i = 0; i < whole.types.size(); ++i)
      arguments += (i == 0 ? "" : ", ") + whole.types[i] + " x" + std::to_string(i);
    add_hidden(kernels[0].second, whole.name + "(" + arguments + ") -> Tensor",
               std::move(composition));
    return text_of(whole);
  }

  /// The part as it is written, of its operands.
  std::string unfused_text(const FusedPart& part, const Formula& tree,
                           const std::map<const Formula*, std::string>& operands) const {
    std::string text;
    for (const Formula* rest = &whole_; expr::has_rest(*rest); rest = &rest->children[1]) {
      if (rest->kind == FormulaKind::kLocal && part.used_locals().contains(rest->text))
        text += rest->text + " = " + of_operands(*fusible_.at(rest->text), operands) + "; ";
    }
    return text + of_operands(tree, operands);
  }

  static std::string of_operands(const Formula& tree,
                                 const std::map<const Formula*, std::string>& operands) {
    if (const auto found = operands.find(&tree); found != operands.end()) return found->second;
    if (tree.kind == FormulaKind::kLiteral || tree.kind == FormulaKind::kName)
      return expr::print_formula(tree);
    Formula copy = tree;
    for (size_t i = 0; i < copy.children.size(); ++i)
      copy.children[i] = as_text(of_operands(tree.children[i], operands));
    return expr::print_formula(copy);
  }

  std::string name_of(const std::string& suffix) const {
    const schema::FunctionSchema& schema = op_.schema;
    std::string name = (schema.name.starts_with("_") ? "" : "_") + schema.name;
    if (!schema.overload.empty()) name += "_" + schema.overload;
    name = (schema.ns.empty() ? "" : schema.ns + "::") + name + suffix;
    std::string free = name;
    for (int i = 2; !index_.find(free, schema.ns).empty(); ++i)
      free = name + "_" + std::to_string(i);
    return free;
  }

  Operator& op_;
  const OperatorIndex& index_;
  const expr::Functions& functions_;
  const std::vector<std::string>& dtypes_;
  std::vector<Operator>& made_;
  Formula whole_;
  Trees locals_, fusible_;
  std::map<std::string, std::string> kept_;  // to types
  std::set<std::string> outside_;            // locals that are computed before the parts
  std::map<std::string, size_t> uses_;       // of locals, by parts
  bool has_checks_ = false;
  Fusion fusion_;
  std::vector<Operator> parts_;
  size_t num_parts_ = 0;
};

}  // namespace

void fuse_compositions(std::vector<Operator>& operators, const std::vector<Operator>& base,
                       const std::shared_ptr<const expr::Functions>& functions,
                       const std::vector<std::string>& dtypes) {
  for (Operator& op : operators) op.functions = functions;
  const OperatorIndex index(operators, base);
  std::vector<Operator> made;
  for (Operator& op : operators) {
    if (op.is<Composition>() && op.fuse && !op.overload_set())
      Partition(op, index, *functions, dtypes, made).run();
  }
  for (Operator& op : made) operators.push_back(std::move(op));
}

}  // namespace tenon::codegen::detail
