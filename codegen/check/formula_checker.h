#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "codegen/check/calls.h"

namespace tenon::codegen {

/// Walks one formula or composition, finds the types of its parts, and reports what C++ would not
/// compile, or would compute otherwise than it is meant.
class FormulaChecker {
 public:
  using Tree = expr::Formula;

  /// The operators by their names, as functions and as methods. `made`: of a composition, to which
  /// its calls are appended; null of a formula. All outlive the checker.
  FormulaChecker(const CallChecker& calls, const Overloads& functions, const Overloads& methods,
                 const Derivative& derivative, const Formula& formula, DiagnosticSink& sink,
                 std::vector<CallChecker::Call>* made = nullptr)
      : calls_(calls), functions_(functions), methods_(methods), derivative_(derivative),
        formula_(formula), sink_(sink), made_(made) {}

  /// The calls, and that each name gets what it stands for.
  void check(const Tree& tree);

 private:
  struct Local {
    ValueType type;
    std::string owner;
    bool borrowed = false;
  };
  using FormulaKind = expr::FormulaKind;
  using Types = std::vector<ValueType>;
  using Given = std::vector<std::pair<const schema::Argument*, const Tree*>>;

  bool is_composition() const { return made_ != nullptr; }
  std::string text_of(const Tree& tree) const;

  // Mistakes: at bytes of the text, at a part of it, at its operation.
  void report(size_t begin, size_t end, std::string message, std::string suggestion = {},
              std::vector<Note> notes = {});
  void error(const Tree& place, std::string message, std::string suggestion = {});
  void error_at_operation(const Tree& tree, std::string message);
  /// At the name that is called or read: behind the dot, or behind the namespace.
  void error_at_name(const Tree& named, size_t length, std::string message,
                     std::string suggestion = {}, std::vector<Note> notes = {});

  // The result.
  /// What name `i` of the formula stands for: a composition gives what its schema says, a gradient
  /// or tangent is a tensor, of a list of tensors a list.
  schema::Type wanted_of(size_t i) const;
  bool gives_all(const ValueType& type) const;
  void report_several(const Tree& result, const ValueType& type);

  // Types of parts, whose own mistakes are reported.
  ValueType type_of(const Tree& tree);
  /// The type of what is no argument: a list in braces has none there.
  ValueType value(const Tree& tree);
  ValueType name(const std::string& text) const;
  ValueType literal(const Tree& tree);
  ValueType index(const Tree& tree);
  /// How to come by one of several results.
  std::string of_several(const ValueType& type, const Tree& tree) const;
  /// One that is not called.
  ValueType member(const Tree& tree);
  /// What to do about an operand that may be absent.
  std::string of_optional(std::initializer_list<std::pair<const Tree*, ValueType>> operands) const;
  /// That `tree`, of a whole at `place`, can be a condition; of elements the whole would be
  /// another.
  void condition(const Tree& tree, const ValueType& type, const std::string& of_elements,
                 const Tree& place);
  ValueType choice(const Tree& tree);
  /// The call of `check`, `check_index`, ... of one.
  void refusal(const Tree& call);
  ValueType unary(const Tree& tree);
  ValueType binary(const Tree& tree);

  // What calls give.
  ValueType call(const Tree& tree);
  ValueType function(const Tree& tree, const Types& arguments);
  /// `a ?? b`, of an argument that may be absent and what stands for it then.
  ValueType replaced(const Tree& tree, const Types& arguments);
  /// One of several results.
  ValueType get(const Tree& tree, const Types& arguments);
  /// Generated sources include no header but Tenon's and the standard library's.
  ValueType qualified(const Tree& tree, const std::string& ns, const std::string& plain,
                      const Types& arguments);
  ValueType of_std(const Tree& tree, const std::string& plain, const Types& arguments);
  ValueType method(const Tree& tree, const ValueType& object, const Types& arguments);
  /// One that is written by hand.
  void check_by_hand(const Tree& tree, const Types& arguments);
  /// A method of std::optional.
  ValueType of_optional_itself(const Tree& callee, const ValueType& object);
  /// Of an operator: the overload that C++ calls.
  ValueType select(const Tree& tree, const std::string& name,
                   const std::vector<Overload>& overloads, const Types& arguments);
  /// An element of a list in braces, where that alone is in the way of an overload.
  bool report_element(const Tree& tree, const std::vector<Overload>& overloads,
                      const Types& arguments);
  void report_arguments(const Tree& tree, const std::string& name,
                        const std::vector<Overload>& overloads, const Types& arguments);

  // What is written to.
  /// The name from outside whose memory a value is, or lies in; empty where it has its own.
  std::string owner(const Tree& tree) const;
  std::string first_owner(const std::vector<const Tree*>& values) const;
  /// A list that is the caller's, which C++ has another type for than for one of its own.
  bool is_borrowed(const Tree& tree) const;
  /// Sizes of a tensor that is gone when its name is read.
  void check_outlived(const Tree& value);
  /// What the call gives for each argument of the operator; for those left out nothing.
  static Given given(const Tree& tree, const Overload& overload);
  /// Writes to values of its own, to what the schema says, and to tangents.
  void check_written(const Tree& tree, const std::string& name, const Overload& overload);
  /// Whether that is done in every case, in a composition whose schema says that it writes: by the
  /// call that `result` is, or where it chooses one.
  void check_writes(const Tree& result);
  bool has_written(const Tree& call) const;
  /// A function writes to what is named and no constant; a method of Tensor to any.
  void check_lvalue(const Tree& tree, const std::string& name, const Tree& value);

  const CallChecker& calls_;
  const Overloads& functions_;
  const Overloads& methods_;
  const Derivative& derivative_;
  const Formula& formula_;
  DiagnosticSink& sink_;
  std::vector<CallChecker::Call>* made_;
  std::map<std::string, Local> locals_;
  std::map<const Tree*, const Overload*> called_;
};

}  // namespace tenon::codegen
