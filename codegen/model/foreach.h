#pragma once

#include <optional>
#include <set>
#include <string>

#include "codegen/expr/formulas/formula.h"
#include "codegen/model/operator.h"

// `foreach`: an expression of operators that is computed for each place of the lists among the
// arguments, whose names stand for what is in that place.

namespace tenon::codegen {

/// Whether a list is taken apart: one of tensors, or of Scalars.
bool is_taken_apart(const schema::Type& type);

/// The schema as the expression sees it: an element in place of each list that is taken apart, and
/// the expression's value as the only result.
schema::FunctionSchema element_schema(const schema::FunctionSchema& schema);

/// Lists of tensors that the expression reads in branches of conditions alone: they may be empty
/// where no such branch is taken.
std::set<std::string> conditional_lists(const schema::FunctionSchema& schema,
                                        const expr::Formula& tree);

/// The tree of the in-place form, which ends in `f_(self, x)` where `tree` ends in `f(self, x)` or
/// `self.f(x)` and f has an in-place form; else nothing.
std::optional<expr::Formula> written_to_self(const Operator& op, expr::Formula tree);

}  // namespace tenon::codegen
