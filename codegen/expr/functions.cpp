#include "codegen/expr/functions.h"

namespace tenon::codegen::expr {

const std::string* Function::body_for(std::string_view category) const {
  const auto found = cases.find(std::string(category.empty() ? "floating" : category));
  if (found != cases.end()) return &found->second;
  if (!body.empty()) return &body;
  return category.empty() && !cases.empty() ? &cases.begin()->second : nullptr;
}

const Functions& rule_functions() {
  static const Functions kFunctions = {
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
      {"bernoulli", {"p"}, "uniform() < p"},
  };
  return kFunctions;
}

}  // namespace tenon::codegen::expr
