#include "codegen/expr/rows/row_schedule.h"

#include <algorithm>
#include <set>

#include "codegen/expr/graph/append_new.h"
#include "codegen/expr/graph/print_kernel.h"
#include "codegen/expr/rows/differentiate_rows.h"
#include "codegen/expr/rows/row_extremes.h"

namespace tenon::codegen::expr {
namespace {

bool has_identity(Op op) {
  switch (op) {
  case Op::kRowMax:
  case Op::kRowMin:
  case Op::kRowFmax:
  case Op::kRowFmin:
  case Op::kRowArgmax:
  case Op::kRowArgmin: return false;
  default: return true;
  }
}

/// Whether it is where(isinf(m), a, m) of an extreme m, which is `a` where a row has no elements:
/// the kernels' largest of none is -inf.
bool replaces_infinite_extreme(const Graph& g, const Node& node) {
  if (node.op != Op::kWhere || !g[node.arguments[0]].is_call(Op::kIsinf)) return false;
  const NodeId extreme = node.arguments[2];
  return g[node.arguments[0]].arguments[0] == extreme &&
         (g[extreme].is_call(Op::kRowMax) || g[extreme].is_call(Op::kRowMin));
}

/// Whether the values are made of an extreme that a row without elements has not.
bool need_elements(const Graph& g, std::vector<NodeId> values) {
  std::set<NodeId> seen;
  while (!values.empty()) {
    const NodeId id = values.back();
    values.pop_back();
    const Node& node = g[id];
    if (node.kind != NodeKind::kCall || !seen.insert(id).second) continue;
    if (!has_identity(node.op)) return true;
    if (replaces_infinite_extreme(g, node)) {
      values.push_back(node.arguments[1]);
    } else {
      values.insert(values.end(), node.arguments.begin(), node.arguments.end());
    }
  }
  return false;
}

/// Copies of what kernels compute: without `detach`, which concerns derivatives alone, and with
/// quotients for products of others.
std::vector<NodeId> as_kernels_compute(Graph& g, std::vector<NodeId> outputs) {
  std::map<NodeId, NodeId> replacements;
  for (const NodeId id : topological_order(g, outputs)) {
    const bool others = g[id].is_call(Op::kRowOthers);
    if (!others && !g[id].is_call(Op::kDetach)) continue;
    std::vector<NodeId> inner = g[id].arguments;
    for (NodeId& argument : inner) argument = substitute(g, argument, replacements);
    replacements[id] = others ? product_of_others(g, inner[0], inner[1]) : inner[0];
  }
  if (replacements.empty()) return outputs;
  for (NodeId& output : outputs) output = substitute(g, output, replacements);
  return outputs;
}

const char* reduction_kind(Op op) {
  switch (op) {
  case Op::kRowProd: return "Prod";
  case Op::kRowMax: return "Max";
  case Op::kRowMin: return "Min";
  case Op::kRowFmax: return "Fmax";
  case Op::kRowFmin: return "Fmin";
  case Op::kRowArgmax: return "Argmax";
  case Op::kRowArgmin: return "Argmin";
  case Op::kRowCount: return "Count";
  default: return "Sum";
  }
}

class Scheduler {
 public:
  Scheduler(Graph& graph, const std::vector<NodeId>& outputs, const std::vector<RowOutput>& kinds,
            DearValues dear)
      : g_(graph), outputs_(as_kernels_compute(graph, outputs)), kinds_(kinds), dear_(dear) {}

  RowSchedule run() {
    plan();
    for (int pass = 0; pass <= last_; ++pass) {
      picks(pass);
      elements(pass);
    }
    RowStep stores;
    std::vector<NodeId> roots;
    std::vector<size_t> indices;
    for (size_t i = 0; i < outputs_.size(); ++i) {
      if (kinds_[i] != RowOutput::kRow) continue;
      if (const auto whole = wholes_.find(outputs_[i]); whole != wholes_.end()) {
        stores.stores.push_back({.output = i, .text = whole->second, .whole = true});
        continue;
      }
      roots.push_back(outputs_[i]);
      indices.push_back(i);
    }
    if (!roots.empty()) {
      define(roots);
      const KernelText text = print(roots, stores);
      stores.statements = text.statements;
      for (size_t k = 0; k < roots.size(); ++k) {
        stores.stores.push_back({indices[k], text.results[k]});
      }
    }
    if (!stores.stores.empty()) schedule_.steps.push_back(std::move(stores));
    place_spills();
    return std::move(schedule_);
  }

