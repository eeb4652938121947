#include "codegen/expr/graph/operators.h"

namespace tenon::codegen::expr {

const std::map<std::string_view, Op>& binary_operators() {
  static const std::map<std::string_view, Op> kOperators = {
      {"||", Op::kLogicalOr}, {"&&", Op::kLogicalAnd}, {"|", Op::kBitwiseOr},
      {"^", Op::kBitwiseXor}, {"&", Op::kBitwiseAnd},  {"==", Op::kEq},
      {"!=", Op::kNe},        {"<", Op::kLt},          {"<=", Op::kLe},
      {">", Op::kGt},         {">=", Op::kGe},         {"<<", Op::kLshift},
      {">>", Op::kRshift},    {"+", Op::kAdd},         {"-", Op::kSub},
      {"*", Op::kMul},        {"/", Op::kDiv},         {"%", Op::kRemainder},
  };
  return kOperators;
}

std::string_view symbol_of(Op op) {
  if (op == Op::kBitwiseNot) return "~";
  for (const auto& [symbol, one] : binary_operators()) {
    if (one == op) return symbol;
  }
  return intrinsic(op).name;
}

Op logical(Op op) {
  switch (op) {
  case Op::kBitwiseAnd: return Op::kLogicalAnd;
  case Op::kBitwiseOr: return Op::kLogicalOr;
  case Op::kBitwiseXor: return Op::kLogicalXor;
  default: return op;
  }
}

}  // namespace tenon::codegen::expr
