#include "codegen/report/rules.h"

#include <algorithm>

#include "codegen/check/catalogue.h"

namespace tenon::codegen {
namespace {

// Rules beside those of codegen/check. Some ids are theirs too: the loader finds part of what they
// forbid.
constexpr Rule kOtherRules[] = {
    {"unreadable-file", "A file that is named exists and can be read."},
    {"yaml-syntax", "A file is one YAML document in UTF-8."},
    {"value-form", "The value of a key has the form that the key asks for."},
    {"duplicate-key", "A key is given once."},
    {"known-key", "A key of an entry is a known one."},
    {"known-word", "A word of a closed list is one of the list."},
    {"known-operator", "A derivative names an operator that is declared."},
    {"missing-key", "An entry has the key that names it."},
    {"tag-form", "A tag is declared once, with a description."},
    {"schema-syntax", "A schema follows the grammar of schemas."},
    {"derivative-schema", "The schema in a derivative's name is the operator's."},
    {"derivative-of-derived", "A derivative belongs to an entry, not to a form derived from one."},
    {"derivative-form", "Formulas are keyed by names, all under `dispatch` or none."},
    {"derivative-formula", "A formula is an expression of names that are known."},
    {"pointwise-expression", "The expression of `pointwise` is well formed and well typed."},
    {"derivable-expression", "A pointwise expression without a derivative can be differentiated."},
    {"missing-kernel", "A kernel that an entry asks for is defined."},
};

std::vector<Rule> collect() {
  std::vector<Rule> result = rules::all_rules();
  result.insert(result.end(), std::begin(kOtherRules), std::end(kOtherRules));
  std::sort(result.begin(), result.end(), [](const Rule& a, const Rule& b) { return a.id < b.id; });
  return result;
}

}  // namespace

const std::vector<Rule>& all_rules() {
  static const std::vector<Rule> kRules = collect();
  return kRules;
}

}  // namespace tenon::codegen
