#pragma once

#include "codegen/diff/change.h"
#include "codegen/model/model.h"

namespace tenon::codegen {

/// One entry in both versions.
struct EntryPair {
  const Model& before_model;
  size_t before;  // index into operators()
  const Model& after_model;
  size_t after;

  const Operator& old_op() const { return before_model.operators()[before]; }
  const Operator& new_op() const { return after_model.operators()[after]; }
};

/// The backends that compute it, Python module, tags, dtype rule, expression.
void compare_keys(const EntryPair& pair, ChangeList& changes);

/// Which arguments have gradients, and which outputs.
void compare_derivatives(const EntryPair& pair, bool with_derivatives, ChangeList& changes);

}  // namespace tenon::codegen
