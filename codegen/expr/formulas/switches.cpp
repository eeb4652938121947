#include "codegen/expr/formulas/switches.h"

#include "codegen/expr/graph/append_new.h"

#include <algorithm>
#include <optional>

namespace tenon::codegen::expr {
namespace {

bool is_text(const Formula& tree) {
  return tree.kind == FormulaKind::kLiteral && (tree.text[0] == '"' || tree.text[0] == '\'');
}

std::string word_of(const Formula& literal) {
  return literal.text.substr(1, literal.text.size() - 2);
}

/// `name == "word"`, `"word" != name`.
struct Comparison {
  const Formula* name;
  const Formula* word;
  bool equal;
};

std::optional<Comparison> comparison(const Formula& tree) {
  const bool compares =
      tree.kind == FormulaKind::kBinary && (tree.operation == "==" || tree.operation == "!=");
  if (!compares) return std::nullopt;
  const bool turned = is_text(tree.children[0]);
  const Formula& name = tree.children[turned ? 1 : 0];
  const Formula& word = tree.children[turned ? 0 : 1];
  if (name.kind != FormulaKind::kName || !is_text(word)) return std::nullopt;
  return Comparison{&name, &word, tree.operation == "=="};
}

bool is_and_or(const Formula& tree) {
  return tree.kind == FormulaKind::kBinary && (tree.operation == "&&" || tree.operation == "||");
}

bool joins_tests(const Formula& tree) {
  const bool negates = tree.kind == FormulaKind::kUnary && tree.operation == "!";
  return tree.kind == FormulaKind::kParentheses || negates || is_and_or(tree);
}

/// Calls `visit(node, in_condition)` for the tree and what is below it, until it returns false: not
/// for names of functions. `in_condition`: it decides a `x ? a : b`, by itself or joined to others.
template <class Visit>
void each_node(const Formula& tree, const Visit& visit, bool in_condition = false) {
  if (!visit(tree, in_condition)) return;
  const bool function =
      tree.kind == FormulaKind::kCall && tree.children[0].kind == FormulaKind::kName;
  for (std::size_t i = function ? 1 : 0; i < tree.children.size(); ++i) {
    const bool decides = tree.kind == FormulaKind::kTernary && i == 0;
    each_node(tree.children[i], visit, decides || (in_condition && joins_tests(tree)));
  }
}

const Formula& without_parentheses(const Formula& tree) {
  return tree.kind == FormulaKind::kParentheses ? without_parentheses(tree.children[0]) : tree;
}

bool is_test(const Formula& tree, const SwitchArguments& arguments) {
  if (tree.kind == FormulaKind::kName) return arguments.optionals.contains(tree.text);
  const auto compared = comparison(tree);
  return compared && arguments.texts.contains(compared->name->text);
}

/// Whether the condition is made of tests alone.
bool decides(const Formula& condition, const SwitchArguments& arguments) {
  if (!joins_tests(condition)) return is_test(condition, arguments);
  return std::all_of(condition.children.begin(), condition.children.end(),
                     [&](const Formula& part) { return decides(part, arguments); });
}

class Chooser {
 public:
  Chooser(const std::string& text, const SwitchArguments& arguments, const Choice& choice)
      : arguments_(arguments), choice_(choice) {
    chosen_.text = text;
  }

  Chosen take() { return std::move(chosen_); }

  void walk(const Formula& tree) {
    if (tree.kind == FormulaKind::kLocal) {
      walk(tree.children[1]);
      if (chosen_.names.contains(tree.text)) {
        walk(tree.children[0]);
      } else {
        blank(tree.offset, tree.children[1].offset);
      }
      return;
    }
    if (tree.kind == FormulaKind::kTernary && decides(tree.children[0], arguments_)) {
      keep(tree, tree.children[holds(tree.children[0]) ? 1 : 2]);
      return;
    }
    if (tree.kind == FormulaKind::kBinary && tree.operation == "??") {
      const Formula& name = without_parentheses(tree.children[0]);
      if (is_optional(name)) {
        keep(tree, tree.children[choice_.given.contains(name.text) ? 0 : 1]);
        return;
      }
    }
    if (tree.kind == FormulaKind::kName) {
      chosen_.names.insert(tree.text);
      if (is_optional(tree) && !choice_.given.contains(tree.text)) chosen_.absent.insert(tree.text);
    }
    const bool function =
        tree.kind == FormulaKind::kCall && tree.children[0].kind == FormulaKind::kName;
    for (std::size_t i = function ? 1 : 0; i < tree.children.size(); ++i) walk(tree.children[i]);
  }

 private:
  bool is_optional(const Formula& tree) const {
    return tree.kind == FormulaKind::kName && arguments_.optionals.contains(tree.text);
  }

  void blank(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (chosen_.text[i] != '\n') chosen_.text[i] = ' ';
    }
  }

  void keep(const Formula& tree, const Formula& part) {
    chosen_.parts.insert(&part);
    blank(tree.offset, part.offset);
    blank(part.offset + part.length, tree.offset + tree.length);
    walk(part);
  }

