#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::codegen::expr {

/// A function that an expression stands for: expanded where it is called, so that neither a kernel
/// nor a pass over memory is added. `silu(self) := self * sigmoid(self)`.
struct Function {
  std::string name;
  std::vector<std::string> parameters;
  std::string body;  ///< for every dtype without a case of its own; empty: for none
  /// Of an operator: expressions by category of the dtype (bool, integral, floating, complex).
  std::map<std::string, std::string> cases = {};
  /// Of the last parameters: what stands for one that is left out, as a literal.
  std::vector<std::string> defaults = {};
  /// Of an operator: parameter i is a number, where overloads differ by that.
  std::vector<bool> numbers = {};
  /// Of an operator: parameter i is a `float`, and so is a number in its place.
  std::vector<bool> floats = {};
  /// Of an operator: its full name, "add.Tensor". Intrinsics of the same base name are what it is
  /// made of, and win over it.
  std::string op = {};
  /// Of the library that is added to.
  bool of_base = false;
  /// An operator that is known but cannot be called, and why; empty: it was reported.
  bool opaque = false;
  std::string why_opaque = {};
  /// As `measure` finds: functions that call one another, the nodes of all that it calls, and
  /// those with its own.
  std::size_t depth = 1, inlined = 0, size = 1;

  bool takes(std::size_t count) const {
    return count <= parameters.size() && count + defaults.size() >= parameters.size();
  }
  /// The expression for a dtype of `category`; null where there is none. Without a category
  /// (empty) that for floating numbers, else the first there is.
  const std::string* body_for(std::string_view category) const;
};

/// What the expressions of an entry may call besides intrinsics. Of several functions of one name
/// the first that takes the arguments is called.
using Functions = std::vector<Function>;

/// What one text may inline: graphs, and what reads them, grow with it.
constexpr std::size_t kMaxInlinedDepth = 100, kMaxInlinedSize = 4000;

/// Finds `depth`, `inlined` and `size` of the first `count` functions; those behind them have
/// theirs. Of overloads the largest counts, and of a circle of calls each function once. What is
/// larger than the limits is one more than they are.
void measure(Functions& functions, std::size_t count);

/// Functions that every expression and the rules of derivatives may call besides intrinsics.
const Functions& rule_functions();

}  // namespace tenon::codegen::expr
