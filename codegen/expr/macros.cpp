#include "codegen/expr/macros.h"

#include <algorithm>

namespace tenon::codegen::expr {

const std::vector<Macro>& builtin_macros() {
  // Conditions are written so that a NaN operand gives NaN, and so that derivatives taken through
  // the branches have the documented value at the kinks.
  static const std::vector<Macro> kMacros = {
      {"addcdiv", {"x", "a", "b", "value"}, "x + value * a / b"},
      {"addcmul", {"x", "a", "b", "value"}, "x + value * a * b"},
      {"bce_with_logits", {"x", "t"}, "(1 - t) * x - logsigmoid(x)"},
      {"celu", {"x", "alpha"}, "where(x > 0, x, alpha * expm1(x / alpha))"},
      // Bounds are outside: derivative 0. lo > hi gives hi.
      {"clamp", {"x", "lo", "hi"}, "t = where(x <= lo, lo, x); where(t >= hi, hi, t)"},
      {"clamp_max", {"x", "hi"}, "where(x >= hi, hi, x)"},
      {"clamp_min", {"x", "lo"}, "where(x <= lo, lo, x)"},
      {"deg2rad", {"x"}, "x * 0.017453292519943295"},
      {"elu",
       {"x", "alpha", "scale", "input_scale"},
       "where(x > 0, x * scale, alpha * scale * expm1(x * input_scale))"},
      {"entr", {"x"}, "where(isnan(x), x, where(x > 0, -x * log(x), where(x == 0, 0, -inf)))"},
      {"gelu", {"x"}, "0.5 * x * (1 + erf(x * 0.70710678118654752))"},
      {"gelu_tanh",
       {"x"},
       "0.5 * x * (1 + tanh(0.79788456080286536 * (x + 0.044715 * (x * square(x)))))"},
      {"hardshrink", {"x", "lambd"}, "where(x >= -lambd && x <= lambd, 0, x)"},
      {"hardsigmoid", {"x"}, "where(x <= -3, 0, where(x >= 3, 1, x / 6 + 0.5))"},
      {"hardswish", {"x"}, "where(x <= -3, x * 0, where(x < 3, x * (x + 3) / 6, x))"},
      // Unlike clamp's, lo > hi gives lo.
      {"hardtanh", {"x", "lo", "hi"}, "where(x <= lo, lo, where(x >= hi, hi, x))"},
      {"heaviside", {"x", "value"}, "where(x == 0, value, x > 0)"},
      {"huber",
       {"x", "t", "delta"},
       "z = abs(x - t); where(z < delta, 0.5 * square(z), delta * (z - 0.5 * delta))"},
      {"isclose",
       {"a", "b", "rtol", "atol"},
       "a == b || (isfinite(b) && abs(a - b) <= atol + rtol * abs(b))"},
      {"isneginf", {"x"}, "isinf(x) && x < 0"},
      {"isposinf", {"x"}, "isinf(x) && x > 0"},
      {"ldexp", {"x", "n"}, "x * exp2(n)"},
      {"leaky_relu", {"x", "negative_slope"}, "where(x > 0, x, x * negative_slope)"},
      // Either form is exact at its own end of the segment.
      {"lerp", {"a", "b", "w"}, "where(abs(w) < 0.5, a + w * (b - a), b - (b - a) * (1 - w))"},
      {"logaddexp",
       {"a", "b"},
       "where(a == b && isinf(a), a, maximum(a, b) + log1p(exp(-abs(a - b))))"},
      {"logaddexp2",
       {"a", "b"},
       "where(a == b && isinf(a), a, maximum(a, b) + log1p(exp2(-abs(a - b))) / log(2))"},
      {"logit", {"x"}, "log(x / (1 - x))"},
      // Below -40 the correction is under the last place even in double; exp(-x) stays finite.
      {"logsigmoid", {"x"}, "where(x < -40, x, -log1p(exp(-x)))"},
      {"mish", {"x"}, "x * tanh(where(x > 40, x, log1p(exp(x))))"},
      {"nan_to_num",
       {"x", "nan_value", "posinf", "neginf"},
       "where(isnan(x), nan_value, where(isposinf(x), posinf, where(isneginf(x), neginf, x)))"},
      {"ndtr", {"x"}, "0.5 * erfc(x * -0.70710678118654752)"},
      {"positive", {"x"}, "x"},
      {"rad2deg", {"x"}, "x * 57.295779513082323"},
      {"relu6", {"x"}, "hardtanh(x, 0, 6)"},
      {"rsub", {"a", "b", "alpha"}, "b - alpha * a"},
      {"selu", {"x"}, "elu(x, 1.6732632423543772, 1.0507009873554805, 1.0)"},
      {"signbit", {"x"}, "copysign(1, x) < 0"},
      {"silu", {"x"}, "x * sigmoid(x)"},
      {"sinc",
       {"x"},
       "t = pi * x; u = t * t; where(u < 0.25, 1 - u / 6 * (1 - u / 20 * (1 - u / 42 * (1 - u / 72 "
       "* (1 - u / 110 * (1 - u / 156 * (1 - u / 210)))))), sin(t) / t)"},
      {"smooth_l1",
       {"x", "t", "beta"},
       "z = abs(x - t); where(z < beta, 0.5 * square(z) / beta, z - 0.5 * beta)"},
      {"softplus",
       {"x", "beta", "threshold"},
       "where(x * beta > threshold, x, log1p(exp(x * beta)) / beta)"},
      {"softshrink",
       {"x", "lambd"},
       "where(x > lambd, x - lambd, where(x < -lambd, x + lambd, x * 0))"},
      {"softsign", {"x"}, "x / (1 + abs(x))"},
      {"tanhshrink", {"x"}, "x - tanh(x)"},
      {"threshold", {"x", "bound", "value"}, "where(x <= bound, value, x)"},
      // Reflection below 1/2, recurrence up to 6, then the asymptotic series in Bernoulli numbers
      // (Abramowitz and Stegun 6.4.6, 6.4.7, 6.4.12).
      {"trigamma",
       {"x"},
       "s = sin(pi * x); z = where(x < 0.5, 1 - x, x);"
       "r = 1 / square(z) + 1 / square(z + 1) + 1 / square(z + 2) + 1 / square(z + 3)"
       "  + 1 / square(z + 4) + 1 / square(z + 5) + 1 / square(z + 6) + 1 / square(z + 7)"
       "  + 1 / square(z + 8) + 1 / square(z + 9);"
       "u = 1 / (z + 10); v = square(u);"
       "t = r + u + v * 0.5 + u * v * (1 / 6 - v * (1 / 30 - v * (1 / 42 - v * (1 / 30"
       "  - v * (5 / 66 - v * (691 / 2730 - v * 7 / 6))))));"
       "where(x < 0.5, square(pi / s) - t, t)"},
      {"xlog1py", {"x", "y"}, "where(x == 0 && (y <= -1 || y == inf), 0, x * log1p(y))"},
      // Only where log(y) is infinite or undefined: elsewhere the derivative in x is log(y).
      {"xlogy", {"x", "y"}, "where(x == 0 && (y <= 0 || y == inf), 0, x * log(y))"},
  };
  return kMacros;
}

const Macro* find_macro(std::string_view name) {
  const auto& macros = builtin_macros();
  const auto found =
      std::find_if(macros.begin(), macros.end(), [&](const Macro& m) { return m.name == name; });
  return found == macros.end() ? nullptr : &*found;
}

}  // namespace tenon::codegen::expr
