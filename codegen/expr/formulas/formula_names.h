#pragma once

#include "codegen/expr/formulas/formula.h"

#include <set>
#include <string>
#include <vector>

namespace tenon::codegen::expr {

struct NameUse {
  std::string name;
  std::size_t offset = 0;
  std::size_t length = 0;
  bool is_callee = false;           ///< f in f(x); never a parameter unless it names one
  const Formula* member = nullptr;  ///< x.f, of which this is x; in the tree that was asked
};

/// Every unqualified identifier used as a value or as a callee, in order of appearance.
std::vector<NameUse> free_names(const Formula& formula);

/// Names used as values that are not in `known`, each once at its first place, with the nearest
/// known name as suggestion. When `known_functions` is given, unqualified callees are checked too.
std::vector<ExprError> undefined_names(const Formula& formula,
                                       const std::vector<std::string>& known,
                                       const std::vector<std::string>* known_functions = nullptr);

/// Names of the functions that are called, `f` or `ns::f`, as they are written.
std::vector<std::string> called_functions(const Formula& formula);

/// True if `name` is used as a value.
bool uses_name(const Formula& formula, const std::string& name);

/// What a formula needs kept from the forward pass. `attribute` is empty when the whole argument
/// is kept, else the name of the property: sizes, sym_sizes, size, numel, dim, scalar_type,
/// options, device, layout, strides, is_conj, geometry, ... `cpp_type` is the C++ type of the
/// stored property (empty for whole arguments) and `initializer` the C++ text that computes it from
/// the argument.
struct SavedValue {
  std::string name;
  std::string attribute;
  std::string variable;
  std::string cpp_type;
  std::string initializer;
};

struct SavedAnalysis {
  std::vector<SavedValue> saved;  ///< in order of first use, each once
  Formula rewritten;              ///< the formula with properties replaced by their variables
};

/// Which of `savable` (arguments and outputs that live only in the forward pass) `formula` needs.
/// `self.sizes()` becomes `self_sizes`, `self.size(1)` `self_size_1`, `self.options()`
/// `self_options`, `TensorGeometry(self)` `self_geometry`, `zeros_like(self)`
/// `zeros(self_sizes, self_options)`; any other use keeps the whole value under its own name.
/// A property is replaced even when the whole value is needed elsewhere. Of a list, `x.size()` and
/// `to_args_sizes(x)`, `to_args_scalartypes(x)` are properties; of an optional tensor
/// `bias->sizes()`, stored as an optional. `sym_` and `_symint` spellings count as the plain ones.
/// Names in `not_tensors` (scalars, ints, strings) are kept whole without attribute analysis.
SavedAnalysis analyze_saved(const Formula& formula, const std::vector<std::string>& savable,
                            const std::set<std::string>& not_tensors = {});

}  // namespace tenon::codegen::expr
