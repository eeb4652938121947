#include "runtime/serialization/pickle/value_pickler.h"

#include <algorithm>

#include "runtime/serialization/pickle/dtype_name.h"
#include "runtime/serialization/pickle/pickle_text.h"
#include "runtime/serialization/values/value_node.h"

namespace tenon::serialization {

using detail::Node;
using detail::TextNode;
using Kind = Value::Kind;

namespace {

/// Python's pickler writes containers in portions.
constexpr size_t kBatch = 1000;

const void* identity(const Value& v) {
  if (!v.is_tensor()) return Node::of(v);
  // A parameter and a tensor over the same implementation are two objects.
  const char* impl = reinterpret_cast<const char*>(v.to_tensor().unsafe_impl());
  return v.is(Kind::Parameter) ? impl + 1 : impl;
}

/// Whether Python has only one object for the text: the empty one and those of one Latin-1
/// character.
bool is_unique(const std::string& text) {
  if (text.size() <= 1) return true;
  const auto first = static_cast<uint8_t>(text[0]);
  return text.size() == 2 && (first == 0xC2 || first == 0xC3);
}

}  // namespace

std::string ValuePickler::place() const {
  std::string place;
  for (const Value* key : path_) place += tenon::detail::concat("[", *key, "]");
  if (!place.empty()) place += ": ";
  return place;
}

void ValuePickler::fail(const std::string& what) const {
  tenon::detail::raise<Error>("[save] ", place(), what);
}

std::string ValuePickler::run(const Value& value) {
  save(value);
  return std::move(out_).finish();
}

const ValuePickler::Memo* ValuePickler::memo_of(const Value& v) const {
  const auto it = memo_.find(identity(v));
  return it == memo_.end() ? nullptr : &it->second;
}

void ValuePickler::memoize(const Value& v, Memo memo) { memo_.emplace(identity(v), memo); }

void ValuePickler::save_at(const Value& key, const Value& v) {
  path_.push_back(&key);
  save(v);
  path_.pop_back();
}

void ValuePickler::save(const Value& v) {
  switch (v.kind()) {
  case Kind::None: return out_.none();
  case Kind::Bool: return out_.boolean(v.to_bool());
  case Kind::Int:
    return v.fits_int64() ? out_.integer(v.to_int()) : out_.long_integer(v.int_bytes());
  case Kind::Float: return out_.real(v.to_double());
  case Kind::Dtype: return out_.global("torch", dtype_name(v.to_dtype()));
  case Kind::Global: return out_.global(v.name());
  case Kind::Storage: return storage(v);
  case Kind::String: return text(v);
  default: break;
  }
  if (const Memo* memo = memo_of(v)) return out_.get(*memo);
  if (++depth_ > kMaxDepth) {
    fail("values nested deeper than " + std::to_string(kMaxDepth) + " cannot be saved");
  }
  save_node(v);
  --depth_;
}

void ValuePickler::save_node(const Value& v) {
  switch (v.kind()) {
  case Kind::Bytes: return bytes(v);
  case Kind::List: return list(v);
  case Kind::Tuple: return tuple(v);
  case Kind::Dict: return dict(v);
  case Kind::OrderedDict: return ordered_dict(v);
  case Kind::ByteArray: return called("__builtin__", "bytearray", v);
  case Kind::Counter: return called("collections", "Counter", v);
  case Kind::Set: return called("__builtin__", "set", v);
  case Kind::FrozenSet: return called("__builtin__", "frozenset", v);
  case Kind::Complex: return called("__builtin__", "complex", v);
  case Kind::Slice: return called("__builtin__", "slice", v);
  case Kind::Range: return called("__builtin__", "xrange", v);
  case Kind::Size: return called("torch", "Size", v);
  case Kind::Device: return called("torch", "device", v);
  case Kind::Layout: return called("torch.serialization", "_get_layout", v);
  case Kind::Tensor: return tensor(v);
  case Kind::Parameter: return parameter(v);
  default: return object(v);
  }
}

void ValuePickler::text(const Value& v) {
  const std::string& s = v.to_string();
  if (static_cast<const TextNode*>(Node::of(v))->literal || is_unique(s))
    return out_.shared_string(s);
  if (const Memo* memo = memo_of(v)) return out_.get(*memo);
  memoize(v, out_.string(s));
}

void ValuePickler::plain_bytes(const std::string& data) {
  // Python would write b'' as a call of bytes, which torch.load with weights_only refuses.
  out_.global("_codecs", "encode");
  const std::string text = latin1_to_utf8(data);
  if (is_unique(text)) {
    out_.shared_string(text);
  } else {
    out_.string(text);
  }
  out_.shared_string("latin1");
  out_.tuple(2);
}

void ValuePickler::bytes(const Value& v) {
  const std::string& data = v.to_bytes();
  // Python has one object for no bytes and one for each single byte.
  const bool unique = data.size() <= 1;
  if (unique)
    if (const auto it = bytes_.find(data); it != bytes_.end()) return out_.get(it->second);
  plain_bytes(data);
  if (!unique) return reduced(v);
  bytes_.emplace(data, out_.reduce());
}

void ValuePickler::reduced(const Value& v, bool by_new) {
  if (const Memo* memo = memo_of(v)) return out_.drop_reduced(by_new, *memo);
  memoize(v, by_new ? out_.new_object() : out_.reduce());
}

void ValuePickler::list(const Value& v) {
  memoize(v, out_.empty_list());
  const auto& items = v.items();
  if (items.size() == 1) {
    save_at(0, items[0]);
    return out_.append();
  }
  for (size_t begin = 0; begin < items.size(); begin += kBatch) {
    out_.mark();
    for (size_t i = begin; i < std::min(begin + kBatch, items.size()); ++i) save_at(i, items[i]);
    out_.appends();
  }
}

void ValuePickler::tuple(const Value& v) {
  const auto& items = v.items();
  if (items.empty()) return out_.empty_tuple();
  out_.begin_tuple(items.size());
  for (size_t i = 0; i < items.size(); ++i) save_at(i, items[i]);
  // A tuple can hold itself through a list; by now it is written.
  if (const Memo* memo = memo_of(v)) return out_.drop_tuple(items.size(), *memo);
  memoize(v, out_.tuple(items.size()));
}

void ValuePickler::dict(const Value& v) {
  memoize(v, out_.empty_dict());
  const auto& entries = v.entries();
  if (entries.size() == 1) {
    save(entries[0].first);
    save_at(entries[0].first, entries[0].second);
    return out_.set_item();
  }
  // A full last portion is followed by an empty one, as in Python.
  for (size_t begin = 0; !entries.empty() && begin <= entries.size(); begin += kBatch) {
    out_.mark();
    for (size_t i = begin; i < std::min(begin + kBatch, entries.size()); ++i) {
      save(entries[i].first);
      save_at(entries[i].first, entries[i].second);
    }
    out_.set_items();
  }
}

void ValuePickler::ordered_dict(const Value& v) {
  out_.global("collections", "OrderedDict");
  out_.empty_tuple();
  memoize(v, out_.reduce());
  elements(v);
  if (v.attributes().is_none()) return;
  save(v.attributes());
  out_.build();
}

/// What is put into a list or dict that a call made.
void ValuePickler::elements(const Value& v) {
  const bool is_dict = v.is_dict();
  for (size_t begin = 0; begin < v.size(); begin += kBatch) {
    const size_t count = std::min(kBatch, v.size() - begin);
    if (count > 1) out_.mark();
    for (size_t i = begin; i < begin + count; ++i) {
      if (is_dict) {
        save(v.entries()[i].first);
        save_at(v.entries()[i].first, v.entries()[i].second);
      } else {
        save_at(i, v.items()[i]);
      }
    }
    if (is_dict) {
      count > 1 ? out_.set_items() : out_.set_item();
    } else {
      count > 1 ? out_.appends() : out_.append();
    }
  }
}

/// A call of a class whose arguments say all about the instance.
void ValuePickler::called(const char* module, const char* name, const Value& v) {
  if (v.is(Kind::Layout)) {
    // One object per layout, whatever Value says it.
    if (const auto it = layouts_.find(v.name()); it != layouts_.end()) return out_.get(it->second);
  }
  out_.global(module, name);
  size_t arguments = 1;
  switch (v.kind()) {
  case Kind::ByteArray:
    if (v.to_bytes().empty()) {
      out_.empty_tuple();
      return reduced(v);
    }
    plain_bytes(v.to_bytes());
    out_.reduce();
    break;
  case Kind::Counter: dict(keep(Value::dict(v.entries()))); break;
  case Kind::Set:
  case Kind::FrozenSet: list(keep(Value::list(v.items()))); break;
  case Kind::Complex:
    out_.real(v.to_complex().real());
    out_.real(v.to_complex().imag());
    arguments = 2;
    break;
  case Kind::Slice:
  case Kind::Range:
    for (const Value& part : v.items()) save(part);
    arguments = 3;
    break;
  case Kind::Size: tuple(keep(Value::tuple(v.items()))); break;
  case Kind::Device: {
    const Device device = v.to_device();
    out_.string(tenon::to_string(device.type()));
    if (device.has_index()) {
      out_.integer(device.index());
      arguments = 2;
    }
    break;
  }
  default: out_.string(v.name()); break;
  }
  out_.tuple(arguments);
  if (v.is(Kind::Layout)) {
    layouts_.emplace(v.name(), out_.reduce());
  } else {
    reduced(v);
  }
}

void ValuePickler::object(const Value& v) {
  out_.global(v.name());
  save(v.args());
  reduced(v, v.made_by_new());
  if (!v.elements().is_none()) elements(v.elements());
  if (v.attributes().is_none()) return;
  save(v.attributes());
  out_.build();
}

}  // namespace tenon::serialization
