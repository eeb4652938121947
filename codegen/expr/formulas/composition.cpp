#include "codegen/expr/formulas/composition.h"

#include <algorithm>

namespace tenon::codegen::expr {
namespace {

Formula name_of(const std::string& text, const Formula& place) {
  Formula name;
  name.text = text;
  name.offset = place.offset;
  name.length = place.length;
  return name;
}

/// A literal of C++.
Formula text_of(const std::string& text, const Formula& place) {
  std::string literal = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') literal += '\\';
    literal += c;
  }
  Formula result = name_of(literal + '"', place);
  result.kind = FormulaKind::kLiteral;
  return result;
}

Formula call_of(const std::string& function, Formula tree) {
  tree.children.insert(tree.children.begin(), name_of(function, tree));
  tree.kind = FormulaKind::kCall;
  tree.operation.clear();
  return tree;
}

bool is_name(const Formula& tree, const std::vector<std::string>& names) {
  return tree.kind == FormulaKind::kName &&
         std::find(names.begin(), names.end(), tree.text) != names.end();
}

/// What is known not to be absent where the condition holds, or where it does not.
std::vector<std::string> present(const Formula& condition, bool holds,
                                 const std::vector<std::string>& optional) {
  if (is_name(condition, optional))
    return holds ? std::vector{condition.text} : std::vector<std::string>{};
  if (condition.kind == FormulaKind::kParentheses)
    return present(condition.children[0], holds, optional);
  if (condition.kind == FormulaKind::kUnary && condition.operation == "!")
    return present(condition.children[0], !holds, optional);
  const bool both =
      condition.kind == FormulaKind::kBinary && condition.operation == (holds ? "&&" : "||");
  if (!both) return {};
  std::vector<std::string> names = present(condition.children[0], holds, optional);
  for (std::string& name : present(condition.children[1], holds, optional))
    names.push_back(std::move(name));
  return names;
}

class OptionalReader {
 public:
  explicit OptionalReader(const std::vector<std::string>& optional) : optional_(optional) {}

  Formula read(Formula tree, const std::vector<std::string>& known, bool condition = false) const {
    if (is_name(tree, optional_)) {
      const bool has_value = std::find(known.begin(), known.end(), tree.text) != known.end();
      if (condition || !has_value) return tree;
      Formula value;
      value.kind = FormulaKind::kParentheses;
      value.offset = tree.offset;
      value.length = tree.length;
      Formula star = value;
      star.kind = FormulaKind::kUnary;
      star.operation = "*";
      star.children.push_back(std::move(tree));
      value.children.push_back(std::move(star));
      return value;
    }
    const auto with = [&](const std::vector<std::string>& more) {
      std::vector<std::string> all = known;
      all.insert(all.end(), more.begin(), more.end());
      return all;
    };
    if (tree.kind == FormulaKind::kTernary) {
      const Formula test = tree.children[0];
      tree.children[0] = read(test, known, true);
      tree.children[1] = read(std::move(tree.children[1]), with(present(test, true, optional_)));
      tree.children[2] = read(std::move(tree.children[2]), with(present(test, false, optional_)));
      return tree;
    }
    if (tree.kind == FormulaKind::kCheck) {
      const Formula test =
          tree.children[0].children.size() > 1 ? tree.children[0].children[1] : Formula();
      tree.children[0] = check(std::move(tree.children[0]), test, known);
      tree.children[1] = read(std::move(tree.children[1]), with(present(test, true, optional_)));
      return tree;
    }
    const bool logic = tree.operation == "&&" || tree.operation == "||";
    if (tree.kind == FormulaKind::kBinary && logic) {
      const Formula first = tree.children[0];
      const bool holds = tree.operation == "&&";
      tree.children[0] = read(first, known, true);
      tree.children[1] =
          read(std::move(tree.children[1]), with(present(first, holds, optional_)), true);
      return tree;
    }
    const bool test = condition && (tree.kind == FormulaKind::kParentheses ||
                                    (tree.kind == FormulaKind::kUnary && tree.operation == "!"));
    const bool absent = tree.kind == FormulaKind::kBinary && tree.operation == "??";
    for (std::size_t i = 0; i < tree.children.size(); ++i)
      tree.children[i] = read(std::move(tree.children[i]),
                              absent && i == 0 ? std::vector<std::string>{} : known, test);
    return absent ? call_of("value_or", std::move(tree)) : tree;
  }

 private:
  /// What the message shows is read where the test does not hold.
  Formula check(Formula call, const Formula& test, std::vector<std::string> known) const {
    if (call.children.size() > 1) call.children[1] = read(test, known, true);
    for (std::string& name : present(test, false, optional_)) known.push_back(std::move(name));
    for (std::size_t i = 2; i < call.children.size(); ++i)
      call.children[i] = read(std::move(call.children[i]), known);
    return call;
  }

  const std::vector<std::string>& optional_;
};

}  // namespace

Formula read_optionals(Formula tree, const std::vector<std::string>& optional) {
  return OptionalReader(optional).read(std::move(tree), {});
}

Formula with_meaning_in_cpp(Formula tree, const std::string& op) {
  for (Formula& child : tree.children) child = with_meaning_in_cpp(std::move(child), op);
  // In other namespaces than Tenon's, `std` alone may be C++'s.
  if (op.find("::") != std::string::npos && tree.kind == FormulaKind::kCall &&
      tree.children[0].kind == FormulaKind::kName && tree.children[0].text == "std")
    tree.children[0].text = "tenon::std";
  if (tree.kind == FormulaKind::kCheck) {
    Formula& call = tree.children[0];
    call.children[0].text = check_macro(call.children[0].text);
    // The text that comes first, as it is most of the time, is one with the operator's name.
    Formula& first = call.children[2];
    if (first.kind == FormulaKind::kLiteral && first.text[0] == '"') {
      first.text = "\"[" + op + "] " + first.text.substr(1);
    } else {
      call.children.insert(call.children.begin() + 2, text_of("[" + op + "] ", call));
    }
    return tree;
  }
  // Whether there is a gradient `grads[1]` is checked with the formula.
  if (tree.kind == FormulaKind::kIndex && !is_name(tree.children[0], {"grads"})) {
    const std::string list = print_formula(tree.children[0]);
    tree.children.push_back(text_of(op, tree));
    tree.children.push_back(text_of(list, tree));
    return call_of("tenon::native::list_element", std::move(tree));
  }
  if (tree.kind == FormulaKind::kCall && tree.children.size() == 1 &&
      tree.children[0].kind == FormulaKind::kMember && tree.children[0].text == "size" &&
      tree.children[0].operation == ".") {
    tree.children = {std::move(tree.children[0].children[0])};
    return call_of("tenon::native::list_size", std::move(tree));
  }
  if (tree.kind != FormulaKind::kBinary) return tree;
  // What compilers ask for where two operations are mixed.
  static const std::vector<std::string> kMixed = {"||", "|", "^", "&", "<<", ">>"};
  if (std::find(kMixed.begin(), kMixed.end(), tree.operation) != kMixed.end()) {
    for (Formula& child : tree.children) {
      if (child.kind != FormulaKind::kBinary || child.operation == tree.operation) continue;
      Formula inner = std::move(child);
      child = name_of("", inner);
      child.kind = FormulaKind::kParentheses;
      child.children.push_back(std::move(inner));
    }
  }
  if (tree.operation == "/") return call_of("true_quotient", std::move(tree));
  return tree.operation == "%" ? call_of("true_remainder", std::move(tree)) : tree;
}

}  // namespace tenon::codegen::expr
