#include "runtime/serialization/value_node.h"

#include <bit>
#include <cmath>
#include <unordered_set>

#include "runtime/serialization/zip_format.h"

namespace tenon::serialization {
namespace detail {
namespace {

using Kind = Value::Kind;

/// Dicts are searched in order while they are this small.
constexpr size_t kFew = 8;

std::string number_key(double v) {
  std::string key = "f";
  zip::put<uint64_t>(key, std::bit_cast<uint64_t>(v));
  return key;
}

void write_key(std::string& to, const Value& key, int depth) {
  TENON_CHECK_VALUE(depth < kMaxDepth, "a key is nested deeper than ", kMaxDepth);
  const auto text = [&](char kind, const std::string& s) {
    to += kind;
    zip::put<uint64_t>(to, s.size());
    to += s;
  };
  switch (key.kind()) {
  case Kind::None: to += 'N'; return;
  // Numbers that are equal are one key: 1, 1.0 and True.
  case Kind::Bool: return text('i', Value(key.to_bool() ? 1 : 0).int_bytes());
  case Kind::Int: return text('i', key.int_bytes());
  case Kind::Float: {
    const double v = key.to_double();
    if (v == std::floor(v) && std::fabs(v) < 0x1p63)
      return text('i', Value(static_cast<int64_t>(v)).int_bytes());
    to += number_key(v);
    return;
  }
  case Kind::String: return text('s', key.to_string());
  case Kind::Bytes: return text('b', key.to_bytes());
  case Kind::Dtype: return text('d', std::to_string(static_cast<int>(key.to_dtype())));
  case Kind::Device: return text('D', key.to_device().str());
  case Kind::Layout:
  case Kind::Global: return text('g', key.name());
  case Kind::Complex:
    to += 'c' + number_key(key.to_complex().real()) + number_key(key.to_complex().imag());
    return;
  case Kind::Tuple:
  case Kind::Size:
  case Kind::Range:
    to += key.is(Kind::Range) ? 'r' : 't';
    zip::put<uint64_t>(to, key.size());
    for (const Value& item : key.items()) write_key(to, item, depth + 1);
    return;
  case Kind::FrozenSet: {
    // Whatever order a frozenset has, it is the same key.
    std::map<std::string, bool> parts;
    for (const Value& item : key.items()) {
      std::string part;
      write_key(part, item, depth + 1);
      parts.emplace(std::move(part), true);
    }
    to += 'z';
    zip::put<uint64_t>(to, parts.size());
    for (const auto& part : parts) text('p', part.first);
    return;
  }
  case Kind::Tensor:
  case Kind::Parameter:
    to += 'T';
    zip::put<uint64_t>(to, reinterpret_cast<uint64_t>(key.to_tensor().unsafe_impl()));
    return;
  case Kind::Storage:
  case Kind::Object:
    to += 'O';
    zip::put<uint64_t>(to, reinterpret_cast<uint64_t>(Node::of(key)));
    return;
  default: break;
  }
  tenon::detail::raise<TypeError>("unhashable: ", key.description(), " cannot be a key");
}

}  // namespace

std::string hash_key(const Value& key) {
  std::string text;
  write_key(text, key, 0);
  return text;
}

void HoldingNode::release(std::vector<Value>&& values) {
  // Destroying a value may destroy a node, which comes here again and leaves its own values to the
  // outermost call.
  thread_local std::vector<Value>* pending = nullptr;
  if (pending) {
    for (Value& v : values) pending->push_back(std::move(v));
    values.clear();
    return;
  }
  std::vector<Value> all = std::move(values);
  pending = &all;
  while (!all.empty()) {
    const Value last = std::move(all.back());
    all.pop_back();
  }
  pending = nullptr;
}

void ItemsNode::take_children(std::vector<Value>& to) {
  for (Value& item : items) to.push_back(std::move(item));
  items.clear();
  index.clear();
}

void DictNode::take_children(std::vector<Value>& to) {
  for (auto& [key, value] : entries) {
    to.push_back(std::move(key));
    to.push_back(std::move(value));
  }
  entries.clear();
  index_.clear();
  if (!attributes.is_none()) to.push_back(std::exchange(attributes, Value()));
}

DictNode::~DictNode() {
  std::vector<Value> children;
  take_children(children);
  release(std::move(children));
}

void TensorNode::take_children(std::vector<Value>& to) {
  if (!attributes.is_none()) to.push_back(std::exchange(attributes, Value()));
}

TensorNode::~TensorNode() {
  if (!attributes.is_none()) release({std::exchange(attributes, Value())});
}

void ObjectNode::take_children(std::vector<Value>& to) {
  to.push_back(std::exchange(args, Value()));
  to.push_back(std::exchange(attributes, Value()));
}

ObjectNode::~ObjectNode() {
  std::vector<Value> children;
  take_children(children);
  release(std::move(children));
}

size_t DictNode::find(const Value& key) {
  if (entries.size() > kFew) {
    make_index();
    const auto it = index_.find(hash_key(key));
    return it == index_.end() ? entries.size() : it->second;
  }
  // Most keys are strings: no text need be made to compare two.
  const bool is_string = key.is_string();
  const std::string wanted = is_string ? std::string() : hash_key(key);
  for (size_t i = 0; i < entries.size(); ++i) {
    const Value& k = entries[i].first;
    if (k.is_string() != is_string) continue;
    if (is_string ? k.to_string() == key.to_string() : hash_key(k) == wanted) return i;
  }
  return entries.size();
}

void DictNode::make_index() {
  if (!index_.empty()) return;
  for (size_t i = 0; i < entries.size(); ++i) index_.emplace(hash_key(entries[i].first), i);
}

void DictNode::set(Value key, Value value) {
  size_t at = 0;
  if (entries.size() > kFew) {
    make_index();
    at = index_.emplace(hash_key(key), entries.size()).first->second;
  } else {
    at = find(key);
  }
  if (at < entries.size()) {
    entries[at].second = std::move(value);
  } else {
    entries.emplace_back(std::move(key), std::move(value));
  }
}

}  // namespace detail

void dispose(const Value& value) {
  using detail::Node;
  // Shared, so that no node goes before all have been visited.
  std::unordered_set<std::shared_ptr<Node>> seen;
  std::vector<Value> pending = {value};
  while (!pending.empty()) {
    const Value next = std::move(pending.back());
    pending.pop_back();
    const auto node = Node::share(next);
    if (node && seen.insert(node).second) node->take_children(pending);
  }
}

}  // namespace tenon::serialization