 private:
  bool is_reduction_call(NodeId id) const {
    return g_[id].kind == NodeKind::kCall && is_reduction(g_[id].op) && g_[id].op != Op::kPick;
  }
  bool is_row_value(NodeId id) const {
    return g_[id].kind == NodeKind::kCall && g_[id].domain != Domain::kElement &&
           g_[id].op != Op::kRowLength;
  }

  /// The pass in which a value per element can be computed, or before which one per row is known.
  int level(NodeId id) {
    if (const auto it = levels_.find(id); it != levels_.end()) return it->second;
    int result = 0;
    const Node node = g_[id];
    for (const NodeId argument : node.arguments) result = std::max(result, level(argument));
    if (is_reduction_call(id)) ++result;
    return levels_[id] = result;
  }

  void plan() {
    for (size_t i = 0; i < outputs_.size(); ++i) {
      for (const NodeId id : topological_order(g_, {outputs_[i]})) users_[id].push_back(i);
    }
    needed_ = needed_picks(g_, outputs_);
    std::vector<NodeId> all = outputs_, masks;
    for (const auto& [pick, mask] : needed_) masks.push_back(mask);
    all.insert(all.end(), masks.begin(), masks.end());
    for (const NodeId id : topological_order(g_, masks)) decides_picks_.insert(id);
    for (const NodeId id : topological_order(g_, all)) {
      if (is_reduction_call(id)) {
        const int pass = level(id) - 1;
        roots_[pass].push_back(g_[id].arguments[0]);
        reductions_[pass].push_back(id);
        last_ = std::max(last_, pass);
      } else if (g_[id].is_call(Op::kPick)) {
        int pass = level(id);
        if (g_[needed_.at(id)].kind == NodeKind::kCall)
          pass = std::max(pass, level(needed_.at(id)));
        levels_[id] = pass;
        picks_[pass].push_back(id);
        last_ = std::max(last_, pass);
      }
    }
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const int pass = level(outputs_[i]);
      last_ = std::max(last_, pass);
      if (kinds_[i] != RowOutput::kRow) roots_[pass].push_back(outputs_[i]);
    }
    // A row without elements gives its other results none, whatever its largest is.
    std::vector<NodeId> row_values;
    for (size_t i = 0; i < outputs_.size(); ++i) {
      if (kinds_[i] == RowOutput::kRow) row_values.push_back(outputs_[i]);
    }
    schedule_.needs_elements = need_elements(g_, row_values);
    if (dear_ == DearValues::kRepeated) return;
    choose_spills();
    for (const NodeId id : topological_order(g_, all)) {
      if (is_distance_from_max(id)) distances_.push_back(id);
    }
    may_lose_nan_ = extremes_that_may_lose_nan(g_, all);
  }

  bool is_distance_from_max(NodeId id) const {
    if (!g_[id].is_call(Op::kSub)) return false;
    const std::vector<NodeId>& arguments = g_[id].arguments;
    return g_[arguments[1]].is_call(Op::kRowMax) && g_[arguments[1]].arguments[0] == arguments[0];
  }

  const char* kind_of(NodeId reduction) const {
    const Op op = g_[reduction].op;
    if (!may_lose_nan_.contains(reduction)) return reduction_kind(op);
    return op == Op::kRowMax ? "MaxUnlessNan" : "MinUnlessNan";
  }

  /// Dear nodes that several passes reach; those below another that is kept need not be.
  void choose_spills() {
    std::map<NodeId, std::set<int>> reached;
    const auto walk = [&](auto& self, NodeId id, int pass, const std::set<NodeId>& kept,
                          std::set<NodeId>& seen) -> void {
      if (g_[id].kind != NodeKind::kCall || g_[id].domain != Domain::kElement) return;
      if (!seen.insert(id).second) return;
      reached[id].insert(pass);
      if (kept.contains(id) && *reached[id].begin() < pass) return;
      for (const NodeId argument : g_[id].arguments) self(self, argument, pass, kept, seen);
    };
    const auto chosen = [&](const std::set<NodeId>& kept) {
      reached.clear();
      for (const auto& [pass, roots] : roots_) {
        std::set<NodeId> seen;
        for (const NodeId root : roots) walk(walk, root, pass, kept, seen);
      }
      std::set<NodeId> result;
      for (const auto& [id, passes] : reached) {
        if (passes.size() > 1 && intrinsic(g_[id].op).cost == Cost::kTranscendental)
          result.insert(id);
      }
      return result;
    };
    const std::set<NodeId> candidates = chosen({});
    for (const NodeId id : chosen(candidates)) spilled_in_[id] = *reached[id].begin();
  }