  /// Of a condition of tests alone.
  bool holds(const Formula& condition) const {
    if (condition.kind == FormulaKind::kParentheses) return holds(condition.children[0]);
    if (condition.kind == FormulaKind::kUnary) return !holds(condition.children[0]);
    if (is_and_or(condition)) {
      const bool a = holds(condition.children[0]), b = holds(condition.children[1]);
      return condition.operation == "&&" ? a && b : a || b;
    }
    const auto compared = comparison(condition);
    if (!compared) return choice_.given.contains(condition.text);
    const auto word = choice_.words.find(compared->name->text);
    const bool same = word != choice_.words.end() && word->second == word_of(*compared->word);
    return same == compared->equal;
  }

  const SwitchArguments& arguments_;
  const Choice& choice_;
  Chosen chosen_;
};

}  // namespace

std::vector<std::string> compared_words(const Formula& tree, const std::string& name) {
  std::vector<std::string> words;
  bool otherwise = false;
  each_node(tree, [&](const Formula& node, bool in_condition) {
    const auto compared = comparison(node);
    const bool is_this = compared && compared->name->text == name;
    if (is_this) append_new(words, word_of(*compared->word));
    // As a condition it asks whether the text is there.
    otherwise |= node.kind == FormulaKind::kName && node.text == name && !in_condition;
    return !is_this;
  });
  return otherwise ? std::vector<std::string>{} : words;
}

std::set<std::string> tested_names(const Formula& tree, const std::set<std::string>& names,
                                   bool or_replaced) {
  std::set<std::string> tested;
  const auto add = [&](const Formula& node) {
    if (node.kind == FormulaKind::kName && names.contains(node.text)) tested.insert(node.text);
  };
  each_node(tree, [&](const Formula& node, bool in_condition) {
    if (in_condition) add(node);
    const bool replaces = node.kind == FormulaKind::kBinary && node.operation == "??";
    if (replaces && or_replaced) add(without_parentheses(node.children[0]));
    return true;
  });
  return tested;
}

std::vector<ExprError> switch_mistakes(const Formula& tree, const SwitchArguments& arguments) {
  std::vector<ExprError> errors;
  const auto report = [&](const Formula& place, std::string message, std::string suggestion = "") {
    errors.push_back({place.offset, place.length, std::move(message), std::move(suggestion), 0});
  };
  each_node(tree, [&](const Formula& node, bool in_condition) {
    if (node.kind == FormulaKind::kTernary) {
      const Formula* test = nullptr;
      bool values = false;
      each_node(
          node.children[0],
          [&](const Formula& part, bool joined) {
            if (!joined) return false;
            if (joins_tests(part)) return true;
            if (is_test(part, arguments)) {
              test = &part;
            } else {
              values = true;
            }
            return false;
          },
          true);
      if (test != nullptr && values) {
        report(*test, "what a call decides as a whole has a condition of its own, apart from what "
                      "each element decides");
        return false;
      }
    }
    if (const auto compared = comparison(node)) {
      const std::string& word = compared->word->text;
      if (!arguments.texts.contains(compared->name->text)) return true;
      if (word[0] == '\'')
        report(*compared->word, "a text needs double quotes", '"' + word_of(*compared->word) + '"');
      if (!in_condition)
        report(node, "a text decides between expressions: '" + compared->name->text +
                         " == " + word + " ? a : b'");
      return false;
    }
    const bool is_text_name =
        node.kind == FormulaKind::kName && arguments.texts.contains(node.text);
    if (is_text_name && !(in_condition && arguments.optionals.contains(node.text)))
      report(node, "'" + node.text + "' is a text, which is compared with words: '" + node.text +
                       " == \"...\" ? a : b'");
    return true;
  });
  return errors;
}

Chosen choose(const std::string& text, const Formula& tree, const SwitchArguments& arguments,
              const Choice& choice) {
  Chooser chooser(text, arguments, choice);
  chooser.walk(tree);
  return chooser.take();
}

std::vector<ExprError> unmeant_parts(const Formula& tree, const SwitchArguments& arguments,
                                     const std::set<const Formula*>& parts) {
  std::vector<ExprError> errors;
  each_node(tree, [&](const Formula& node, bool) {
    const bool chooses = node.kind == FormulaKind::kTernary && decides(node.children[0], arguments);
    const bool replaces = node.kind == FormulaKind::kBinary && node.operation == "??" &&
                          is_test(without_parentheses(node.children[0]), arguments);
    if (!chooses && !replaces) return true;
    // Behind the last word of a text that every call gives there is nothing left, but a `:`.
    const auto compared = comparison(without_parentheses(node.children[0]));
    const bool ends = compared && arguments.without_default.contains(compared->name->text);
    for (std::size_t i = chooses ? 1 : 0; i < node.children.size(); ++i) {
      const Formula& part = node.children[i];
      if (!parts.contains(&part)) {
        if (ends && i == 2) continue;
        errors.push_back({part.offset, part.length,
                          "no call means this part: a text is one of the words that it is compared "
                          "with, or its default",
                          "", 0});
        continue;
      }
      for (ExprError& error : unmeant_parts(part, arguments, parts))
        errors.push_back(std::move(error));
    }
    return false;
  });
  return errors;
}

}  // namespace tenon::codegen::expr
