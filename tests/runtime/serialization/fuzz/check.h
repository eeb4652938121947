#pragma once

#include <set>
#include <sstream>

#include "runtime/serialization/load.h"
#include "runtime/serialization/save.h"

namespace tenon::serialization {

/// Whether all tensors are small enough to be compared: few elements can be shown as very many.
inline bool is_small(const Value& root) {
  std::set<std::pair<Value::Kind, const void*>> seen;
  std::vector<Value> pending = {root};
  size_t steps = 0;
  while (!pending.empty()) {
    const Value v = pending.back();
    pending.pop_back();
    if (++steps > 100'000) return false;
    if (v.is_tensor() && v.to_tensor().numel() > 1'000'000) return false;
    if (v.is_dict() && seen.emplace(v.kind(), &v.entries()).second) {
      for (const auto& [key, value] : v.entries()) {
        pending.push_back(key);
        pending.push_back(value);
      }
    } else if ((v.is_list() || v.is_tuple() || v.is(Value::Kind::Set) ||
                v.is(Value::Kind::FrozenSet)) &&
               seen.emplace(v.kind(), &v.items()).second) {
      for (const Value& item : v.items()) pending.push_back(item);
    }
    if (!v.attributes().is_none()) pending.push_back(v.attributes());
  }
  return true;
}

/// What was loaded can be printed and compared, and what can be saved loads as the same again.
inline void check(const Value& value) {
  std::ostringstream text, out;
  text << value;
  if (!(value == value)) __builtin_trap();
  try {
    save(value, out);
  } catch (const tenon::Error&) {
    return;  // one memory under two dtypes, say
  }
  const std::string bytes = out.str();
  LoadOptions options;
  options.weights_only = false;
  options.map_location = [](const Storage& storage, const std::string&) { return storage; };
  const Value back = load(bytes.data(), bytes.size(), options);
  if (is_small(value) && !(back == value)) __builtin_trap();
  dispose(back);
}

}  // namespace tenon::serialization
