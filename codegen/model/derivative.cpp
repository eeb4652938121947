#include "codegen/model/derivative.h"

#include <algorithm>

namespace tenon::codegen {

bool Formula::has_name(std::string_view name) const {
  return std::any_of(names.begin(), names.end(),
                     [&](const LocatedName& present) { return present.text == name; });
}

const Formula* FormulaSet::find_backward(std::string_view name) const {
  for (const Formula& formula : backward) {
    if (formula.has_name(name)) return &formula;
  }
  return nullptr;
}

const FormulaSet* Derivative::default_set() const {
  for (const FormulaSet& set : sets) {
    if (set.key.text == "Default") return &set;
  }
  return nullptr;
}

}  // namespace tenon::codegen
