#include "codegen/model/operator.h"

#include <algorithm>

namespace tenon::codegen {

namespace {

// Upstream's names of the keys that ours abbreviate.
std::string_view canonical_key(std::string_view key) {
  if (key == "CompositeExplicitAutograd") return "CompositeExplicit";
  if (key == "CompositeImplicitAutograd") return "CompositeImplicit";
  return key;
}

}  // namespace

const PointwiseCase* Pointwise::find(std::string_view output, std::string_view category,
                                     std::string_view backend) const {
  const PointwiseCase* best = nullptr;
  int best_score = -1;
  for (const PointwiseCase& c : cases) {
    const bool matches = (c.output.empty() || c.output == output) &&
                         (c.category.empty() || c.category == category) &&
                         (c.backend.empty() || c.backend == backend);
    const int score =
        (c.backend.empty() ? 0 : 4) + (c.category.empty() ? 0 : 2) + (c.output.empty() ? 0 : 1);
    if (matches && score > best_score) {
      best = &c;
      best_score = score;
    }
  }
  return best;
}

const Location* Operator::key_location(std::string_view key) const {
  for (const LocatedName& present : keys) {
    if (present.text == key) return &present.location;
  }
  return nullptr;
}

const Composition* Operator::composition() const {
  const Foreach* lists = as<Foreach>();
  return lists != nullptr ? lists : as<Composition>();
}

Composition* Operator::composition() {
  Foreach* lists = as<Foreach>();
  return lists != nullptr ? lists : as<Composition>();
}

const OverloadSet* Operator::overload_set() const {
  const Composition* chosen = as<Composition>();
  return chosen != nullptr && chosen->overload_set ? &*chosen->overload_set : nullptr;
}

bool Operator::uses_tenon_keys() const {
  return names_backends || has_key("pointwise") || has_key("rowwise") || has_key("composite") ||
         has_key("foreach");
}

const DispatchEntry* Operator::find_dispatch(std::string_view key) const {
  for (const DispatchEntry& entry : dispatch) {
    if (canonical_key(entry.key) == canonical_key(key)) return &entry;
  }
  return nullptr;
}

bool Operator::has_tag(std::string_view tag) const {
  return std::any_of(tags.begin(), tags.end(),
                     [&](const LocatedName& present) { return present.text == tag; });
}

bool Operator::is_view() const {
  return schema.is_view() || (has_tag("inplace_view") && autogen.empty());
}

bool Operator::is_composite_implicit(Dialect dialect) const {
  if (find_dispatch("CompositeImplicit") != nullptr) return true;
  if (const Composition* written = composition()) return written->implicit;
  if (const CompositeFunction* function = as<CompositeFunction>()) return function->implicit;
  return dialect == Dialect::kUpstream && is<Unsaid>();
}

bool Operator::is_composite() const {
  return composition() != nullptr || is<CompositeFunction>() ||
         find_dispatch("CompositeImplicit") != nullptr ||
         find_dispatch("CompositeExplicit") != nullptr;
}

}  // namespace tenon::codegen
