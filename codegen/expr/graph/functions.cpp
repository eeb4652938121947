#include "codegen/expr/graph/functions.h"

#include "codegen/expr/formulas/formula.h"
#include "codegen/expr/graph/intrinsics.h"

#include <algorithm>
#include <unordered_map>

namespace tenon::codegen::expr {
namespace {

/// Walks the calls without recursion: a chain of them may be of any length.
class Measure {
 public:
  Measure(Functions& functions, std::size_t count) : functions_(functions), texts_(count) {
    for (std::size_t i = 0; i < functions.size(); ++i) by_name_[functions[i].name].push_back(i);
    for (std::size_t i = 0; i < count; ++i) {
      const Function& function = functions[i];
      if (!function.body.empty()) texts_[i].push_back(read(function.body));
      for (const auto& [category, text] : function.cases) texts_[i].push_back(read(text));
    }
  }

  void run() {
    std::vector<State> states(texts_.size(), State::kNew);
    for (std::size_t root = 0; root < texts_.size(); ++root) {
      std::vector<std::size_t> open = {root};
      while (!open.empty()) {
        const std::size_t one = open.back();
        if (states[one] == State::kNew) {
          states[one] = State::kOpen;
          for (const Text& text : texts_[one]) {
            for (const Overloads* call : text.calls) {
              for (const std::size_t called : *call) {
                if (called < texts_.size() && states[called] == State::kNew) open.push_back(called);
              }
            }
          }
          continue;
        }
        open.pop_back();
        if (states[one] == State::kOpen) finish(one);
        states[one] = State::kDone;
      }
    }
  }

 private:
  enum class State : std::uint8_t { kNew, kOpen, kDone };
  using Overloads = std::vector<std::size_t>;
  struct Text {
    std::size_t size = 0;
    std::vector<const Overloads*> calls;
  };

  Text read(const std::string& text) const {
    Text result;
    const FormulaResult parsed = parse_formula(text);
    if (parsed.complete) walk(parsed.formula, result);
    return result;
  }

  void walk(const Formula& tree, Text& text) const {
    ++text.size;
    if (tree.kind == FormulaKind::kCall && find_intrinsic(tree.children[0].text) == nullptr) {
      const auto found = by_name_.find(tree.children[0].text);
      if (found != by_name_.end()) text.calls.push_back(&found->second);
    }
    for (const Formula& child : tree.children) walk(child, text);
  }

  void finish(std::size_t one) {
    Function& function = functions_[one];
    for (const Text& text : texts_[one]) {
      std::size_t inlined = 0;
      for (const Overloads* call : text.calls) {
        std::size_t largest = 0;
        for (const std::size_t called : *call) {
          function.depth = std::max(function.depth, functions_[called].depth + 1);
          largest = std::max(largest, functions_[called].size);
        }
        inlined += largest;
      }
      function.inlined = std::max(function.inlined, std::min(inlined, kMaxInlinedSize + 1));
      function.size = std::max(function.size, std::min(inlined + text.size, kMaxInlinedSize + 1));
    }
    function.depth = std::min(function.depth, kMaxInlinedDepth + 1);
  }

  Functions& functions_;
  std::vector<std::vector<Text>> texts_;
  std::unordered_map<std::string, Overloads> by_name_;
};

}  // namespace

void measure(Functions& functions, std::size_t count) { Measure(functions, count).run(); }

const std::string* Function::body_for(std::string_view category) const {
  const auto found = cases.find(std::string(category.empty() ? "floating" : category));
  if (found != cases.end()) return &found->second;
  if (!body.empty()) return &body;
  return category.empty() && !cases.empty() ? &cases.begin()->second : nullptr;
}

const Functions& rule_functions() {
  static const Functions kFunctions = {
      // Reflection below 1/2, recurrence up to 6, then the asymptotic series in Bernoulli numbers
      // (Abramowitz and Stegun 6.4.6, 6.4.7, 6.4.12).
      {"trigamma",
       {"x"},
       "s = sin(pi * x); z = where(x < 0.5, 1 - x, x);"
       "r = 1 / square(z) + 1 / square(z + 1) + 1 / square(z + 2) + 1 / square(z + 3)"
       "  + 1 / square(z + 4) + 1 / square(z + 5) + 1 / square(z + 6) + 1 / square(z + 7)"
       "  + 1 / square(z + 8) + 1 / square(z + 9);"
       "u = 1 / (z + 10); v = square(u);"
       "t = r + u + v * 0.5 + u * v * (1 / 6 - v * (1 / 30 - v * (1 / 42 - v * (1 / 30"
       "  - v * (5 / 66 - v * (691 / 2730 - v * 7 / 6))))));"
       "where(x < 0.5, square(pi / s) - t, t)"},
      {"bernoulli", {"p"}, "uniform() < p"},
  };
  return kFunctions;
}

}  // namespace tenon::codegen::expr
