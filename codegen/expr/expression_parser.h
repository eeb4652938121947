#pragma once

#include "codegen/expr/parse.h"
#include "codegen/expr/token.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tenon::codegen::expr {

/// What a `rowwise` expression may use beside what every expression may.
struct RowVocabulary {
  std::set<std::string> optional;          ///< tensors that may be absent: `weight ?? 1` alone
  std::map<std::string, double> defaults;  ///< the numbers that stand for them, as found
};

/// Recursive-descent parser that adds one text to a graph. The texts of macros and of derivative
/// rules go through it too, with their parameters bound to nodes.
class ExpressionParser {
 public:
  using Names = std::map<std::string, NodeId>;

  ExpressionParser(Graph& graph, Names names, const std::vector<Macro>& extra_macros,
                   int macro_depth = 0, RowVocabulary* rows = nullptr);

  /// The text's node, or nothing after adding to `errors`.
  std::optional<NodeId> parse(const std::string& text, std::vector<ExprError>& errors);

 private:
  using Value = std::optional<NodeId>;  // nothing: already reported

  Value statements();
  Value ternary();
  Value binary(int level);
  Value unary();
  Value primary();
  Value number(const Token& token);
  Value name(const Token& token);
  Value call(const Token& token);
  Value apply_function(const Token& token, const std::vector<Value>& arguments);
  Value expand(const Macro& macro, const Token& token, const std::vector<NodeId>& arguments);
  /// `name ?? number`, for a tensor that may be absent.
  Value optional(const Token& token);
  bool check_row_arguments(Op op, const Token& token, const std::vector<NodeId>& arguments);
  Value combine(const std::string& operation, const Token& token, Value a, Value b);
  Value bitwise(Op bits, Op logic, const Token& token, NodeId a, NodeId b);

  void report(const Token& token, std::string message, std::string suggestion = "");
  const Macro* macro(const std::string& name) const;
  std::vector<std::string> function_names() const;
  bool is_mask(NodeId id) const { return graph_[id].value_kind == ValueKind::kMask; }

  Graph& graph_;
  Names names_;
  const std::vector<Macro>& extra_macros_;
  int macro_depth_;
  RowVocabulary* rows_;  ///< null outside of `rowwise`
  int depth_ = 0;
  TokenCursor cursor_{{Token{}}};
  std::vector<ExprError>* errors_ = nullptr;
};

}  // namespace tenon::codegen::expr
