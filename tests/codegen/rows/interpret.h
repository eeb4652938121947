#pragma once

#include <vector>

#include "codegen/expr/graph/graph.h"
#include "codegen/expr/rows/row_schedule.h"
#include "tests/codegen/rows/reference.h"

namespace tenon::codegen::rows {

/// The value of each of `nodes` on a row: of one element where the domain is smaller than an
/// element's. A `pick` out of range is NaN.
std::vector<std::vector<double>> evaluate(const expr::Graph& graph,
                                          const std::vector<expr::NodeId>& nodes, size_t length,
                                          const RowValues& values);

/// Runs the steps of a kernel on one row: their C++ is read and computed in double. Throws
/// std::out_of_range where a position that is needed is out of range, and std::logic_error where a
/// step reads what no step before it has made. What a step that is not needed picks is NaN.
std::vector<std::vector<double>> run(const expr::RowSchedule& schedule, size_t num_outputs,
                                     size_t length, const RowValues& values);

}  // namespace tenon::codegen::rows
