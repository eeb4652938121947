#include <bit>
#include <cstring>
#include <set>

#include "runtime/serialization/value_node.h"

namespace tenon::serialization {
namespace {

using Kind = Value::Kind;
using detail::Node;

bool same_tensor(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.sizes() != b.sizes() || a.device() != b.device() ||
      a.requires_grad() != b.requires_grad()) {
    return false;
  }
  if (a.is_meta() || a.numel() == 0) return true;
  const Tensor x = a.detach().cpu().contiguous(), y = b.detach().cpu().contiguous();
  return std::memcmp(x.data_ptr(), y.data_ptr(), x.nbytes()) == 0;
}

bool same_storage(const Value& a, const Value& b) {
  const Storage x = a.to_storage(), y = b.to_storage();
  if (a.to_dtype() != b.to_dtype() || x.nbytes() != y.nbytes() || !(x.device() == y.device()))
    return false;
  if (x.is_alias_of(y) || x.nbytes() == 0 || !x.device().is_cpu()) return true;
  return std::memcmp(x.data(), y.data(), x.nbytes()) == 0;
}

class Comparison {
 public:
  bool same(const Value& a, const Value& b) {
    if (a.kind() != b.kind()) return false;
    switch (a.kind()) {
    case Kind::None: return true;
    case Kind::Bool: return a.to_bool() == b.to_bool();
    case Kind::Int: return a.int_bytes() == b.int_bytes();
    case Kind::Float: return same_bits(a.to_double(), b.to_double());
    case Kind::Complex:
      return same_bits(a.to_complex().real(), b.to_complex().real()) &&
             same_bits(a.to_complex().imag(), b.to_complex().imag());
    case Kind::String: return a.to_string() == b.to_string();
    case Kind::Bytes:
    case Kind::ByteArray: return a.to_bytes() == b.to_bytes();
    case Kind::Dtype: return a.to_dtype() == b.to_dtype();
    case Kind::Device: return a.to_device() == b.to_device();
    case Kind::Layout:
    case Kind::Global: return a.name() == b.name();
    case Kind::Storage: return same_storage(a, b);
    default: break;
    }
    // A pair that is being compared already is taken as equal; only a difference elsewhere counts.
    if (Node::of(a) == Node::of(b) || !seen_.emplace(Node::of(a), Node::of(b)).second) return true;
    TENON_CHECK(depth_ < kMaxDepth, "values nested deeper than ", kMaxDepth, " cannot be compared");
    ++depth_;
    const bool result = same_parts(a, b);
    --depth_;
    return result;
  }

 private:
  static bool same_bits(double a, double b) {
    return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
  }

  bool same_parts(const Value& a, const Value& b) {
    if (!same(a.attributes(), b.attributes())) return false;
    if (a.is_tensor()) return same_tensor(a.to_tensor(), b.to_tensor());
    if (a.is(Kind::Object)) {
      return a.name() == b.name() && a.made_by_new() == b.made_by_new() && same(a.args(), b.args());
    }
    if (a.size() != b.size()) return false;
    if (a.is_dict()) {
      for (size_t i = 0; i < a.size(); ++i) {
        const auto& [key, value] = a.entries()[i];
        const auto& [other_key, other_value] = b.entries()[i];
        if (!same(key, other_key) || !same(value, other_value)) return false;
      }
      return true;
    }
    if (a.is(Kind::Set) || a.is(Kind::FrozenSet)) {
      std::set<std::string> keys;
      for (const Value& item : a.items()) keys.insert(detail::hash_key(item));
      for (const Value& item : b.items())
        if (!keys.contains(detail::hash_key(item))) return false;
      return true;
    }
    for (size_t i = 0; i < a.size(); ++i)
      if (!same(a.items()[i], b.items()[i])) return false;
    return true;
  }

  std::set<std::pair<const Node*, const Node*>> seen_;
  int depth_ = 0;
};

}  // namespace

bool operator==(const Value& a, const Value& b) { return Comparison().same(a, b); }

}  // namespace tenon::serialization
