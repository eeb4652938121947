#pragma once

#include <any>
#include <complex>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "aten/core/storage.h"
#include "tenon/tensor.h"

namespace tenon::serialization {

namespace detail {
struct Node;
}

/// What a Python object is in a checkpoint: a number, a string, a container, a tensor, ...
///
/// A Value is cheap to copy. As in Python, copies of everything but None, bools and numbers are one
/// object: a list changed through one is changed for all, a container may hold itself, and an
/// object that occurs twice is saved once. A string made from a literal is one object wherever the
/// same literal occurs; a string made from a std::string is an object of its own.
///
/// Accessors of the wrong kind throw TypeError "expected a list, got an int".
class TENON_API Value {
 public:
  enum class Kind : uint8_t {
    None,
    Bool,
    Int,  ///< of any size
    Float,
    Complex,
    String,
    Bytes,
    ByteArray,
    List,
    Tuple,
    Dict,
    OrderedDict,
    Counter,
    Set,
    FrozenSet,
    Size,
    Dtype,
    Device,
    Layout,
    Slice,
    Range,
    Tensor,
    Parameter,
    Storage,
    Global,  ///< a class or function itself, by its name
    Object,  ///< an instance of any other class
  };
  using Items = std::vector<Value>;
  using Entries = std::vector<std::pair<Value, Value>>;

  Value() = default;  ///< None
  Value(std::nullptr_t) {}
  /// A bool or an int. A template, so that no pointer is taken for a bool.
  template <class T>
  requires std::is_integral_v<T> Value(T v) : Value(integer(v)) {}
  Value(double v) : kind_(Kind::Float), float_(v) {}
  Value(std::complex<double> v);
  Value(std::string text);
  Value(std::string_view text) : Value(std::string(text)) {}
  Value(const char* literal);
  Value(const TensorBase& tensor);
  Value(ScalarType dtype);
  Value(tenon::Device device);
  Value(tenon::Layout layout);

  /// An int from its two's complement, least significant byte first.
  static Value int_of_bytes(std::string_view bytes);
  /// An int from decimal digits with an optional sign; ValueError otherwise.
  static Value int_of_decimal(std::string_view text);
  static Value bytes(std::string data);
  static Value bytearray(std::string data);
  static Value list(Items items = {});
  static Value tuple(Items items = {});
  static Value dict(Entries entries = {});
  static Value ordered_dict(Entries entries = {});
  /// A collections.Counter.
  static Value counter(Entries entries = {});
  static Value set(Items items = {});
  static Value frozenset(Items items = {});
  static Value size(IntArrayRef sizes);
  /// "torch.strided", "torch.sparse_coo", ...
  static Value layout(std::string name);
  static Value slice(Value start, Value stop, Value step = nullptr);
  static Value range(int64_t start, int64_t stop, int64_t step = 1);
  static Value parameter(const TensorBase& tensor);
  /// A tensor of a subclass of torch.Tensor, "module name".
  static Value tensor_of_class(const TensorBase& tensor, std::string cls);
  /// A storage with elements of `dtype`; of untyped bytes for Undefined.
  static Value storage(tenon::Storage storage, ScalarType dtype = ScalarType::Undefined);
  /// "module name" as pickles write it.
  static Value global(std::string name);
  /// What calling `cls` with the tuple `args` gives, known by its name only: cls(*args), or
  /// cls.__new__(cls, *args) with `by_new`.
  static Value object(std::string cls, Value args, bool by_new = false);
  /// An instance of a registered class. It is saved as `cls`, `args` and attributes() say.
  static Value object(std::string cls, Value args, std::any native);

  Kind kind() const { return kind_; }
  bool is(Kind kind) const { return kind_ == kind; }
  bool is_none() const { return is(Kind::None); }
  bool is_int() const { return is(Kind::Int); }
  bool is_string() const { return is(Kind::String); }
  bool is_list() const { return is(Kind::List); }
  bool is_tuple() const { return is(Kind::Tuple); }
  /// Dict, OrderedDict or Counter.
  bool is_dict() const { return kind_ >= Kind::Dict && kind_ <= Kind::Counter; }
  /// Tensor or Parameter.
  bool is_tensor() const { return is(Kind::Tensor) || is(Kind::Parameter); }
  /// Whether both are one object: `is` in Python.
  bool is_same(const Value& other) const;
  /// "an int", "a list", ...: for messages.
  const char* description() const;

