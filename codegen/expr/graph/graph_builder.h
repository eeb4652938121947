#pragma once

#include "codegen/expr/formulas/formula.h"
#include "codegen/expr/formulas/token.h"
#include "codegen/expr/graph/parse.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tenon::codegen::expr {

/// Arguments that may be absent and have a number in their place then: tensors of `rowwise`,
/// numbers of `pointwise`.
struct AbsentOperands {
  std::set<std::string> names;             ///< used as `weight ?? 1` alone
  std::map<std::string, double> defaults;  ///< the numbers that stand for them, as found
};

/// Tensors that may be absent in an expression which is parsed for each set of them that is given:
/// `x ?? value`, and `x ? a : b`, where a sees x.
struct OptionalTensors {
  std::set<std::string> names;
  std::set<std::string> given;
};

/// What a text may refer to besides the names of its parameters.
struct Vocabulary {
  const Functions* own = nullptr;              ///< of `rowwise`: they win over all others
  const Functions* shared = nullptr;           ///< operators and what `define` adds
  std::string category = {};                   ///< of the dtype that the text is for; empty: any
  bool rows = false;                           ///< whether the text is of `rowwise`
  bool inlined = false;                        ///< whether it is of a function that another calls
  AbsentOperands* absent = nullptr;            ///< null where there are none
  const OptionalTensors* optionals = nullptr;  ///< null where there are none
  std::vector<Draw>* draws = nullptr;          ///< null where no random numbers can be drawn
  /// Arguments that are no values of the text, and what they are: "says what makes a row".
  const std::map<std::string, std::string>* no_values = nullptr;
};

/// Adds one text to a graph, as code of one element: gives a meaning to each name and node of the
/// tree that parse_formula makes of it. The texts of functions and of derivative rules go through
/// it too, with their parameters bound to nodes.
class GraphBuilder {
 public:
  using Names = std::map<std::string, NodeId>;

  /// `expanding`: the functions that are being expanded, outermost first.
  GraphBuilder(Graph& graph, Names names, Vocabulary vocabulary,
               std::vector<std::string> expanding = {});

  /// The text's node, or nothing after adding to `errors`.
  std::optional<NodeId> add(const std::string& text, std::vector<ExprError>& errors);

 private:
  using Value = std::optional<NodeId>;  // nothing: already reported

  Value lower(const Formula& tree);
  Value literal(const Formula& tree);
  Value name(const Formula& tree);
  Value unary(const Formula& tree);
  NodeId bitwise_not(NodeId operand);
  Value binary(const Formula& tree);
  Value ternary(const Formula& tree);
  /// A loop, after which the names that it carries have their last values.
  void repeat(const Formula& tree);
  /// The locals of an earlier text that a step gives new values, after reporting what it may not.
  std::vector<std::string> carried_names(const Formula& step);
  /// `f(x, y)`, or the same as `x.f(y)`.
  Value call(const Formula& tree);
  Value apply_function(const Token& token, const std::vector<Value>& arguments);
  Value expand(const Function& function, const Token& token, std::vector<NodeId> arguments);
  /// `uniform()` or `normal()`.
  Value draw(const Token& token, std::size_t num_arguments);
  /// `name ?? value`, for an argument that may be absent.
  Value absent(const Formula& tree);
  /// The same of one of `vocabulary_.absent`, for which a number stands.
  Value optional(const Formula& tree, const std::string& name);
  bool is_optional(const std::string& name) const;
  /// Whether the name is one of `vocabulary_.no_values`, after reporting that.
  bool is_no_value(const Token& token);
  bool check_row_arguments(Op op, const Token& token, const std::vector<NodeId>& arguments);
  Value bitwise(Op op, const Token& token, NodeId a, NodeId b);

  void report(const Token& token, std::string message, std::string suggestion = "");
  void report_unknown_function(const Token& token);
  bool is_function(const std::string& name) const;
  /// What is wrong with the text whatever its names stand for.
  void report(ExprError mistake);
  /// Whether one of the functions may be inlined at the place, within the limits of functions.h.
  bool fits(const std::vector<const Function*>& found, const Token& token);
  /// All that are called so, in the order in which they are tried.
  std::vector<const Function*> functions(const std::string& name) const;
  /// Of those, the one that fits the arguments best; null after reporting that none does.
  const Function* choose(const std::vector<const Function*>& found, const Token& token,
                         const std::vector<NodeId>& arguments);
  std::vector<std::string> function_names() const;
  bool is_mask(NodeId id) const { return graph_[id].value_kind == ValueKind::kMask; }

  Graph& graph_;
  Names names_;
  Vocabulary vocabulary_;
  std::vector<std::string> expanding_;
  std::set<std::string> locals_;  ///< names of this text: those that a loop may carry
  std::set<std::string> tested_;  ///< optionals whose test is around the place
  std::size_t inlined_ = 0;       ///< sizes of functions
  std::vector<ExprError>* errors_ = nullptr;
};

/// Whether the function draws a random number for each element.
bool is_draw(std::string_view name);

}  // namespace tenon::codegen::expr
