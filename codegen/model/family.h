#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "codegen/model/operator.h"
#include "codegen/model/variants.h"

namespace tenon::codegen {

/// One form of an operator.
struct Form {
  enum class Origin : uint8_t {
    kEntry,      // an entry of native_functions.yaml
    kVariant,    // derived, because the entry's `variants` asks for it
    kGenerated,  // made of the entry, because its family lacks this form (`autogen`)
  };
  size_t op = 0;  // the entry, or the one that the form is made of
  schema::FunctionSchema schema;
  schema::SchemaKind kind = schema::SchemaKind::kFunctional;
  Origin origin = Origin::kEntry;
};

/// The forms of one operator: functional, in-place, out, mutable; all have the same signature().
struct Family {
  std::vector<Form> forms;  // entries and their variants in file order, generated forms last

  /// The first form of a kind that is not generated, or null.
  const Form* find(schema::SchemaKind kind) const;
};

/// Groups the entries of a model, and adds to each group the forms that `autogen` makes: an out
/// form where the base entry names one in `autogen`, and a functional form where there is an out
/// form and no functional one. None is made for views, for operators without a binding
/// (`manual_cpp_binding`), for composite operators that decompose (unless tagged `core`), nor for
/// an out form alone.
std::vector<Family> make_families(const std::vector<Operator>& operators,
                                  const std::vector<std::vector<VariantSchema>>& variants,
                                  Dialect dialect);

}  // namespace tenon::codegen
