#include "codegen/expr/graph/intrinsics.h"

#include <algorithm>
#include <iterator>

namespace tenon::codegen::expr {
namespace {

constexpr auto kValue = ValueKind::kValue;
constexpr auto kMask = ValueKind::kMask;
constexpr auto kAny = Integers::kAllowed;
constexpr auto kFloat = Integers::kPromoted;
constexpr auto kInt = Integers::kOnly;
constexpr auto kCheap = Cost::kCheap;
constexpr auto kMedium = Cost::kMedium;
constexpr auto kDear = Cost::kTranscendental;
constexpr auto kNone = kNoDerivative;
constexpr auto kStd = kOfCmath;

// op, name, arity, result, mask arguments, integers, complex, commutative, cost, derivatives,
// tensor, number, with a number, swapped, number first
// clang-format off
constexpr Intrinsic kTable[] = {
    {Op::kAdd, "add", 2, kValue, 0, kAny, true, true, kCheap, {"1", "1"}, "add", "($0 + $1)", "add", "add"},
    {Op::kSub, "sub", 2, kValue, 0, kAny, true, false, kCheap, {"1", "-1"}, "sub", "($0 - $1)", "sub", "rsub"},
    {Op::kMul, "mul", 2, kValue, 0, kAny, true, true, kCheap, {"b", "a"}, "mul", "($0 * $1)", "mul", "mul"},
    {Op::kDiv, "div", 2, kValue, 0, kFloat, true, false, kMedium, {"1 / b", "-(y / b)"}, "div", "(static_cast<double>($0) / $1)", "div"},
    {Op::kNeg, "neg", 1, kValue, 0, kAny, true, false, kCheap, {"-1"}, "neg", "(-$0)"},
    {Op::kAbs, "abs", 1, kValue, 0, kAny, false, false, kCheap, {"sign(a)"}, "abs", kStd},
    {Op::kSign, "sign", 1, kValue, 0, kAny, false, false, kCheap, {""}, "sign"},
    {Op::kSquare, "square", 1, kValue, 0, kAny, true, false, kCheap, {"2 * a"}, "square", "($0 * $0)"},
    {Op::kReciprocal, "reciprocal", 1, kValue, 0, kFloat, true, false, kMedium, {"-square(y)"}, "reciprocal", "(1.0 / $0)"},
    {Op::kFma, "fma", 3, kValue, 0, kAny, true, false, kCheap, {"b", "a", "1"}, "", kStd},
    {Op::kRemainder, "remainder", 2, kValue, 0, kAny, false, false, kMedium, {"1", "-floor_divide(a, b)"}, "remainder", "", "remainder", "", "remainder"},
    {Op::kFmod, "fmod", 2, kValue, 0, kAny, false, false, kMedium, {"1", "-trunc_divide(a, b)"}, "fmod", kStd, "fmod"},
    {Op::kFloorDivide, "floor_divide", 2, kValue, 0, kAny, false, false, kMedium, {"", ""}, "floor_divide", "", "floor_divide"},
    {Op::kTruncDivide, "trunc_divide", 2, kValue, 0, kAny, false, false, kMedium, {"", ""}, "div"},
    // NaN operands compare false, so that both gradients flow.
    {Op::kMaximum, "maximum", 2, kValue, 0, kAny, false, true, kCheap,
     {"where(a == b, 0.5, where(a < b, 0, 1))", "where(a == b, 0.5, where(a > b, 0, 1))"}, "maximum", "", "clamp_min", "clamp_min"},
    {Op::kMinimum, "minimum", 2, kValue, 0, kAny, false, true, kCheap,
     {"where(a == b, 0.5, where(a > b, 0, 1))", "where(a == b, 0.5, where(a < b, 0, 1))"}, "minimum", "", "clamp_max", "clamp_max"},
    {Op::kFmax, "fmax", 2, kValue, 0, kAny, false, false, kCheap,
     {"where(a == b, 0.5, where(a > b || isnan(b), 1, 0))", "where(a == b, 0.5, where(a > b || isnan(b), 0, 1))"}, "fmax", kStd},
    {Op::kFmin, "fmin", 2, kValue, 0, kAny, false, false, kCheap,
     {"where(a == b, 0.5, where(a < b || isnan(b), 1, 0))", "where(a == b, 0.5, where(a < b || isnan(b), 0, 1))"}, "fmin", kStd},
    // 0^b is finite for b >= 0 only; there the limit of y log(a) is taken as 0.
    {Op::kPow, "pow", 2, kValue, 0, kAny, true, false, kDear,
     {"where(b == 0, 0, b * pow(a, b - 1))", "where(a == 0 && isfinite(y), 0, y * log(a))"}, "pow", kStd, "pow", "", "pow"},

    {Op::kExp, "exp", 1, kValue, 0, kFloat, true, false, kDear, {"y"}, "exp", kStd},
    {Op::kExp2, "exp2", 1, kValue, 0, kFloat, true, false, kDear, {"y * log(2)"}, "exp2", kStd},
    {Op::kExpm1, "expm1", 1, kValue, 0, kFloat, true, false, kDear, {"y + 1"}, "expm1", kStd},
    {Op::kLog, "log", 1, kValue, 0, kFloat, true, false, kDear, {"1 / a"}, "log", kStd},
    {Op::kLog2, "log2", 1, kValue, 0, kFloat, true, false, kDear, {"1 / (a * log(2))"}, "log2", kStd},
    {Op::kLog10, "log10", 1, kValue, 0, kFloat, true, false, kDear, {"1 / (a * log(10))"}, "log10", kStd},
    {Op::kLog1p, "log1p", 1, kValue, 0, kFloat, true, false, kDear, {"1 / (a + 1)"}, "log1p", kStd},
    {Op::kSqrt, "sqrt", 1, kValue, 0, kFloat, true, false, kMedium, {"0.5 / y"}, "sqrt", kStd},
    {Op::kRsqrt, "rsqrt", 1, kValue, 0, kFloat, true, false, kMedium, {"-0.5 * y * square(y)"}, "rsqrt", "(1.0 / std::sqrt($0))"},
    {Op::kSin, "sin", 1, kValue, 0, kFloat, true, false, kDear, {"cos(a)"}, "sin", kStd},
    {Op::kCos, "cos", 1, kValue, 0, kFloat, true, false, kDear, {"-sin(a)"}, "cos", kStd},
    {Op::kTan, "tan", 1, kValue, 0, kFloat, true, false, kDear, {"1 + square(y)"}, "tan", kStd},
    {Op::kAsin, "asin", 1, kValue, 0, kFloat, true, false, kDear, {"rsqrt(1 - square(a))"}, "asin", kStd},
    {Op::kAcos, "acos", 1, kValue, 0, kFloat, true, false, kDear, {"-rsqrt(1 - square(a))"}, "acos", kStd},
    {Op::kAtan, "atan", 1, kValue, 0, kFloat, true, false, kDear, {"1 / (1 + square(a))"}, "atan", kStd},
    {Op::kSinh, "sinh", 1, kValue, 0, kFloat, true, false, kDear, {"cosh(a)"}, "sinh", kStd},
    {Op::kCosh, "cosh", 1, kValue, 0, kFloat, true, false, kDear, {"sinh(a)"}, "cosh", kStd},
    {Op::kTanh, "tanh", 1, kValue, 0, kFloat, true, false, kDear, {"1 - square(y)"}, "tanh", kStd},
    {Op::kAsinh, "asinh", 1, kValue, 0, kFloat, true, false, kDear, {"rsqrt(square(a) + 1)"}, "asinh", kStd},
    {Op::kAcosh, "acosh", 1, kValue, 0, kFloat, true, false, kDear, {"rsqrt(a - 1) * rsqrt(a + 1)"}, "acosh", kStd},
    {Op::kAtanh, "atanh", 1, kValue, 0, kFloat, true, false, kDear, {"1 / (1 - square(a))"}, "atanh", kStd},
    // Divided twice so that squares neither overflow nor underflow; 0 at the origin.
    {Op::kAtan2, "atan2", 2, kValue, 0, kFloat, false, false, kDear,
     {"r = hypot(a, b); where(r == 0, 0, b / r / r)", "r = hypot(a, b); where(r == 0, 0, -(a / r / r))"}, "atan2", kStd},
    {Op::kErf, "erf", 1, kValue, 0, kFloat, false, false, kDear, {"2 / sqrt(pi) * exp(-square(a))"}, "erf", kStd},
    {Op::kErfc, "erfc", 1, kValue, 0, kFloat, false, false, kDear, {"-2 / sqrt(pi) * exp(-square(a))"}, "erfc", kStd},
    {Op::kErfinv, "erfinv", 1, kValue, 0, kFloat, false, false, kDear, {"sqrt(pi) / 2 * exp(square(y))"}, "erfinv"},
    {Op::kLgamma, "lgamma", 1, kValue, 0, kFloat, false, false, kDear, {"digamma(a)"}, "lgamma", kStd},
    {Op::kDigamma, "digamma", 1, kValue, 0, kFloat, false, false, kDear, {"trigamma(a)"}, "digamma"},
    {Op::kSigmoid, "sigmoid", 1, kValue, 0, kFloat, true, false, kDear, {"(1 - y) * y"}, "sigmoid", "(1.0 / (1.0 + std::exp(-$0)))"},
    // Written with <= so that a NaN passes its gradient on.
    {Op::kRelu, "relu", 1, kValue, 0, kAny, false, false, kCheap, {"where(y <= 0, 0, 1)"}, "relu"},
    {Op::kFloor, "floor", 1, kValue, 0, kAny, false, false, kCheap, {""}, "floor", kStd},
    {Op::kCeil, "ceil", 1, kValue, 0, kAny, false, false, kCheap, {""}, "ceil", kStd},
    {Op::kRound, "round", 1, kValue, 0, kAny, false, false, kCheap, {""}, "round"},
    {Op::kTrunc, "trunc", 1, kValue, 0, kAny, false, false, kCheap, {""}, "trunc", kStd},
    {Op::kFrac, "frac", 1, kValue, 0, kFloat, false, false, kCheap, {"1"}, "frac"},
    {Op::kHypot, "hypot", 2, kValue, 0, kFloat, false, true, kMedium,
     {"where(y == 0, 0, a / y)", "where(y == 0, 0, b / y)"}, "hypot", kStd},
    {Op::kNextafter, "nextafter", 2, kValue, 0, kFloat, false, false, kMedium, {kNone, kNone}, "_nextafter", kStd},
    {Op::kCopysign, "copysign", 2, kValue, 0, kFloat, false, false, kCheap, {"sign(a) * copysign(1, b)", ""}, "copysign", kStd, "copysign"},

    {Op::kEq, "eq", 2, kMask, 0, kAny, true, true, kCheap, {"", ""}, "eq", "($0 == $1)", "eq", "eq"},
    {Op::kNe, "ne", 2, kMask, 0, kAny, true, true, kCheap, {"", ""}, "ne", "($0 != $1)", "ne", "ne"},
    {Op::kLt, "lt", 2, kMask, 0, kAny, false, false, kCheap, {"", ""}, "lt", "($0 < $1)", "lt", "gt"},
    {Op::kLe, "le", 2, kMask, 0, kAny, false, false, kCheap, {"", ""}, "le", "($0 <= $1)", "le", "ge"},
    {Op::kGt, "gt", 2, kMask, 0, kAny, false, false, kCheap, {"", ""}, "gt", "($0 > $1)", "gt", "lt"},
    {Op::kGe, "ge", 2, kMask, 0, kAny, false, false, kCheap, {"", ""}, "ge", "($0 >= $1)", "ge", "le"},
    {Op::kLogicalAnd, "logical_and", 2, kMask, 0b11, kAny, true, true, kCheap, {"", ""}, "logical_and", "($0 && $1)"},
    {Op::kLogicalOr, "logical_or", 2, kMask, 0b11, kAny, true, true, kCheap, {"", ""}, "logical_or", "($0 || $1)"},
    {Op::kLogicalXor, "logical_xor", 2, kMask, 0b11, kAny, true, true, kCheap, {"", ""}, "logical_xor", "($0 != $1)"},
    {Op::kLogicalNot, "logical_not", 1, kMask, 0b1, kAny, true, false, kCheap, {""}, "logical_not", "(!$0)"},
    {Op::kIsnan, "isnan", 1, kMask, 0, kAny, true, false, kCheap, {""}, "isnan", kStd},
    {Op::kIsinf, "isinf", 1, kMask, 0, kAny, true, false, kCheap, {""}, "isinf", kStd},
    {Op::kIsfinite, "isfinite", 1, kMask, 0, kAny, true, false, kCheap, {""}, "isfinite", kStd},
    {Op::kWhere, "where", 3, kValue, 0b1, kAny, true, false, kCheap, {"", "where(a, 1, 0)", "where(a, 0, 1)"}, "where", "($0 ? $1 : $2)"},
    {Op::kToMask, "to_mask", 1, kMask, 0, kAny, true, false, kCheap, {""}, "ne", "($0 != 0)"},
    {Op::kFromMask, "from_mask", 1, kValue, 0b1, kAny, true, false, kCheap, {""}, "to", "($0 ? 1.0 : 0.0)"},

    {Op::kBitwiseAnd, "bitwise_and", 2, kValue, 0, kInt, false, true, kCheap, {"", ""}, "bitwise_and", "", "bitwise_and", "bitwise_and"},
    {Op::kBitwiseOr, "bitwise_or", 2, kValue, 0, kInt, false, true, kCheap, {"", ""}, "bitwise_or", "", "bitwise_or", "bitwise_or"},
    {Op::kBitwiseXor, "bitwise_xor", 2, kValue, 0, kInt, false, true, kCheap, {"", ""}, "bitwise_xor", "", "bitwise_xor", "bitwise_xor"},
    {Op::kBitwiseNot, "bitwise_not", 1, kValue, 0, kInt, false, false, kCheap, {""}, "bitwise_not"},
    {Op::kLshift, "lshift", 2, kValue, 0, kInt, false, false, kCheap, {"", ""}, "bitwise_left_shift", "", "bitwise_left_shift"},
    {Op::kRshift, "rshift", 2, kValue, 0, kInt, false, false, kCheap, {"", ""}, "bitwise_right_shift", "", "bitwise_right_shift"},

    {Op::kConj, "conj", 1, kValue, 0, kAny, true, false, kCheap, {"1"}, "conj", "$0"},
    {Op::kReal, "real", 1, kValue, 0, kAny, true, false, kCheap, {"1"}, "real", "$0"},
    {Op::kImag, "imag", 1, kValue, 0, kAny, true, false, kCheap, {""}, "imag", "0.0"},

    {Op::kRepeat, "repeat", 0, kValue, 0, kAny, false, false, kDear, {}, ""},

    // Differentiated by differentiate_rows.
    {Op::kRowSum, "sum", 1, kValue, 0, kAny, false, false, kCheap, {kNone}, "sum"},
    {Op::kRowProd, "prod", 1, kValue, 0, kAny, false, false, kCheap, {kNone}, "prod"},
    {Op::kRowMax, "max", 1, kValue, 0, kAny, false, false, kCheap, {kNone}, "amax"},
    {Op::kRowMin, "min", 1, kValue, 0, kAny, false, false, kCheap, {kNone}, "amin"},
    {Op::kRowFmax, "fmax", 1, kValue, 0, kAny, false, false, kCheap, {kNone}, ""},
    {Op::kRowFmin, "fmin", 1, kValue, 0, kAny, false, false, kCheap, {kNone}, ""},
    {Op::kRowArgmax, "argmax", 1, kValue, 0, kAny, false, false, kCheap, {""}, "argmax"},
    {Op::kRowArgmin, "argmin", 1, kValue, 0, kAny, false, false, kCheap, {""}, "argmin"},
    {Op::kRowCount, "count", 1, kValue, 0b1, kAny, false, false, kCheap, {""}, "sum"},
    {Op::kPick, "pick", 2, kValue, 0, kAny, false, false, kCheap, {kNone, ""}, "gather"},
    {Op::kDetach, "detach", 1, kValue, 0, kAny, false, false, kCheap, {""}, ""},
    {Op::kRowIndex, "index", 0, kValue, 0, kAny, false, false, kCheap, {}, "arange"},
    {Op::kRowLength, "length", 0, kValue, 0, kAny, false, false, kCheap, {}, "", "length_"},
    // For each element of x the product of the others of its row, whose product is y. Kernels divide
    // y where they can; operators, which are differentiated again, take x alone.
    {Op::kRowOthers, "product_of_others", 2, kValue, 0, kAny, false, false, kCheap, {kNone, kNone}, ""},
};
// clang-format on

constexpr bool rows_follow_enum() {
  for (std::size_t i = 0; i < std::size(kTable); ++i)
    if (static_cast<std::size_t>(kTable[i].op) != i) return false;
  return std::size(kTable) == static_cast<std::size_t>(Op::kCount);
}
static_assert(rows_follow_enum(), "the table of intrinsics has one row per Op, in its order");

}  // namespace

const Intrinsic& intrinsic(Op op) { return kTable[static_cast<std::size_t>(op)]; }

namespace {
const Intrinsic* find_named(std::string_view name, bool of_rows) {
  const auto* row = std::find_if(std::begin(kTable), std::end(kTable), [&](const Intrinsic& i) {
    return i.name == name && is_row_op(i.op) == of_rows && i.op != Op::kRowOthers &&
           i.op != Op::kRepeat;
  });
  return row == std::end(kTable) ? nullptr : row;
}
}  // namespace

const Intrinsic* find_intrinsic(std::string_view name) { return find_named(name, false); }
const Intrinsic* find_row_intrinsic(std::string_view name) { return find_named(name, true); }

std::vector<std::string> intrinsic_names() {
  std::vector<std::string> names;
  for (const Intrinsic& row : kTable)
    if (!is_row_op(row.op) && row.op != Op::kRepeat) names.emplace_back(row.name);
  return names;
}

}  // namespace tenon::codegen::expr
