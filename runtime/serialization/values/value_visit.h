#pragma once

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include "runtime/serialization/values/value_node.h"

namespace tenon::serialization::detail {

/// What a value is within the one that holds it.
enum class Part : uint8_t { Item, Key, Arguments, Attributes };

/// Calls f(part, child, key) for each value that `v` holds itself, in the order of writing. The key
/// of an item of a dict is not null.
template <class F>
void each_child(const Value& v, F&& f) {
  using Kind = Value::Kind;
  switch (v.kind()) {
  case Kind::Dict:
  case Kind::OrderedDict:
  case Kind::Counter:
    for (const auto& [key, item] : v.entries()) {
      f(Part::Key, key, nullptr);
      f(Part::Item, item, &key);
    }
    break;
  case Kind::List:
  case Kind::Tuple:
  case Kind::Set:
  case Kind::FrozenSet:
  case Kind::Size:
  case Kind::Slice:
  case Kind::Range:
    for (const Value& item : v.items()) f(Part::Item, item, nullptr);
    break;
  case Kind::Object:
    f(Part::Arguments, v.args(), nullptr);
    if (!v.elements().is_none()) f(Part::Attributes, v.elements(), nullptr);
    break;
  default: break;
  }
  if (const Value& attributes = v.attributes(); !attributes.is_none())
    f(Part::Attributes, attributes, nullptr);
}

/// Whether a value of this kind may hold others.
inline bool holds_values(const Value& v) {
  using Kind = Value::Kind;
  return (v.kind() >= Kind::List && v.kind() <= Kind::FrozenSet) || v.is(Kind::Slice) ||
         v.is_tensor() || v.is(Kind::Object);
}

using Nodes = std::unordered_set<const Node*>;

/// Calls f(value, depth) once for each container, tensor and storage that can be reached, in the
/// order of writing; the root's depth is 1. Gives all of them.
template <class F>
Nodes each_reachable(const Value& root, F&& f) {
  Nodes seen;
  std::vector<std::pair<const Value*, int>> pending;
  const auto add = [&](const Value& v, int depth) {
    if (holds_values(v) || v.is(Value::Kind::Storage)) pending.emplace_back(&v, depth);
  };
  add(root, 1);
  while (!pending.empty()) {
    const auto [v, depth] = pending.back();
    pending.pop_back();
    if (!seen.insert(Node::of(*v)).second) continue;
    f(*v, depth);
    const auto first = static_cast<std::ptrdiff_t>(pending.size());
    each_child(
        *v, [&, below = depth + 1](Part, const Value& child, const Value*) { add(child, below); });
    std::reverse(pending.begin() + first, pending.end());
  }
  return seen;
}

}  // namespace tenon::serialization::detail
