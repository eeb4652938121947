#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::codegen::expr {

/// Where a node's value lives: one value per call, per row, or per element. Rows are reserved for
/// reductions over trailing dimensions.
enum class Domain : std::uint8_t { kScalar, kRow, kElement };

/// A value has the compute type V; a mask is what a comparison gives.
enum class ValueKind : std::uint8_t { kValue, kMask };

/// What an intrinsic does with integer operands: computes on them, promotes them to the default
/// floating type, or accepts nothing else.
enum class Integers : std::uint8_t { kAllowed, kPromoted, kOnly };

enum class Cost : std::uint8_t { kCheap, kMedium, kTranscendental };

enum class Op : std::uint8_t {
  // arithmetic
  kAdd,
  kSub,
  kMul,
  kDiv,
  kNeg,
  kAbs,
  kSign,
  kSquare,
  kReciprocal,
  kFma,
  kRemainder,
  kFmod,
  kFloorDivide,
  kTruncDivide,
  kMaximum,
  kMinimum,
  kFmax,
  kFmin,
  kPow,
  // floating
  kExp,
  kExp2,
  kExpm1,
  kLog,
  kLog2,
  kLog10,
  kLog1p,
  kSqrt,
  kRsqrt,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kTanh,
  kAsinh,
  kAcosh,
  kAtanh,
  kAtan2,
  kErf,
  kErfc,
  kErfinv,
  kLgamma,
  kDigamma,
  kSigmoid,
  kRelu,
  kFloor,
  kCeil,
  kRound,
  kTrunc,
  kFrac,
  kHypot,
  kNextafter,
  kCopysign,
  // comparison and logic
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kLogicalAnd,
  kLogicalOr,
  kLogicalXor,
  kLogicalNot,
  kIsnan,
  kIsinf,
  kIsfinite,
  kWhere,
  kToMask,
  kFromMask,
  // bits
  kBitwiseAnd,
  kBitwiseOr,
  kBitwiseXor,
  kBitwiseNot,
  kLshift,
  kRshift,
  // complex
  kConj,
  kReal,
  kImag,
  // a loop's last values: built by Graph::repeat alone
  kRepeat,
  // rows: known to `rowwise` alone
  kRowSum,
  kRowProd,
  kRowMax,
  kRowMin,
  kRowFmax,
  kRowFmin,
  kRowArgmax,
  kRowArgmin,
  kRowCount,
  kPick,
  kDetach,
  kRowIndex,
  kRowLength,
  kRowOthers,  ///< of derivatives alone: no expression calls it
  kCount
};

/// Marks an argument for which no derivative rule exists (as opposed to a zero derivative, "").
inline constexpr std::string_view kNoDerivative = "none";

inline constexpr std::string_view kOfCmath = "std::";

/// One row of the table of intrinsics. `name` is the function in the expression language and in
/// the kernel namespace `m`. A derivative is expression text over the arguments `a`, `b`, `c` and
/// the node's own value `y`; empty means structurally zero, `kNoDerivative` means unknown.
/// Derivatives are holomorphic ones; conj, real and imag are treated by the differentiator.
struct Intrinsic {
  Op op;
  std::string_view name;
  std::uint8_t arity;
  ValueKind result;
  std::uint8_t mask_arguments;  ///< bit i: argument i is a mask
  Integers integers;
  bool complex_allowed;
  bool commutative;
  Cost cost;
  std::array<std::string_view, 3> derivative;
  std::string_view tensor_op;  ///< base name of the tensor operator, empty where there is none
  /// C++ of numbers, where `$0`, `$1`, `$2` stand for the arguments; `kOfCmath` for the function of
  /// that name in <cmath>; empty where a tensor must be made of them.
  std::string_view number = "";
  /// Base names of operators that take a number beside a tensor: (Tensor, Scalar); that gives the
  /// value when the number, which is the first argument here, stands second; (Scalar, Tensor).
  std::string_view with_number = "", swapped = "", number_first = "";
};

/// The row of `op`.
const Intrinsic& intrinsic(Op op);

/// Whether only `rowwise` has it.
constexpr bool is_row_op(Op op) { return op >= Op::kRowSum; }

/// From the elements of a row to one value.
constexpr bool is_reduction(Op op) { return op >= Op::kRowSum && op <= Op::kPick; }

/// A reduction to a position or a number of elements: an int64, whatever type is computed in.
constexpr bool is_whole(Op op) { return op >= Op::kRowArgmax && op <= Op::kRowCount; }

/// The row named `name` of those that every expression has, or null.
const Intrinsic* find_intrinsic(std::string_view name);

/// The row named `name` of those that only `rowwise` has, or null.
const Intrinsic* find_row_intrinsic(std::string_view name);

/// The name of every intrinsic that all expressions have, in table order.
std::vector<std::string> intrinsic_names();

}  // namespace tenon::codegen::expr
