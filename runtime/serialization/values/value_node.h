#pragma once

#include <map>

#include "runtime/serialization/values/value.h"

namespace tenon::serialization {
class Budget;
}

/// What Values refer to.
namespace tenon::serialization::detail {

struct Node {
  virtual ~Node() = default;

  /// The object's identity.
  static const Node* of(const Value& value) { return value.node_.get(); }
  static std::shared_ptr<Node> share(const Value& value) { return value.node_; }
  /// Moves out the values the node holds, which leaves it empty.
  virtual void take_children(std::vector<Value>& /*to*/) {}
};

/// String, Bytes, ByteArray, Layout, Global, large Int.
struct TextNode : Node {
  explicit TextNode(std::string t, bool is_literal = false)
      : text(std::move(t)), literal(is_literal) {}
  std::string text;
  bool literal;  ///< equal literals are one object
};

struct DeviceNode : Node {
  explicit DeviceNode(Device d) : device(d) {}
  Device device;
};

struct ComplexNode : Node {
  explicit ComplexNode(std::complex<double> v) : value(v) {}
  std::complex<double> value;
};

struct StorageNode : Node {
  StorageNode(Storage s, ScalarType t) : storage(std::move(s)), dtype(t) {}
  Storage storage;
  ScalarType dtype;
};

/// A node that holds values. Destruction is iterative: nesting may be deeper than the stack.
struct HoldingNode : Node {
  ~HoldingNode() override = default;
  static void release(std::vector<Value>&& values);
};

/// List, Tuple, Set, FrozenSet, Size, Slice, Range.
struct ItemsNode : HoldingNode {
  explicit ItemsNode(Value::Items i) : items(std::move(i)) {}
  ~ItemsNode() override {
    if (!items.empty()) release(std::move(items));
  }
  void take_children(std::vector<Value>& to) override;
  /// Of a set: adds what it does not hold.
  void add(Value item, Budget* budget = nullptr);
  Value::Items items;

 private:
  std::map<std::string, size_t> index_;  // of a set: hash_key() to position
};

/// Dict, OrderedDict, Counter.
struct DictNode : HoldingNode {
  ~DictNode() override;
  void take_children(std::vector<Value>& to) override;
  /// Position of a key, or the number of entries.
  size_t find(const Value& key, Budget* budget = nullptr);
  void set(Value key, Value value, Budget* budget = nullptr);
  Value::Entries entries;
  Value attributes;

 private:
  void make_index(Budget* budget);

  std::map<std::string, size_t> index_;  // hash_key() to position; empty while there are few
};

struct TensorNode : HoldingNode {
  explicit TensorNode(TensorBase t) : tensor(std::move(t)) {}
  ~TensorNode() override;
  void take_children(std::vector<Value>& to) override;
  TensorBase tensor;
  std::string cls = "torch Tensor";
  Value attributes;
};

struct ObjectNode : HoldingNode {
  ObjectNode(std::string c, Value a, bool n) : cls(std::move(c)), args(std::move(a)), by_new(n) {}
  ~ObjectNode() override;
  void take_children(std::vector<Value>& to) override;
  std::string cls;
  Value args;
  Value elements;
  Value attributes;
  bool by_new;
  std::any native;
};

/// Text that is equal for keys that are equal in Python; TypeError "unhashable: a list". Compared,
/// not hashed, so that no choice of keys makes look-ups slow. A budget, where there is one, pays
/// for the parts and the bytes.
std::string hash_key(const Value& key, Budget* budget = nullptr);

/// Value::set_item() and Value::add() of a reader: of a dict, of a set or frozenset.
void set_item(const Value& dict, Value key, Value value, Budget& budget);
void add_item(const Value& set, Value item, Budget& budget);

}  // namespace tenon::serialization::detail
