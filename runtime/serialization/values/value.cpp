#include "runtime/serialization/values/value.h"

#include "runtime/serialization/values/big_integer.h"
#include "runtime/serialization/values/value_text.h"
#include "runtime/serialization/values/value_visit.h"
#include "runtime/serialization/zip/zip_format.h"

namespace tenon::serialization {

using namespace detail;

namespace {

using Kind = Value::Kind;

const Value kNone{};

/// Of an int in a message.
constexpr size_t kIntText = 200;

}  // namespace

const char* description(Kind kind) {
  constexpr const char* kNames[] = {
      "None",         "a bool",   "an int",      "a float",   "a complex number",
      "a string",     "bytes",    "a bytearray", "a list",    "a tuple",
      "a dict",       "a dict",   "a dict",      "a set",     "a frozenset",
      "a torch.Size", "a dtype",  "a device",    "a layout",  "a slice",
      "a range",      "a tensor", "a parameter", "a storage", "a class or function",
      "an object"};
  static_assert(std::size(kNames) == static_cast<size_t>(Kind::Object) + 1);
  return kNames[static_cast<size_t>(kind)];
}

const char* Value::description() const { return serialization::description(kind_); }

template <class N>
N& Value::node(bool right_kind, const char* expected) const {
  TENON_CHECK_TYPE(right_kind, "expected ", expected, ", got ", description());
  return static_cast<N&>(*node_);
}

// ---- construction ----------------------------------------------------------------------------

Value::Value(std::complex<double> v) : Value(Kind::Complex, std::make_shared<ComplexNode>(v)) {}
Value::Value(std::string text) : Value(Kind::String, std::make_shared<TextNode>(std::move(text))) {}
Value::Value(const char* literal)
    : Value(Kind::String, std::make_shared<TextNode>(literal, true)) {}
Value::Value(const TensorBase& tensor) {
  TENON_CHECK_VALUE(tensor.defined(), "a Value cannot hold an undefined tensor");
  kind_ = Kind::Tensor;
  node_ = std::make_shared<TensorNode>(tensor);
}
Value::Value(ScalarType dtype) : kind_(Kind::Dtype), int_(static_cast<int64_t>(dtype)) {}
Value::Value(tenon::Device device) : Value(Kind::Device, std::make_shared<DeviceNode>(device)) {}
Value::Value(tenon::Layout layout) {
  constexpr const char* kNames[] = {"torch.strided",   "torch.sparse_coo", "torch.sparse_csr",
                                    "torch._mkldnn",   "torch.sparse_csc", "torch.sparse_bsr",
                                    "torch.sparse_bsc"};
  *this = Value::layout(kNames[static_cast<int>(layout)]);
}

Value Value::bytes(std::string data) {
  return {Kind::Bytes, std::make_shared<TextNode>(std::move(data))};
}
Value Value::bytearray(std::string data) {
  return {Kind::ByteArray, std::make_shared<TextNode>(std::move(data))};
}
Value Value::list(Items items) {
  return {Kind::List, std::make_shared<ItemsNode>(std::move(items))};
}
Value Value::tuple(Items items) {
  return {Kind::Tuple, std::make_shared<ItemsNode>(std::move(items))};
}

namespace {

std::shared_ptr<DictNode> dict_node(Value::Entries entries) {
  auto node = std::make_shared<DictNode>();
  for (auto& [key, value] : entries) node->set(std::move(key), std::move(value));
  return node;
}

}  // namespace

Value Value::dict(Entries entries) { return {Kind::Dict, dict_node(std::move(entries))}; }
Value Value::ordered_dict(Entries entries) {
  return {Kind::OrderedDict, dict_node(std::move(entries))};
}
Value Value::counter(Entries entries) { return {Kind::Counter, dict_node(std::move(entries))}; }
Value Value::set(Items items) {
  Value made(Kind::Set, std::make_shared<ItemsNode>(Items()));
  for (Value& item : items) made.add(std::move(item));
  return made;
}
Value Value::frozenset(Items items) {
  Value made = set(std::move(items));
  made.kind_ = Kind::FrozenSet;
  return made;
}
Value Value::size(IntArrayRef sizes) {
  return {Kind::Size, std::make_shared<ItemsNode>(Items(sizes.begin(), sizes.end()))};
}
Value Value::layout(std::string name) {
  return {Kind::Layout, std::make_shared<TextNode>(std::move(name), true)};
}
Value Value::slice(Value start, Value stop, Value step) {
  return {Kind::Slice,
          std::make_shared<ItemsNode>(Items{std::move(start), std::move(stop), std::move(step)})};
}
Value Value::range(int64_t start, int64_t stop, int64_t step) {
  TENON_CHECK_VALUE(step != 0, "the step of a range must not be zero");
  return {Kind::Range, std::make_shared<ItemsNode>(Items{start, stop, step})};
}
Value Value::parameter(const TensorBase& tensor) {
  Value made(tensor);
  made.kind_ = Kind::Parameter;
  return made;
}
Value Value::tensor_of_class(const TensorBase& tensor, std::string cls) {
  Value made(tensor);
  static_cast<TensorNode&>(*made.node_).cls = std::move(cls);
  return made;
}
Value Value::storage(tenon::Storage storage, ScalarType dtype) {
  TENON_CHECK_VALUE(storage, "a Value cannot hold an undefined storage");
  return {Kind::Storage, std::make_shared<StorageNode>(std::move(storage), dtype)};
}
Value Value::global(std::string name) {
  return {Kind::Global, std::make_shared<TextNode>(std::move(name), true)};
}
Value Value::object(std::string cls, Value args, bool by_new) {
  TENON_CHECK_TYPE(args.is_tuple(), "an object's arguments must be a tuple, got ",
                   args.description());
  return {Kind::Object, std::make_shared<ObjectNode>(std::move(cls), std::move(args), by_new)};
}
Value Value::object(std::string cls, Value args, std::any native) {
  Value made = object(std::move(cls), std::move(args));
  static_cast<ObjectNode&>(*made.node_).native = std::move(native);
  return made;
}

Value Value::int_of_bytes(std::string_view bytes) {
  bytes = big_integer::shortest(bytes);
  if (bytes.size() > 8) return {Kind::Int, std::make_shared<TextNode>(std::string(bytes))};
  const bool negative = !bytes.empty() && static_cast<signed char>(bytes.back()) < 0;
  std::string text(bytes);
  text.resize(8, negative ? '\xff' : '\0');
  return {Kind::Int, zip::get<int64_t>(text.data())};
}
Value Value::large(uint64_t v) {
  std::string bytes;
  zip::put<uint64_t>(bytes, v);
  return int_of_bytes(bytes + '\0');
}
Value Value::int_of_decimal(std::string_view text) {
  return int_of_bytes(big_integer::of_decimal(text));
}

// ---- what a value holds ----------------------------------------------------------------------

bool Value::is_same(const Value& other) const {
  if (kind_ != other.kind_ || static_cast<bool>(node_) != static_cast<bool>(other.node_))
    return false;
  if (!node_) return kind_ == Kind::None || int_ == other.int_;
  if (is_tensor()) {
    return static_cast<TensorNode&>(*node_).tensor.is_same(
        static_cast<TensorNode&>(*other.node_).tensor);
  }
  return node_ == other.node_;
}

bool Value::to_bool() const {
  TENON_CHECK_TYPE(is(Kind::Bool), "expected a bool, got ", description());
  return int_ != 0;
}
int64_t Value::to_int() const {
  TENON_CHECK_TYPE(is_int(), "expected an int, got ", description());
  TENON_CHECK_VALUE(!node_, "the int ", text_of(*this, kIntText), " does not fit into 64 bits");
  return int_;
}
std::string Value::int_bytes() const {
  TENON_CHECK_TYPE(is_int(), "expected an int, got ", description());
  if (node_) return static_cast<TextNode&>(*node_).text;
  std::string bytes;
  zip::put<int64_t>(bytes, int_);
  return std::string(big_integer::shortest(bytes));
}
double Value::to_double() const {
  if (is(Kind::Float)) return float_;
  TENON_CHECK_TYPE(is_int(), "expected a float, got ", description());
  return static_cast<double>(to_int());
}
std::complex<double> Value::to_complex() const {
  return node<ComplexNode>(is(Kind::Complex), "a complex number").value;
}
const std::string& Value::to_string() const { return node<TextNode>(is_string(), "a string").text; }
const std::string& Value::to_bytes() const {
  return node<TextNode>(is(Kind::Bytes) || is(Kind::ByteArray), "bytes").text;
}
tenon::Tensor Value::to_tensor() const {
  return tenon::Tensor(node<TensorNode>(is_tensor(), "a tensor").tensor);
}
tenon::Storage Value::to_storage() const {
  return node<StorageNode>(is(Kind::Storage), "a storage").storage;
}
ScalarType Value::to_dtype() const {
  if (is(Kind::Storage)) return static_cast<StorageNode&>(*node_).dtype;
  TENON_CHECK_TYPE(is(Kind::Dtype), "expected a dtype, got ", description());
  return static_cast<ScalarType>(int_);
}
tenon::Device Value::to_device() const {
  return node<DeviceNode>(is(Kind::Device), "a device").device;
}
const std::string& Value::name() const {
  if (is(Kind::Object)) return static_cast<ObjectNode&>(*node_).cls;
  if (is(Kind::Tensor)) return static_cast<TensorNode&>(*node_).cls;
  return node<TextNode>(is(Kind::Layout) || is(Kind::Global), "a layout, class or function").text;
}

const Value::Items& Value::items() const {
  const bool sequence = is_list() || is_tuple() || (kind_ >= Kind::Set && kind_ <= Kind::Size) ||
                        is(Kind::Slice) || is(Kind::Range);
  return node<ItemsNode>(sequence, "a list, tuple or set").items;
}
Value::Items& Value::list_items() const { return node<ItemsNode>(is_list(), "a list").items; }
void Value::add(Value item) const {
  node<ItemsNode>(is(Kind::Set) || is(Kind::FrozenSet), "a set").add(std::move(item));
}
std::vector<int64_t> Value::to_ints() const {
  std::vector<int64_t> ints;
  for (const Value& item : items()) ints.push_back(item.to_int());
  return ints;
}

const Value::Entries& Value::entries() const { return node<DictNode>(is_dict(), "a dict").entries; }
size_t Value::size() const { return is_dict() ? entries().size() : items().size(); }
const Value* Value::find(const Value& key) const {
  auto& n = node<DictNode>(is_dict(), "a dict");
  const size_t at = n.find(key);
  return at < n.entries.size() ? &n.entries[at].second : nullptr;
}
const Value& Value::at(const Value& key) const {
  const Value* found = find(key);
  TENON_CHECK_INDEX(found, "no key ", key);
  return *found;
}
const Value& Value::item(size_t i) const {
  const Items& all = items();
  TENON_CHECK_INDEX(i < all.size(), "index ", i, " is out of range for ", description(), " of ",
                    all.size());
  return all[i];
}
void Value::set_item(Value key, Value value) const {
  node<DictNode>(is_dict(), "a dict").set(std::move(key), std::move(value));
}

const Value& Value::attributes() const {
  if (is_dict()) return static_cast<DictNode&>(*node_).attributes;
  if (is_tensor()) return static_cast<TensorNode&>(*node_).attributes;
  if (is(Kind::Object)) return static_cast<ObjectNode&>(*node_).attributes;
  return kNone;
}
void Value::set_attributes(Value attributes) const {
  if (is(Kind::OrderedDict)) {
    static_cast<DictNode&>(*node_).attributes = std::move(attributes);
  } else if (is_tensor()) {
    static_cast<TensorNode&>(*node_).attributes = std::move(attributes);
  } else {
    node<ObjectNode>(is(Kind::Object), "an OrderedDict, tensor or object").attributes =
        std::move(attributes);
  }
}
const Value& Value::args() const { return node<ObjectNode>(is(Kind::Object), "an object").args; }
const Value& Value::elements() const {
  return is(Kind::Object) ? static_cast<ObjectNode&>(*node_).elements : kNone;
}
void Value::set_elements(Value elements) const {
  TENON_CHECK_TYPE(elements.is_list() || elements.is(Kind::Dict),
                   "an object's elements must be a list or a dict, got ", elements.description());
  node<ObjectNode>(is(Kind::Object), "an object").elements = std::move(elements);
}
bool Value::made_by_new() const { return node<ObjectNode>(is(Kind::Object), "an object").by_new; }
const std::any& Value::native() const {
  return node<ObjectNode>(is(Kind::Object), "an object").native;
}

void dispose(const Value& value) {
  // Shared, so that no node goes before all have been emptied.
  std::vector<std::shared_ptr<Node>> nodes;
  each_reachable(value, [&](const Value& v, int) { nodes.push_back(Node::share(v)); });
  std::vector<Value> children;
  for (const auto& node : nodes) node->take_children(children);
}

namespace detail {

void set_item(const Value& dict, Value key, Value value, Budget& budget) {
  static_cast<DictNode&>(*Node::share(dict)).set(std::move(key), std::move(value), &budget);
}

void add_item(const Value& set, Value item, Budget& budget) {
  static_cast<ItemsNode&>(*Node::share(set)).add(std::move(item), &budget);
}

}  // namespace detail
}  // namespace tenon::serialization
