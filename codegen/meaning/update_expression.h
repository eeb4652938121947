#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "codegen/expr/graph/parse.h"
#include "codegen/model/operator.h"
#include "codegen/yaml/diagnostic.h"

namespace tenon::codegen {

/// A `pointwise` entry that writes arguments, where of its optional tensors those in `given` are
/// there. All names of arguments stand for their values before the call.
struct UpdateExpression {
  std::set<std::string> given;
  expr::Expression expression;       ///< an output for each of `written`
  std::vector<std::string> written;  ///< arguments, in the schema's order
};

/// The most tensors that may be absent: each set of them has kernels of its own.
constexpr size_t kMaxOptionalTensors = 3;

/// Every set of optional tensors that a call may give, the empty one first.
std::vector<std::set<std::string>> given_sets(const schema::FunctionSchema& schema);

/// Nothing where the expressions have mistakes, which go to `sink`.
std::optional<UpdateExpression> parse_update(const Operator& op, const std::set<std::string>& given,
                                             DiagnosticSink& sink);

}  // namespace tenon::codegen