  /// Values of the row that `roots` need, in one step before the one that uses them.
  void define(const std::vector<NodeId>& roots) {
    std::vector<NodeId> wanted;
    std::set<NodeId> seen;
    const auto walk = [&](auto& self, NodeId id) -> void {
      if (!seen.insert(id).second || replaced_.contains(id)) return;
      if (is_row_value(id)) {
        wanted.push_back(id);
        return;
      }
      const std::vector<NodeId> arguments = g_[id].arguments;
      for (const NodeId argument : arguments) self(self, argument);
    };
    for (const NodeId root : roots) walk(walk, root);
    // What is dear and some outputs need alone is apart: a call may not want them.
    std::map<std::vector<size_t>, std::vector<NodeId>> parts;
    for (const NodeId id : wanted)
      parts[is_dear_to_some(id) ? users_.at(id) : std::vector<size_t>()].push_back(id);
    for (const auto& [outputs, nodes] : parts) define_values(nodes, outputs);
  }

  /// Whether a dear function is computed for a value of the row that not all outputs need, and for
  /// no other outputs.
  bool is_dear_to_some(NodeId value) const {
    const auto users = users_.find(value);
    if (users == users_.end() || users->second.size() == outputs_.size()) return false;
    if (decides_picks_.contains(value)) return false;
    std::vector<NodeId> next = {value};
    while (!next.empty()) {
      const NodeId id = next.back();
      next.pop_back();
      if (replaced_.contains(id) || !is_row_value(id) || users_.at(id) != users->second) continue;
      if (intrinsic(g_[id].op).cost != Cost::kCheap) return true;
      next.insert(next.end(), g_[id].arguments.begin(), g_[id].arguments.end());
    }
    return false;
  }

  void define_values(const std::vector<NodeId>& wanted, const std::vector<size_t>& outputs) {
    RowStep step;
    step.outputs = outputs;
    const KernelText text = print(wanted, step);
    step.statements = text.statements;
    for (size_t k = 0; k < wanted.size(); ++k) {
      const std::string name = "row" + std::to_string(num_rows_++) + "_";
      step.values.push_back({name, text.results[k]});
      replace(wanted[k], name, Domain::kRow);
    }
    schedule_.steps.push_back(std::move(step));
  }

  void replace(NodeId id, const std::string& name, Domain domain) {
    const NodeId variable = g_.variable(NodeKind::kTensor, name, 0, domain);
    replaced_[id] = g_[id].value_kind == ValueKind::kMask ? g_.as_mask(variable) : variable;
  }

  NodeId rewritten(NodeId id) {
    std::map<NodeId, NodeId> replacements = replaced_;
    replacements[g_.call(Op::kRowLength, {})] =
        g_.variable(NodeKind::kTensor, "length_", 0, Domain::kRow);
    replacements[g_.call(Op::kRowIndex, {})] =
        g_.variable(NodeKind::kTensor, "index_", 0, Domain::kElement);
    return substitute(g_, id, replacements);
  }

  /// The roots' text, and in the step what they read.
  KernelText print(const std::vector<NodeId>& roots, RowStep& step) {
    std::vector<NodeId> nodes;
    for (const NodeId root : roots) nodes.push_back(rewritten(root));
    for (const NodeId id : topological_order(g_, nodes)) {
      if (!g_[id].is_variable() || g_[id].name == "length_") continue;
      if (g_[id].domain == Domain::kElement) append_new(step.loads, g_[id].name);
      if (g_[id].domain == Domain::kRow) append_new(step.row_values, g_[id].name);
    }
    KernelOptions options;
    options.row_quotients = dear_ == DearValues::kSpilled;
    for (const NodeId id : distances_) options.nonpositive.insert(rewritten(id));
    return print_kernel(g_, nodes, options);
  }

