#pragma once

#include <cstddef>

#include "aten/core/tensor_options.h"
#include "autograd/saved/saved_variable.h"

namespace tenon::native {
struct RowShape;
}

namespace tenon::autograd {

/// The kind that a member of type T of a node's values has.
template <class T>
inline constexpr SavedKind saved_kind = SavedKind::Other;
template <>
inline constexpr SavedKind saved_kind<SavedVariable> = SavedKind::Tensor;
template <>
inline constexpr SavedKind saved_kind<std::vector<SavedVariable>> = SavedKind::TensorList;
template <>
inline constexpr SavedKind saved_kind<bool> = SavedKind::Bool;
template <>
inline constexpr SavedKind saved_kind<int64_t> = SavedKind::Int;
template <>
inline constexpr SavedKind saved_kind<double> = SavedKind::Double;
template <>
inline constexpr SavedKind saved_kind<Scalar> = SavedKind::Number;
template <>
inline constexpr SavedKind saved_kind<std::optional<bool>> = SavedKind::OptionalBool;
template <>
inline constexpr SavedKind saved_kind<std::optional<int64_t>> = SavedKind::OptionalInt;
template <>
inline constexpr SavedKind saved_kind<std::optional<double>> = SavedKind::OptionalDouble;
template <>
inline constexpr SavedKind saved_kind<std::optional<Scalar>> = SavedKind::OptionalNumber;
template <>
inline constexpr SavedKind saved_kind<std::string> = SavedKind::String;
template <>
inline constexpr SavedKind saved_kind<DimVector> = SavedKind::Sizes;
template <>
inline constexpr SavedKind saved_kind<std::vector<int64_t>> = SavedKind::Ints;
template <>
inline constexpr SavedKind saved_kind<std::optional<std::vector<int64_t>>> =
    SavedKind::OptionalInts;
template <>
inline constexpr SavedKind saved_kind<std::vector<double>> = SavedKind::Doubles;
template <>
inline constexpr SavedKind saved_kind<std::vector<Scalar>> = SavedKind::Scalars;
template <>
inline constexpr SavedKind saved_kind<std::vector<bool>> = SavedKind::Bools;
template <>
inline constexpr SavedKind saved_kind<std::vector<std::vector<int64_t>>> = SavedKind::IntsOfTensors;
template <>
inline constexpr SavedKind saved_kind<native::RowShape> = SavedKind::RowShape;

/// One value that nodes of a type keep: its kind and its place among the values, in bytes.
struct SavedMember {
  SavedKind kind;
  uint32_t offset;

  template <class T>
  static constexpr SavedMember of(size_t offset) {
    static_assert(saved_kind<T> != SavedKind::Other || std::is_trivially_destructible_v<T>,
                  "a node keeps a value of a type that SavedKind does not know");
    static_assert(alignof(T) <= alignof(void*));
    return {saved_kind<T>, static_cast<uint32_t>(offset)};
  }
};

/// The entry of a member in its type's table.
#define TENON_SAVED(Values, member) \
  SavedMember::of<decltype(Values::member)>(offsetof(Values, member))

class OperatorNode;
struct ForwardCall;

/// How forward mode computes the tangents of an operator's results.
enum class ForwardRule : uint8_t {
  Backward,            ///< by differentiating backward
  Linear,              ///< the operator itself, of the tangents
  ElementWise,         ///< each element's derivative is one number: backward of the tangent
  ElementWiseOfReals,  ///< the same where nothing is complex, else by differentiating backward
  Formula,             ///< NodeType::tangents
};

/// What all nodes of one operator have in common. Constant data, generated.
struct NodeType {
  const char* names;   ///< its own, its place, those of the values: "NegBackward0\0x.yaml\0self"
  const char* schema;  ///< of the operator
  variable_list (*apply)(const OperatorNode& node, variable_list&& grads);
  ArrayRef<SavedMember> saved;
  size_t size;  ///< of the values, in bytes
  ForwardRule forward = ForwardRule::Backward;
  /// Arguments, as bits, whose tangents the rule knows, and differentiable ones that it does not.
  uint64_t covered = 0, uncovered = 0;
  void (*tangents)(const ForwardCall& call, Tensor* of_results) = nullptr;
};

/// The node of an operator: its type says what it does, and what the values are that follow it in
/// memory. All that is done with values whatever the operator goes through the type: to free them,
/// to count them, to show them.
class TENON_API OperatorNode final : public Node {
 public:
  /// A node whose values are those of `Values`, the struct that the type describes.
  template <class Values>
  static IntrusivePtr<OperatorNode> make(const NodeType& type) {
    OperatorNode* node = allocate(type);
    if constexpr (!std::is_empty_v<Values>)
      [node]() noexcept { ::new (node->memory()) Values(); }();
    return IntrusivePtr<OperatorNode>::adopt(node);
  }

  std::string name() const override { return type_.names; }
  variable_list apply(variable_list&& grads) override {
    return type_.apply(*this, std::move(grads));
  }
  void release_variables() override;
  std::vector<SavedEntry> saved() const override;
  const NodeType& type() const { return type_; }
  /// The file that says what the derivative is; `tenonc explain` gives the line.
  std::string source() const;

  template <class Values>
  const Values& values_as() const {
    return *static_cast<const Values*>(memory());
  }
  template <class Values>
  Values& values_as() {
    return *static_cast<Values*>(memory());
  }

 protected:
  void dispose() noexcept override;

 private:
  explicit OperatorNode(const NodeType& type) : type_(type) {}
  ~OperatorNode() override = default;
  static OperatorNode* allocate(const NodeType& type);
  void* memory() { return this + 1; }
  const void* memory() const { return this + 1; }

  const NodeType& type_;
};
static_assert(sizeof(OperatorNode) % alignof(void*) == 0);

}  // namespace tenon::autograd
