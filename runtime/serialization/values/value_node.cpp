#include "runtime/serialization/values/value_node.h"

#include <bit>
#include <cmath>
#include <set>

#include "runtime/serialization/budget.h"
#include "runtime/serialization/zip/zip_format.h"

namespace tenon::serialization::detail {
namespace {

using Kind = Value::Kind;

/// Dicts are searched in order while they are this small.
constexpr size_t kFew = 8;

void spend(Budget* budget, uint64_t bytes) {
  if (budget) budget->spend(bytes);
}

/// Writes the text of a key. References within tuples could make a small key endless, so its parts
/// and its length are limited.
class KeyWriter {
 public:
  explicit KeyWriter(Budget* budget) : budget_(budget) {}

  std::string run(const Value& key) {
    write(key, 0);
    return std::move(text_);
  }

 private:
  static constexpr int kMaxParts = 10'000;
  static constexpr size_t kMaxBytes = size_t{64} << 10;

  /// What a part costs beside its bytes.
  static constexpr uint64_t kPart = 32;

  void add(char kind, const std::string& s) {
    spend(budget_, s.size());
    text_ += kind;
    zip::put<uint64_t>(text_, s.size());
    text_ += s;
  }
  void add(char kind, const void* address) {
    text_ += kind;
    zip::put<uint64_t>(text_, reinterpret_cast<uint64_t>(address));
  }
  void add(double v) {
    text_ += 'f';
    zip::put<uint64_t>(text_, std::bit_cast<uint64_t>(v));
  }

  void write(const Value& key, int depth) {
    TENON_CHECK_VALUE(depth < kMaxDepth && ++parts_ <= kMaxParts &&
                          (depth == 0 || text_.size() <= kMaxBytes),
                      "a key is nested too deep or too large");
    spend(budget_, kPart);
    switch (key.kind()) {
    case Kind::None: text_ += 'N'; return;
    // Numbers that are equal are one key: 1, 1.0 and True.
    case Kind::Bool: return add('i', Value(key.to_bool() ? 1 : 0).int_bytes());
    case Kind::Int: return add('i', key.int_bytes());
    case Kind::Float: {
      const double v = key.to_double();
      if (v == std::floor(v) && std::fabs(v) < 0x1p63)
        return add('i', Value(static_cast<int64_t>(v)).int_bytes());
      return add(v);
    }
    case Kind::String: return add('s', key.to_string());
    case Kind::Bytes: return add('b', key.to_bytes());
    case Kind::Dtype: return add('d', std::to_string(static_cast<int>(key.to_dtype())));
    case Kind::Device: return add('D', key.to_device().str());
    case Kind::Layout:
    case Kind::Global: return add('g', key.name());
    case Kind::Complex:
      text_ += 'c';
      add(key.to_complex().real());
      return add(key.to_complex().imag());
    case Kind::Tuple:
    case Kind::Size:
    case Kind::Range:
      text_ += key.is(Kind::Range) ? 'r' : 't';
      zip::put<uint64_t>(text_, key.size());
      for (const Value& item : key.items()) write(item, depth + 1);
      return;
    case Kind::FrozenSet: return write_set(key, depth);
    case Kind::Tensor:
    case Kind::Parameter: return add('T', key.to_tensor().unsafe_impl());
    case Kind::Storage:
    case Kind::Object: return add('O', Node::of(key));
    default: break;
    }
    tenon::detail::raise<TypeError>("unhashable: ", key.description(), " cannot be a key");
  }

  /// Whatever order a frozenset has, it is the same key.
  void write_set(const Value& key, int depth) {
    std::set<std::string> parts;
    const std::string before = std::exchange(text_, std::string());
    for (const Value& item : key.items()) {
      write(item, depth + 1);
      parts.insert(std::exchange(text_, std::string()));
    }
    text_ = before + 'z';
    zip::put<uint64_t>(text_, parts.size());
    for (const std::string& part : parts) add('p', part);
  }

  Budget* budget_;
  std::string text_;
  int parts_ = 0;
};

}  // namespace

std::string hash_key(const Value& key, Budget* budget) { return KeyWriter(budget).run(key); }

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
  index_.clear();
}

void ItemsNode::add(Value item, Budget* budget) {
  spend(budget, Budget::kValue);
  if (index_.emplace(hash_key(item, budget), items.size()).second) items.push_back(std::move(item));
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
  to.push_back(std::exchange(elements, Value()));
  to.push_back(std::exchange(attributes, Value()));
}

ObjectNode::~ObjectNode() {
  std::vector<Value> children;
  take_children(children);
  release(std::move(children));
}

size_t DictNode::find(const Value& key, Budget* budget) {
  if (entries.size() > kFew) {
    make_index(budget);
    const auto it = index_.find(hash_key(key, budget));
    return it == index_.end() ? entries.size() : it->second;
  }
  // Most keys are strings: no text need be made to compare two.
  const bool is_string = key.is_string();
  const std::string wanted = is_string ? std::string() : hash_key(key, budget);
  const auto same_string = [&](const Value& k) {
    if (Node::of(k) == Node::of(key)) return true;
    const std::string &a = k.to_string(), &b = key.to_string();
    if (a.size() != b.size()) return false;
    spend(budget, a.size());
    return a == b;
  };
  for (size_t i = 0; i < entries.size(); ++i) {
    const Value& k = entries[i].first;
    if (k.is_string() != is_string) continue;
    if (is_string ? same_string(k) : hash_key(k, budget) == wanted) return i;
  }
  return entries.size();
}

void DictNode::make_index(Budget* budget) {
  if (!index_.empty()) return;
  std::map<std::string, size_t> made;
  for (size_t i = 0; i < entries.size(); ++i) made.emplace(hash_key(entries[i].first, budget), i);
  index_ = std::move(made);
}

void DictNode::set(Value key, Value value, Budget* budget) {
  spend(budget, 2 * Budget::kValue);
  size_t at = 0;
  if (entries.size() > kFew) {
    make_index(budget);
    at = index_.emplace(hash_key(key, budget), entries.size()).first->second;
  } else {
    at = find(key, budget);
  }
  if (at < entries.size()) {
    entries[at].second = std::move(value);
  } else {
    entries.emplace_back(std::move(key), std::move(value));
  }
}

}  // namespace tenon::serialization::detail
