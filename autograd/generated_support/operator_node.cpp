#include "autograd/generated_support/operator_node.h"

#include "aten/iterator/rows.h"

namespace tenon::autograd {
namespace {

template <class T>
void destroy(void* value) {
  static_cast<T*>(value)->~T();
}

template <class T>
T& at(const void* values, const SavedMember& member) {
  return *reinterpret_cast<T*>(static_cast<char*>(const_cast<void*>(values)) + member.offset);
}

/// Ends the life of a value; those of other kinds need nothing for it.
void end(SavedKind kind, void* value) {
  switch (kind) {
  case SavedKind::TensorList: return destroy<std::vector<SavedVariable>>(value);
  case SavedKind::String: return destroy<std::string>(value);
  case SavedKind::Sizes: return destroy<DimVector>(value);
  case SavedKind::Ints: return destroy<std::vector<int64_t>>(value);
  case SavedKind::OptionalInts: return destroy<std::optional<std::vector<int64_t>>>(value);
  case SavedKind::Doubles: return destroy<std::vector<double>>(value);
  case SavedKind::Scalars: return destroy<std::vector<Scalar>>(value);
  case SavedKind::Bools: return destroy<std::vector<bool>>(value);
  case SavedKind::IntsOfTensors: return destroy<std::vector<std::vector<int64_t>>>(value);
  case SavedKind::RowShape: return destroy<native::RowShape>(value);
  default: return;
  }
}

size_t nbytes_of(const std::vector<SavedVariable>& list) {
  size_t bytes = 0;
  for (const SavedVariable& s : list) bytes += s.nbytes();
  return bytes;
}

/// The text after this one in a NodeType's names.
std::string_view next_name(std::string_view name) { return name.data() + name.size() + 1; }

template <class T>
Value optional_value(const void* value) {
  const auto& v = *static_cast<const std::optional<T>*>(value);
  return v ? Value(*v) : Value();
}

}  // namespace

size_t SavedEntry::nbytes() const {
  switch (kind) {
  case SavedKind::Tensor: return static_cast<const SavedVariable*>(value)->nbytes();
  case SavedKind::TensorList:
    return nbytes_of(*static_cast<const std::vector<SavedVariable>*>(value));
  default: return 0;
  }
}

std::optional<Value> SavedEntry::plain() const {
  switch (kind) {
  case SavedKind::Bool: return Value(*static_cast<const bool*>(value));
  case SavedKind::Int: return Value(*static_cast<const int64_t*>(value));
  case SavedKind::Double: return Value(*static_cast<const double*>(value));
  case SavedKind::Number: return Value(*static_cast<const Scalar*>(value));
  case SavedKind::OptionalBool: return optional_value<bool>(value);
  case SavedKind::OptionalInt: return optional_value<int64_t>(value);
  case SavedKind::OptionalDouble: return optional_value<double>(value);
  case SavedKind::OptionalNumber: return optional_value<Scalar>(value);
  case SavedKind::String: return Value(std::string_view(*static_cast<const std::string*>(value)));
  case SavedKind::Sizes: return Value(IntArrayRef(*static_cast<const DimVector*>(value)));
  case SavedKind::Ints: return Value(*static_cast<const std::vector<int64_t>*>(value));
  case SavedKind::OptionalInts: return optional_value<std::vector<int64_t>>(value);
  case SavedKind::Doubles: return Value(*static_cast<const std::vector<double>*>(value));
  case SavedKind::Scalars: return Value(*static_cast<const std::vector<Scalar>*>(value));
  case SavedKind::Bools: return Value(*static_cast<const std::vector<bool>*>(value));
  default: return std::nullopt;
  }
}

OperatorNode* OperatorNode::allocate(const NodeType& type) {
  return ::new (memory::allocate(sizeof(OperatorNode) + type.size)) OperatorNode(type);
}

void OperatorNode::dispose() noexcept {
  const NodeType& type = type_;
  for (const SavedMember& member : type.saved) {
    if (TENON_LIKELY(member.kind == SavedKind::Tensor)) {
      at<SavedVariable>(memory(), member).~SavedVariable();
    } else {
      end(member.kind, &at<char>(memory(), member));
    }
  }
  this->~OperatorNode();
  memory::deallocate(this, sizeof(OperatorNode) + type.size);
}

void OperatorNode::release_variables() {
  for (const SavedMember& member : type_.saved) {
    if (TENON_LIKELY(member.kind == SavedKind::Tensor)) {
      at<SavedVariable>(memory(), member).reset();
    } else if (member.kind == SavedKind::TensorList) {
      for (auto& s : at<std::vector<SavedVariable>>(memory(), member)) s.reset();
    }
  }
}

std::string OperatorNode::source() const { return next_name(type_.names).data(); }

std::vector<SavedEntry> OperatorNode::saved() const {
  std::vector<SavedEntry> entries;
  std::string_view name = next_name(type_.names);
  for (const SavedMember& member : type_.saved) {
    name = next_name(name);
    entries.push_back({std::string(name), member.kind, &at<const char>(memory(), member), this});
  }
  return entries;
}

}  // namespace tenon::autograd
