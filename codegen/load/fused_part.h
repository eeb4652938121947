#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "codegen/expr/formulas/formula.h"
#include "codegen/expr/graph/functions.h"
#include "codegen/model/operator.h"

namespace tenon::codegen::detail {

/// Operators by base name, `ns::` included: those of the library, then those that it adds to.
class OperatorIndex {
 public:
  OperatorIndex(const std::vector<Operator>& own, const std::vector<Operator>& base);

  /// All overloads that a composition of the namespace may mean by the name; empty if none.
  const std::vector<const Operator*>& find(const std::string& name, const std::string& ns) const;
  bool is_own(const Operator& op) const { return own_.contains(&op); }

 private:
  std::map<std::string, std::vector<const Operator*>> by_name_;
  std::set<const Operator*> own_;
};

/// What a fused kernel takes from the composition around it.
struct FusedOperand {
  /// A full operand has the shape that all elements are broadcast to. A condition is Bool. A row
  /// has one value per row, and a position is an integer of that shape. Dimensions and sizes say
  /// what a row is; sizes are known to the guard alone.
  enum class Role : uint8_t {
    kNumber,
    kElement,
    kFull,
    kCondition,
    kColumn,
    kRow,
    kPosition,
    kDims,
    kSizes
  };
  std::string name;                     ///< argument of the kernel
  std::string type;                     ///< of that argument
  std::string value;                    ///< text of the composition that is passed
  const expr::Formula* tree = nullptr;  ///< of that text; null for the name of an argument
  std::optional<Role> role = {};        ///< nothing: no operation has read it yet
};

/// A part of a composition as the expression of one kernel: translates a tree of operator calls
/// into the language of `pointwise` and `rowwise`. A subtree that it cannot translate becomes an
/// operand.
class FusedPart {
 public:
  using Trees = std::map<std::string, const expr::Formula*>;

  /// `dtypes`: those of its kernel, "Float"; empty: all floating ones. `fusible`: locals that a
  /// kernel may compute. `kept`: types of the other locals.
  FusedPart(const Operator& op, const OperatorIndex& index, const expr::Functions& functions,
            const std::vector<std::string>& dtypes, Trees fusible,
            std::map<std::string, std::string> kept)
      : op_(op), index_(index), functions_(functions), dtypes_(dtypes),
        fusible_(std::move(fusible)), kept_(std::move(kept)) {}

  /// Adds a result. False if its root is no operation of elements or rows, or if it has other rows
  /// than the results before it.
  bool add_result(const expr::Formula& tree);
  /// The entry of the kernel; nothing if the language refuses the expression.
  std::optional<Operator> kernel(const std::string& name);

  /// Whether the first result has the elements' dtype: comparisons give Bool.
  bool gives_elements() const { return results_[0].kind == Kind::kTensor; }
  size_t num_results() const { return results_.size(); }
  const std::vector<FusedOperand>& operands() const { return state_.operands; }
  /// Other names for guard(), once the kernel of elements is made.
  void name_operands(const std::vector<std::string>& names) {
    for (size_t i = 0; i < names.size(); ++i) state_.operands[i].name = names[i];
  }
  /// Locals that the kernel computes.
  const std::set<std::string>& used_locals() const { return state_.used_locals; }
  size_t num_operators() const { return state_.num_operators; }
  /// What a call of the kernel must fulfil, as C++. `text`: how an operand is written.
  std::string guard(std::string FusedOperand::*text) const;
  /// Tensors of elements that are read and written: by the kernel, by the operators one by one.
  size_t fused_traffic() const;
  size_t unfused_traffic() const { return state_.unfused_traffic; }

  /// "T" of a tensor, else int, float, bool, Scalar; empty if unknown.
  std::string type_of(const expr::Formula& tree) const;

 private:
  using Role = FusedOperand::Role;
  using Arguments = std::vector<const expr::Formula*>;
  using Leaves = std::set<size_t>;  // indices of operands
  enum class Kind : uint8_t { kNumber, kTensor, kCondition };
  /// One value per element, or per row with or without the dimensions of the row.
  enum class Domain : uint8_t { kElement, kKept, kDropped };
  struct Value {
    std::string text;
    Kind kind = Kind::kTensor;
    Domain domain = Domain::kElement;
    Leaves direct = {};               ///< the operands that its shape is broadcast from
    std::optional<size_t> leaf = {};  ///< the operand that it is
    bool of_columns = false;
  };
  using MaybeValue = std::optional<Value>;

  MaybeValue value(const expr::Formula& tree);
  MaybeValue translate(const expr::Formula& tree);
  MaybeValue name(const expr::Formula& tree);
  MaybeValue number(const expr::Formula& tree, bool for_guard = false);
  MaybeValue operand(const expr::Formula& tree);
  MaybeValue optional_column(const expr::Formula& tree);
  MaybeValue unary(const expr::Formula& tree);
  MaybeValue binary(const expr::Formula& tree);
  MaybeValue call(const expr::Formula& tree);
  MaybeValue call_of(const std::string& function, const Arguments& arguments, size_t result);
  /// `text` has $0, $1, ... for the values.
  MaybeValue pointwise(const std::string& text, std::vector<Value> values);
  MaybeValue reduction(const std::string& function, const Arguments& arguments);
  MaybeValue pick(const Arguments& arguments);
  MaybeValue squeezed(const std::string& function, const Arguments& arguments);
  MaybeValue row_operator(const Operator& called, const Operator& row, const Arguments& arguments,
                          size_t result);
  MaybeValue composition(const Operator& called, const Arguments& arguments);

  /// False if the operand is read in another role already.
  bool use(Value& value, Role role);
  MaybeValue combined(std::vector<Value>& values, std::string text, Kind kind);
  bool set_over(const std::string& over);
  /// "-1" of `-1` and `{-1}`, "all" of `{}`, `dim` of an argument.
  std::optional<std::string> dims_of(const expr::Formula& tree);
  /// The same of the sizes of the last dimensions.
  std::optional<std::string> dims_of_sizes(const expr::Formula& tree,
                                           const expr::Formula& normalized);
  size_t add_operand(FusedOperand operand);
  bool is_taken(const std::string& name) const;
  std::string unique(const std::string& name, bool is_argument) const;
  /// Gives the text a name in the kernel's expression.
  std::string bind(const std::string& name, const std::string& text);
  void count(const std::vector<Value>& read, const Value& made);
  bool choose_full();
  std::string text_of(const Value& result) const;
  bool can_differentiate(const Operator& kernel) const;
  /// The results, then what the gradient reads instead of computing it again.
  std::vector<Value> kernel_results() const;

  struct Local {
    std::string name, text;
    std::set<std::string> uses;
  };
  /// A translation that fails leaves no trace.
  struct State {
    std::vector<FusedOperand> operands = {};
    std::vector<Local> locals = {};
    std::vector<Leaves> broadcasts = {};          // one operand of each must be full
    std::vector<std::vector<size_t>> sizes = {};  // that the full shape ends in
    std::map<std::string, Value> known = {};      // fusible locals
    std::set<std::string> used_locals = {};
    std::vector<Value> saved = {};  // values per row that a row operator gives beside its result
    std::string over = {};
    size_t num_operators = 0, unfused_traffic = 0;
  };

  const Operator& op_;
  const OperatorIndex& index_;
  const expr::Functions& functions_;
  const std::vector<std::string>& dtypes_;
  Trees fusible_;
  std::map<std::string, std::string> kept_;
  std::vector<std::map<std::string, Value>> scopes_;  // of compositions that are called
  State state_;
  std::vector<Value> results_;
};

}  // namespace tenon::codegen::detail
