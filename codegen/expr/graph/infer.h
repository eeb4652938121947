#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "codegen/expr/graph/graph.h"
#include "codegen/schema/promotion.h"

namespace tenon::codegen::expr {

/// The dtype rule of an output: that of the operands, that of the operands with integers promoted
/// to the default floating type, or bool.
using schema::Promotion;

/// What an output says about types. A tensor used only as a condition (`where(mask, a, b)`) takes
/// part in neither list; one that is only compared takes part in the compute type alone.
struct TypeInfo {
  Promotion promotion = Promotion::kDefault;
  bool computes_floating = false;  ///< the compute type must be floating even where output is bool
  bool integers_allowed = true;    ///< integer operands need no promotion
  bool floating_allowed = true;    ///< false for bit operations
  bool complex_allowed = true;
  Cost cost = Cost::kCheap;                 ///< the dearest node
  std::uint32_t node_count = 0;             ///< calls, shared ones once
  std::vector<std::string> result_tensors;  ///< decide the output's dtype
  std::vector<std::string> result_scalars;
  std::vector<std::string> compute_tensors;  ///< decide the compute type; a superset of the above
  std::vector<std::string> compute_scalars;
  std::vector<std::string> tensors;  ///< every tensor-valued name used, in order of first use
  std::vector<std::string> scalars;  ///< every scalar parameter used
};

TypeInfo infer_types(const Graph& graph, NodeId output);

/// Whether operands of a category (bool, integral, floating, complex) are computed as they are.
bool serves(const TypeInfo& info, std::string_view category);

/// What keeps the outputs from that: "`exp` gives floating numbers"; empty where nothing does.
std::string why_not(const Graph& graph, const std::vector<NodeId>& outputs,
                    std::string_view category);

/// "default", "float" or "bool".

/// Whether the value is real where tensors are complex, as a function gives it that does: real,
/// imag, abs, or a condition.
bool is_real(const Graph& graph, NodeId id);

/// Whether integer results modulo 2^n follow from the operands modulo 2^n, for any n of at least 8:
/// sums, products and bits.
bool is_modular(const Graph& graph, const std::vector<NodeId>& outputs);

}  // namespace tenon::codegen::expr
