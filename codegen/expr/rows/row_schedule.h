#pragma once

#include <map>
#include <string>
#include <vector>

#include "codegen/expr/graph/graph.h"
#include "codegen/schema/fields.h"

namespace tenon::codegen::expr {

/// Where a row kernel's output goes: a value per element, one per row, or a value per column that
/// is summed over all rows.
enum class RowOutput : std::uint8_t { kElement, kRow, kColumn };

/// A variable of type V and the text of its value.
struct NamedText {
  std::string name;
  std::string text;
  bool operator==(const NamedText&) const = default;
  TENON_FIELDS(name, text)
};

/// Part of a kernel for one row, in the order in which they run.
struct RowStep {
  enum class Kind : std::uint8_t {
    kValues,  ///< values that are the same for the whole row, from what came before
    kPass,    ///< one way along the row
    kPick     ///< the element at a position that the row has
  };
  Kind kind = Kind::kValues;
  std::vector<std::string> loads;       ///< elements that are read: parameters, spilled values
  std::vector<std::string> row_values;  ///< values per row that are read
  std::vector<std::string> statements;  ///< before the texts below
  std::vector<NamedText> values;        ///< kValues: defined here; kPick: the element's value
  struct Reduction {
    std::string name;
    /// Sum, Prod, Max, Min, MaxUnlessNan, MinUnlessNan, Fmax, Fmin, Argmax, Argmin, Count
    std::string kind;
    std::string text;
    std::string factor;  ///< what is summed is this times `text`; empty: `text`
    bool whole = false;  ///< an int64, whatever type is computed in
    bool operator==(const Reduction&) const = default;
    TENON_FIELDS(name, kind, text, factor, whole)
  };
  std::vector<Reduction> reductions;
  struct Store {
    std::size_t output;
    std::string text;
    bool adds = false;   ///< to a column's total
    bool whole = false;  ///< the text is of an int64
    bool operator==(const Store&) const = default;
    TENON_FIELDS(output, text, adds, whole)
  };
  std::vector<Store> stores;  ///< kValues: outputs of one value per row
  std::vector<NamedText> spills;
  std::string position;  ///< kPick: the parameter, or the reduction of this kernel, that says where
  std::string needed;  ///< kPick: a value, not 0 where the position must be in range; empty: always
  std::vector<std::size_t> outputs;  ///< kValues: only these need it; empty: all
  bool operator==(const RowStep&) const = default;
  TENON_FIELDS(kind, loads, row_values, statements, values, reductions, stores, spills, position,
               needed, outputs)
};

/// A kernel as passes over a row, cut at reductions: what a pass reduces is known to the next. Dear
/// functions of elements are computed in the first pass that needs them and kept in a spilled row.
struct RowSchedule {
  std::vector<RowStep> steps;
  /// For each spilled row the output that may hold it until it is written itself, or -1.
  std::vector<int> spill_outputs;
  std::size_t num_passes() const;
  /// A reduction without an identity: the row must not be empty.
  bool needs_elements = false;
};

/// What a pass does with a dear function of elements that a later pass needs as well.
enum class DearValues : std::uint8_t {
  kSpilled,  ///< keeps it in a row of memory
  kRepeated  ///< nothing: it is computed again, as suits devices with more arithmetic than memory
};

RowSchedule schedule_rows(Graph& graph, const std::vector<NodeId>& outputs,
                          const std::vector<RowOutput>& kinds,
                          DearValues dear = DearValues::kSpilled);

/// `pick`s among `outputs` and when they are needed: not where a condition of the row's own chooses
/// another value. Masks; true where always.
std::map<NodeId, NodeId> needed_picks(Graph& graph, const std::vector<NodeId>& outputs);

}  // namespace tenon::codegen::expr