  void picks(int pass) {
    for (const NodeId id : picks_[pass]) {
      const std::vector<NodeId> arguments = g_[id].arguments;
      const NodeId needed = needed_.at(id);
      const bool always = g_[needed].is_number(1);
      std::vector<NodeId> roots = {arguments[0]};
      if (!always) roots.push_back(needed);
      define(roots);
      RowStep step;
      step.kind = RowStep::Kind::kPick;
      const KernelText text = print({arguments[0]}, step);
      step.statements = text.statements;
      const std::string name = "pick" + std::to_string(num_picks_++) + "_";
      step.values.push_back({name, text.results[0]});
      const auto whole = wholes_.find(arguments[1]);
      step.position = whole != wholes_.end() ? whole->second : g_[arguments[1]].name;
      if (!always) {
        const KernelText condition = print({needed}, step);
        step.needed = condition.results[0];  // a variable, or 0: define() has seen to it
      }
      replace(id, name, Domain::kRow);
      schedule_.steps.push_back(std::move(step));
    }
  }

  /// What is reduced; both factors where products are summed, which then need no multiplication of
  /// their own.
  std::vector<NodeId> summed_factors(NodeId reduction) const {
    const NodeId operand = g_[reduction].arguments[0];
    if (g_[reduction].op != Op::kRowSum || dear_ == DearValues::kRepeated) return {operand};
    const Node& node = g_[operand];
    if (node.is_call(Op::kMul)) return node.arguments;
    if (node.is_call(Op::kSquare)) return {node.arguments[0], node.arguments[0]};
    return {operand};
  }

  void elements(int pass) {
    if (roots_[pass].empty()) return;
    std::vector<NodeId> roots;
    std::vector<std::pair<size_t, NodeId>> stores;
    for (const NodeId id : reductions_[pass]) {
      const std::vector<NodeId> factors = summed_factors(id);
      roots.insert(roots.end(), factors.begin(), factors.end());
    }
    for (size_t i = 0; i < outputs_.size(); ++i) {
      if (kinds_[i] == RowOutput::kRow || level(outputs_[i]) != pass) continue;
      stores.emplace_back(i, outputs_[i]);
      roots.push_back(outputs_[i]);
    }
    std::vector<NodeId> spills;
    for (const auto& [id, first] : spilled_in_) {
      if (first == pass) spills.push_back(id);
    }
    std::sort(spills.begin(), spills.end());
    roots.insert(roots.end(), spills.begin(), spills.end());
    define(roots);
    RowStep step;
    step.kind = RowStep::Kind::kPass;
    const KernelText text = print(roots, step);
    step.statements = text.statements;
    size_t at = 0;
    for (const NodeId id : reductions_[pass]) {
      const std::string name = "reduced" + std::to_string(num_reductions_++) + "_";
      RowStep::Reduction reduction = {name, kind_of(id), text.results[at++], "",
                                      is_whole(g_[id].op)};
      if (summed_factors(id).size() > 1) reduction.factor = text.results[at++];
      if (reduction.whole) wholes_[id] = name + "whole_";
      step.reductions.push_back(std::move(reduction));
      replace(id, name, Domain::kRow);
    }
    for (const auto& [i, node] : stores) {
      step.stores.push_back({i, text.results[at++], kinds_[i] == RowOutput::kColumn});
    }
    for (const NodeId id : spills) {
      const std::string name = "spill" + std::to_string(spills_.size()) + "_";
      spills_.push_back(name);
      step.spills.push_back({name, text.results[at++]});
      replace(id, name, Domain::kElement);
    }
    schedule_.steps.push_back(std::move(step));
  }

  /// An output that is written when a spilled row was read for the last time has room for it.
  void place_spills() {
    std::set<size_t> taken;
    for (const std::string& spill : spills_) {
      size_t last = 0;
      for (size_t i = 0; i < schedule_.steps.size(); ++i) {
        const std::vector<std::string>& loads = schedule_.steps[i].loads;
        if (std::find(loads.begin(), loads.end(), spill) != loads.end()) last = i;
      }
      int output = -1;
      for (size_t i = last; i < schedule_.steps.size() && output < 0; ++i) {
        for (const RowStep::Store& store : schedule_.steps[i].stores) {
          const bool fits = kinds_[store.output] == RowOutput::kElement && output < 0;
          if (fits && taken.insert(store.output).second) output = static_cast<int>(store.output);
        }
      }
      schedule_.spill_outputs.push_back(output);
    }
  }