  bool to_bool() const;
  /// ValueError if it does not fit.
  int64_t to_int() const;
  /// The shortest two's complement, least significant byte first; empty for 0.
  std::string int_bytes() const;
  bool fits_int64() const { return is_int() && !node_; }
  /// Of a float or an int.
  double to_double() const;
  std::complex<double> to_complex() const;
  /// Text of a string, in UTF-8.
  const std::string& to_string() const;
  /// Data of bytes or a bytearray.
  const std::string& to_bytes() const;
  /// A tensor or a parameter.
  tenon::Tensor to_tensor() const;
  tenon::Storage to_storage() const;
  /// Of a dtype; of a storage: of its elements, Undefined for untyped.
  ScalarType to_dtype() const;
  tenon::Device to_device() const;
  /// Name of a layout or a global; class of an object or of a tensor, "torch Tensor".
  const std::string& name() const;
  /// Sizes of a Size, or of a list or tuple of ints.
  std::vector<int64_t> to_ints() const;

  /// Items of a list, tuple, set, frozenset or Size; start, stop and step of a slice or range.
  const Items& items() const;
  /// To change a list.
  Items& list_items() const;
  void append(Value item) const { list_items().push_back(std::move(item)); }
  /// Adds to a set or frozenset what it does not hold; TypeError for an item that has no hash.
  void add(Value item) const;

  /// Keys and values of a dict in their order.
  const Entries& entries() const;
  /// Of a container.
  size_t size() const;
  /// The value of a key of a dict; null if there is none.
  const Value* find(const Value& key) const;
  bool contains(const Value& key) const { return find(key) != nullptr; }
  /// IndexError "no key 'x'".
  const Value& at(const Value& key) const;
  const Value& operator[](const char* key) const { return at(Value(key)); }
  const Value& operator[](const std::string& key) const { return at(Value(key)); }
  template <class T>
  requires std::is_integral_v<T>
  const Value& operator[](T i) const { return item(static_cast<size_t>(i)); }
  /// Sets the value of a key, which keeps its place if it is there. TypeError for a key without a
  /// hash, such as a list.
  void set_item(Value key, Value value) const;

  /// Python attributes (`__dict__`) of an OrderedDict, Tensor, Parameter or Object: a dict or
  /// whatever the object's state is, None if there is none.
  const Value& attributes() const;
  void set_attributes(Value attributes) const;
  /// Of an object: the tuple of arguments it was made of.
  const Value& args() const;
  /// Of an object that is a list or dict by its class: a List or Dict of what it holds, else None.
  const Value& elements() const;
  void set_elements(Value elements) const;
  /// Of an object: whether it was made by cls.__new__.
  bool made_by_new() const;
  /// Of an object: what its registered constructor made; empty if nothing did.
  const std::any& native() const;

  /// Same kind, same content, same order but in sets. Tensors: same dtype, sizes, requires_grad and
  /// bits of the elements. Structures that contain themselves may be compared.
  friend TENON_API bool operator==(const Value& a, const Value& b);
  /// As Python's repr.
  friend TENON_API std::ostream& operator<<(std::ostream& out, const Value& value);

 private:
  friend struct detail::Node;

  Value(Kind kind, std::shared_ptr<detail::Node> node) : kind_(kind), node_(std::move(node)) {}
  template <class T>
  static Value integer(T v) {
    if constexpr (std::is_same_v<T, bool>) {
      return Value(Kind::Bool, int64_t{v});
    } else if constexpr (std::is_unsigned_v<T> && sizeof(T) == 8) {
      if (v > static_cast<T>(INT64_MAX)) return large(v);
    }
    return Value(Kind::Int, static_cast<int64_t>(v));
  }
  Value(Kind kind, int64_t v) : kind_(kind), int_(v) {}
  static Value large(uint64_t v);
  const Value& item(size_t i) const;
  template <class N>
  N& node(bool right_kind, const char* expected) const;

  Kind kind_ = Kind::None;
  union {
    int64_t int_ = 0;  // Bool, Int that fits, Dtype
    double float_;
  };
  std::shared_ptr<detail::Node> node_;
};

/// "a list", "an int", ...
TENON_API const char* description(Value::Kind kind);

/// Empties every container that can be reached from `value`: what frees a structure that contains
/// itself.
TENON_API void dispose(const Value& value);

/// Containers nested deeper than this are not saved, compared or loaded.
inline constexpr int kMaxDepth = 1000;

}  // namespace tenon::serialization
