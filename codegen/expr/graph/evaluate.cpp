#include "codegen/expr/graph/evaluate.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <stdexcept>

namespace tenon::codegen::expr {
namespace {

using Complex = std::complex<double>;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kPi = std::numbers::pi;

double digamma(double x) {
  if (x == 0) return std::copysign(kInf, -x);
  if (x < 0) {
    if (x == std::floor(x)) return kNan;
    return digamma(1 - x) - kPi / std::tan(kPi * (x - std::floor(x)));
  }
  double result = 0;
  for (; x < 10; x += 1) result -= 1 / x;
  const double z = 1 / (x * x);
  const double series =
      z * (1. / 12 - z * (1. / 120 - z * (1. / 252 - z * (1. / 240 - z * (1. / 132)))));
  return result + std::log(x) - 0.5 / x - series;
}

/// Newton's iteration on erf from the logarithmic estimate of Winitzki.
double erfinv(double y) {
  if (std::isnan(y) || std::fabs(y) > 1) return kNan;
  if (std::fabs(y) == 1) return std::copysign(kInf, y);
  if (y == 0) return y;
  const double w = std::log1p(-y * y);
  const double c = 2 / (kPi * 0.147) + w / 2;
  double x = std::copysign(std::sqrt(std::sqrt(c * c - w / 0.147) - c), y);
  for (int i = 0; i < 4; ++i) {
    // erfc keeps its digits where erf is near 1.
    const double error = y > 0 ? (1 - y) - std::erfc(x) : std::erfc(-x) - (1 + y);
    x -= error / (2 / std::sqrt(kPi) * std::exp(-x * x));
  }
  return x;
}

double remainder_like_divisor(double a, double b) {
  const double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

double floor_divide(double a, double b) {
  if (b == 0) return a / b;
  const double quotient = (a - remainder_like_divisor(a, b)) / b;
  return quotient == 0 ? std::copysign(0., a / b) : std::floor(quotient + 0.5);
}

double round_half_even(double x) {
  const double floor = std::floor(x);
  const double gap = x - floor;
  if (gap != 0.5) return std::copysign(gap < 0.5 ? floor : floor + 1, x);
  return std::copysign(std::fmod(floor, 2) == 0 ? floor : floor + 1, x);
}

std::int64_t bits(double x) { return static_cast<std::int64_t>(x); }

template <class Shift>
double shifted(double a, double b, Shift shift) {
  if (!(b >= 0 && b < 64)) return kNan;
  return static_cast<double>(shift(bits(a), static_cast<int>(b)));
}

/// Intrinsics with one text for both number types.
template <class T>
bool apply_common(Op op, const T* a, T& result) {
  using std::conj, std::real, std::imag;
  const auto is_true = [](const T& x) { return x != T(0); };
  switch (op) {
  case Op::kAdd: result = a[0] + a[1]; return true;
  case Op::kSub: result = a[0] - a[1]; return true;
  case Op::kMul: result = a[0] * a[1]; return true;
  case Op::kDiv: result = a[0] / a[1]; return true;
  case Op::kNeg: result = -a[0]; return true;
  case Op::kSquare: result = a[0] * a[0]; return true;
  case Op::kReciprocal: result = T(1) / a[0]; return true;
  case Op::kFma: result = a[0] * a[1] + a[2]; return true;
  case Op::kExp: result = std::exp(a[0]); return true;
  case Op::kLog: result = std::log(a[0]); return true;
  case Op::kLog2: result = std::log(a[0]) / T(std::numbers::ln2); return true;
  case Op::kLog10: result = std::log10(a[0]); return true;
  case Op::kSqrt: result = std::sqrt(a[0]); return true;
  case Op::kRsqrt: result = T(1) / std::sqrt(a[0]); return true;
  case Op::kSin: result = std::sin(a[0]); return true;
  case Op::kCos: result = std::cos(a[0]); return true;
  case Op::kTan: result = std::tan(a[0]); return true;
  case Op::kAsin: result = std::asin(a[0]); return true;
  case Op::kAcos: result = std::acos(a[0]); return true;
  case Op::kAtan: result = std::atan(a[0]); return true;
  case Op::kSinh: result = std::sinh(a[0]); return true;
  case Op::kCosh: result = std::cosh(a[0]); return true;
  case Op::kTanh: result = std::tanh(a[0]); return true;
  case Op::kAsinh: result = std::asinh(a[0]); return true;
  case Op::kAcosh: result = std::acosh(a[0]); return true;
  case Op::kAtanh: result = std::atanh(a[0]); return true;
  case Op::kSigmoid: result = T(1) / (T(1) + std::exp(-a[0])); return true;
  case Op::kEq: result = T(a[0] == a[1]); return true;
  case Op::kNe:
  case Op::kLogicalXor:
    result = op == Op::kNe ? T(a[0] != a[1]) : T(is_true(a[0]) != is_true(a[1]));
    return true;
  case Op::kLogicalAnd: result = T(is_true(a[0]) && is_true(a[1])); return true;
  case Op::kLogicalOr: result = T(is_true(a[0]) || is_true(a[1])); return true;
  case Op::kLogicalNot: result = T(!is_true(a[0])); return true;
  case Op::kIsnan: result = T(std::isnan(real(a[0])) || std::isnan(imag(a[0]))); return true;
  case Op::kIsinf: result = T(std::isinf(real(a[0])) || std::isinf(imag(a[0]))); return true;
  case Op::kIsfinite:
    result = T(std::isfinite(real(a[0])) && std::isfinite(imag(a[0])));
    return true;
  case Op::kWhere: result = is_true(a[0]) ? a[1] : a[2]; return true;
  case Op::kToMask: result = T(is_true(a[0])); return true;
  case Op::kFromMask: result = a[0]; return true;
  case Op::kReal: result = T(real(a[0])); return true;
  case Op::kImag: result = T(imag(a[0])); return true;
  default: return false;
  }
}

template <class T, class Bindings>
T evaluate_graph(const Graph& graph, NodeId root, const Bindings& variables) {
  std::map<NodeId, T> values;
  for (NodeId id : topological_order(graph, {root})) {
    const Node& node = graph[id];
    if (node.kind == NodeKind::kConstant) {
      values[id] = T(node.number);
    } else if (node.is_variable()) {
      const auto it = variables.find(node.name);
      if (it == variables.end())
        throw std::invalid_argument("[evaluate] every variable must be bound, got no value for '" +
                                    node.name + "'");
      values[id] = it->second;
    } else if (node.loop) {
      const Loop& loop = *node.loop;
      std::map<std::string, T> inner;
      const auto bind = [&](const std::vector<NodeId>& variables, std::size_t from) {
        for (std::size_t i = 0; i < variables.size(); ++i)
          inner[loop.body[variables[i]].name] = values[node.arguments[from + i]];
      };
      bind(loop.carried, 0);
      bind(loop.captured, loop.carried.size());
      for (std::uint32_t step = 0; step < loop.most; ++step) {
        if (evaluate_graph<T>(loop.body, loop.condition, inner) == T(0)) break;
        std::vector<T> next;
        for (const NodeId one : loop.next) next.push_back(evaluate_graph<T>(loop.body, one, inner));
        for (std::size_t i = 0; i < next.size(); ++i)
          inner[loop.body[loop.carried[i]].name] = next[i];
      }
      values[id] = inner[loop.body[loop.carried[node.index]].name];
    } else {
      T arguments[3] = {};
      for (std::size_t i = 0; i < node.arguments.size(); ++i)
        arguments[i] = values[node.arguments[i]];
      values[id] = apply_op(node.op, arguments);
    }
  }
  return values[root];
}

}  // namespace

double apply_op(Op op, const double* a) {
  double result = 0;
  switch (op) {
  case Op::kAbs: return std::fabs(a[0]);
  case Op::kSign: return std::isnan(a[0]) ? a[0] : static_cast<double>((a[0] > 0) - (a[0] < 0));
  case Op::kRemainder: return remainder_like_divisor(a[0], a[1]);
  case Op::kFmod: return std::fmod(a[0], a[1]);
  case Op::kFloorDivide: return floor_divide(a[0], a[1]);
  case Op::kTruncDivide: return std::trunc(a[0] / a[1]);
  case Op::kMaximum: return std::isnan(a[0]) || std::isnan(a[1]) ? kNan : std::fmax(a[0], a[1]);
  case Op::kMinimum: return std::isnan(a[0]) || std::isnan(a[1]) ? kNan : std::fmin(a[0], a[1]);
  case Op::kFmax: return std::fmax(a[0], a[1]);
  case Op::kFmin: return std::fmin(a[0], a[1]);
  case Op::kPow: return std::pow(a[0], a[1]);
  case Op::kExp2: return std::exp2(a[0]);
  case Op::kExpm1: return std::expm1(a[0]);
  case Op::kLog2: return std::log2(a[0]);
  case Op::kLog1p: return std::log1p(a[0]);
  case Op::kAtan2: return std::atan2(a[0], a[1]);
  case Op::kErf: return std::erf(a[0]);
  case Op::kErfc: return std::erfc(a[0]);
  case Op::kErfinv: return erfinv(a[0]);
  case Op::kLgamma: return std::lgamma(a[0]);
  case Op::kDigamma: return digamma(a[0]);
  case Op::kRelu: return a[0] <= 0 ? 0 : a[0];
  case Op::kFloor: return std::floor(a[0]);
  case Op::kCeil: return std::ceil(a[0]);
  case Op::kRound: return round_half_even(a[0]);
  case Op::kTrunc: return std::trunc(a[0]);
  case Op::kFrac: return a[0] - std::trunc(a[0]);
  case Op::kHypot: return std::hypot(a[0], a[1]);
  case Op::kNextafter: return std::nextafter(a[0], a[1]);
  case Op::kCopysign: return std::copysign(a[0], a[1]);
  case Op::kLt: return a[0] < a[1];
  case Op::kLe: return a[0] <= a[1];
  case Op::kGt: return a[0] > a[1];
  case Op::kGe: return a[0] >= a[1];
  case Op::kBitwiseAnd: return static_cast<double>(bits(a[0]) & bits(a[1]));
  case Op::kBitwiseOr: return static_cast<double>(bits(a[0]) | bits(a[1]));
  case Op::kBitwiseXor: return static_cast<double>(bits(a[0]) ^ bits(a[1]));
  case Op::kBitwiseNot: return static_cast<double>(~bits(a[0]));
  case Op::kLshift:
    return shifted(a[0], a[1], [](std::int64_t x, int n) {
      return static_cast<std::int64_t>(static_cast<std::uint64_t>(x) << n);
    });
  case Op::kRshift: return shifted(a[0], a[1], [](std::int64_t x, int n) { return x >> n; });
  case Op::kConj: return a[0];
  default: apply_common(op, a, result); return result;
  }
}

Complex apply_op(Op op, const Complex* a) {
  Complex result;
  switch (op) {
  case Op::kPow:
    if (a[1] == 0.) return 1;
    // The library goes through log(0); the limit is 0 for a positive real part.
    return a[0] == 0. && a[1].real() > 0 ? 0 : std::pow(a[0], a[1]);
  case Op::kExp2: return std::exp(a[0] * std::numbers::ln2);
  case Op::kExpm1: return std::exp(a[0]) - 1.;
  case Op::kLog1p: return std::log(1. + a[0]);
  case Op::kConj: return std::conj(a[0]);
  default: break;
  }
  if (!apply_common(op, a, result))
    throw std::invalid_argument("[evaluate] intrinsics must be defined on complex numbers, got '" +
                                std::string(intrinsic(op).name) + "'");
  return result;
}

double evaluate(const Graph& graph, NodeId node, const RealBindings& variables) {
  return evaluate_graph<double>(graph, node, variables);
}

Complex evaluate(const Graph& graph, NodeId node, const ComplexBindings& variables) {
  return evaluate_graph<Complex>(graph, node, variables);
}

}  // namespace tenon::codegen::expr