  Graph& g_;
  std::vector<NodeId> outputs_;
  const std::vector<RowOutput>& kinds_;
  const DearValues dear_;
  RowSchedule schedule_;
  std::map<NodeId, int> levels_;
  std::map<NodeId, std::vector<size_t>> users_;  ///< outputs that a node is part of
  std::map<NodeId, NodeId> needed_;
  std::set<NodeId> decides_picks_;
  std::set<NodeId> may_lose_nan_;
  std::vector<NodeId> distances_;  ///< of elements from the largest: never positive
  std::map<int, std::vector<NodeId>> roots_, reductions_, picks_;
  std::map<NodeId, int> spilled_in_;
  std::map<NodeId, NodeId> replaced_;
  std::map<NodeId, std::string> wholes_;  ///< reductions to an int64, by their names
  int last_ = 0;
  size_t num_rows_ = 0, num_picks_ = 0, num_reductions_ = 0;
  std::vector<std::string> spills_;
};

}  // namespace

std::size_t RowSchedule::num_passes() const {
  return static_cast<std::size_t>(std::count_if(
      steps.begin(), steps.end(), [](const RowStep& s) { return s.kind == RowStep::Kind::kPass; }));
}

namespace {

/// When `pick` is needed. Conditions that `counts` refuses are taken to choose it always.
template <class Counts>
NodeId needed_pick(Graph& g, const std::vector<NodeId>& outputs, const std::vector<NodeId>& order,
                   NodeId pick, const Counts& counts) {
  std::set<NodeId> uses = {pick};  // nodes that it is part of
  for (const NodeId id : order) {
    for (const NodeId argument : g[id].arguments) {
      if (uses.contains(argument)) uses.insert(id);
    }
  }
  std::map<NodeId, NodeId> needed;
  const auto need = [&](NodeId id, NodeId mask) {
    if (!uses.contains(id)) return;
    const auto [it, first] = needed.try_emplace(id, mask);
    if (!first) it->second = g.call(Op::kLogicalOr, {it->second, mask});
  };
  for (const NodeId output : outputs) need(output, g.mask_constant(true));
  for (auto it = order.rbegin(); it != order.rend() && *it != pick; ++it) {
    if (!uses.contains(*it)) continue;
    const Node node = g[*it];
    const NodeId mask = needed.at(*it);
    const bool chooses = node.is_call(Op::kWhere) && counts(node.arguments[0]);
    for (size_t i = 0; i < node.arguments.size(); ++i) {
      NodeId when = mask;
      if (chooses && i > 0) {
        const NodeId condition = node.arguments[0];
        when = g.call(Op::kLogicalAnd,
                      {mask, i == 1 ? condition : g.call(Op::kLogicalNot, {condition})});
      }
      need(node.arguments[i], when);
    }
  }
  return needed.at(pick);
}

}  // namespace

std::map<NodeId, NodeId> needed_picks(Graph& g, const std::vector<NodeId>& outputs) {
  const std::vector<NodeId> order = topological_order(g, outputs);
  std::vector<NodeId> picks;
  std::map<NodeId, size_t> until;  // how many of `picks` must be there before a node is known
  for (const NodeId id : order) {
    for (const NodeId argument : g[id].arguments) until[id] = std::max(until[id], until[argument]);
    if (!g[id].is_call(Op::kPick)) continue;
    picks.push_back(id);
    until[id] = picks.size();
  }
  // What decides whether an element is picked is known without it: one pick after the other.
  std::map<NodeId, NodeId> needed;
  for (size_t i = 0; i < picks.size(); ++i) {
    needed[picks[i]] = needed_pick(g, outputs, order, picks[i], [&](NodeId condition) {
      return g[condition].domain != Domain::kElement && until.at(condition) <= i;
    });
  }
  return needed;
}

RowSchedule schedule_rows(Graph& graph, const std::vector<NodeId>& outputs,
                          const std::vector<RowOutput>& kinds, DearValues dear) {
  return Scheduler(graph, outputs, kinds, dear).run();
}

}  // namespace tenon::codegen::expr
