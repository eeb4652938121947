#pragma once

#include <string>
#include <vector>

#include "codegen/ir/library.h"
#include "codegen/yaml/diagnostic.h"

namespace tenon::codegen {

/// Marks in `operators` those that the list names and those that they reach: the operators that
/// their derivatives' formulas, their hand-written kernels and the helpers of these call, and what
/// the library itself needs; kernels of CUDA only where it is a target. Gives the hand-written
/// sources below `root`/aten that none of them needs, root-relative.
///
/// The list has one operator per line, "add.Tensor" or "aten::add.Tensor", derived forms included;
/// `#` begins a comment. Errors, in `sink`, with file and line: a name that no operator has.
///
/// Kernels' calls are read off their sources: includes, names before a parenthesis, C++ operators
/// between tensors. Arithmetic is in every library. Reading too much is possible, too little is
/// not.
std::vector<std::string> select_operators(std::vector<ir::Entry>& operators,
                                          const std::string& list, const std::string& root,
                                          const Targets& targets, DiagnosticSink& sink);

/// The sources that select_operators() reads.
std::vector<std::string> selection_inputs(const std::string& root);

}  // namespace tenon::codegen
