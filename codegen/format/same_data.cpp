#include "codegen/format/same_data.h"

#include <algorithm>
#include <map>

#include "codegen/format/canonical.h"
#include "codegen/yaml/reader.h"

namespace tenon::codegen {
namespace {

bool same_value(const YamlNode& a, const YamlNode& b, std::optional<ValueForm> form) {
  if (a.kind != b.kind || a.items.size() != b.items.size() ||
      a.entries.size() != b.entries.size()) {
    return false;
  }
  if (a.is_scalar()) {
    return canonical_text(form, detail::trimmed(a.scalar).text) ==
           canonical_text(form, detail::trimmed(b.scalar).text);
  }
  for (size_t i = 0; i < a.items.size(); ++i) {
    if (!same_value(*a.items[i], *b.items[i], form)) return false;
  }
  for (size_t i = 0; i < a.entries.size(); ++i) {
    const auto& [a_key, a_value] = a.entries[i];
    const auto& [b_key, b_value] = b.entries[i];
    const bool same_key = canonical_key(a_key->scalar.text) == canonical_key(b_key->scalar.text);
    if (!same_key || !same_value(*a_value, *b_value, std::nullopt)) return false;
  }
  return true;
}

// By key; several of one key, which is a mistake, in file order.
std::multimap<std::string, const YamlNode*> values_of(const YamlNode& entry) {
  std::multimap<std::string, const YamlNode*> values;
  for (const auto& [key, value] : entry.entries) {
    values.emplace(canonical_key(key->scalar.text), value.get());
  }
  return values;
}

bool same_entry(const YamlNode& a, const YamlNode& b, FileKind kind) {
  if (!a.is_map() || !b.is_map()) return same_value(a, b, std::nullopt);
  const auto a_values = values_of(a), b_values = values_of(b);
  return std::equal(a_values.begin(), a_values.end(), b_values.begin(), b_values.end(),
                    [&](const auto& x, const auto& y) {
                      const KeyInfo* info = find_key(kind, x.first);
                      std::optional<ValueForm> form;
                      if (info != nullptr) form = info->form;
                      return x.first == y.first && same_value(*x.second, *y.second, form);
                    });
}

}  // namespace

bool same_data(const YamlNode& a, const YamlNode& b, FileKind kind) {
  if (a.is_map()) return same_entry(a, b, kind);
  return std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(),
                    [&](const YamlPtr& x, const YamlPtr& y) { return same_entry(*x, *y, kind); });
}

}  // namespace tenon::codegen
