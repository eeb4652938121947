#include <bit>
#include <cstring>
#include <set>

#include "runtime/serialization/values/value_visit.h"

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
  const auto values = [](const Tensor& t) {
    return t.detach().cpu().resolve_conj().resolve_neg().contiguous();
  };
  const Tensor x = values(a), y = values(b);
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

  static std::vector<const Value*> children(const Value& v) {
    std::vector<const Value*> all;
    detail::each_child(
        v, [&](detail::Part, const Value& child, const Value*) { all.push_back(&child); });
    return all;
  }

  bool same_parts(const Value& a, const Value& b) {
    if (a.is_tensor() && !same_tensor(a.to_tensor(), b.to_tensor())) return false;
    if (a.is(Kind::Tensor) && a.name() != b.name()) return false;
    if (a.is(Kind::Object) && (a.name() != b.name() || a.made_by_new() != b.made_by_new()))
      return false;
    if (a.is(Kind::Set) || a.is(Kind::FrozenSet)) return same_sets(a, b);
    const auto x = children(a), y = children(b);
    if (x.size() != y.size()) return false;
    for (size_t i = 0; i < x.size(); ++i)
      if (!same(*x[i], *y[i])) return false;
    return true;
  }

  static bool same_sets(const Value& a, const Value& b) {
    if (a.size() != b.size()) return false;
    std::set<std::string> keys;
    for (const Value& item : a.items()) keys.insert(detail::hash_key(item));
    for (const Value& item : b.items())
      if (!keys.contains(detail::hash_key(item))) return false;
    return true;
  }

  std::set<std::pair<const Node*, const Node*>> seen_;
  int depth_ = 0;
};

}  // namespace

bool operator==(const Value& a, const Value& b) { return Comparison().same(a, b); }

}  // namespace tenon::serialization
