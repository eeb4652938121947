#include "tests/codegen/rows/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

#include "codegen/expr/graph/evaluate.h"

namespace tenon::codegen::rows {
namespace {

using Row = std::vector<Dual>;
constexpr double kPi = std::numbers::pi;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double trigamma(double x) {
  double result = 0;
  for (; x < 20; x += 1) result += 1 / (x * x);
  const double z = 1 / (x * x);
  return result + 1 / x + z / 2 + z / x * (1. / 6 - z * (1. / 30 - z * (1. / 42 - z / 30)));
}

double half_where_equal(double a, double b, bool of_first) {
  return a == b ? 0.5 : of_first ? 1 : 0;
}

/// Derivatives of a function with respect to its arguments, at `a`, where its value is `y`.
using Partials = void (*)(const double* a, double y, double* d);
const std::map<std::string, Partials>& partials() {
  static const std::map<std::string, Partials> kTable = {
      {"add", [](const double*, double, double* d) { d[0] = d[1] = 1; }},
      {"sub", [](const double*, double, double* d) { d[0] = 1, d[1] = -1; }},
      {"mul", [](const double* a, double, double* d) { d[0] = a[1], d[1] = a[0]; }},
      {"div",
       [](const double* a, double, double* d) { d[0] = 1 / a[1], d[1] = -a[0] / (a[1] * a[1]); }},
      {"neg", [](const double*, double, double* d) { d[0] = -1; }},
      {"abs", [](const double* a, double, double* d) { d[0] = (a[0] > 0) - (a[0] < 0); }},
      {"square", [](const double* a, double, double* d) { d[0] = 2 * a[0]; }},
      {"reciprocal", [](const double* a, double, double* d) { d[0] = -1 / (a[0] * a[0]); }},
      {"fma", [](const double* a, double, double* d) { d[0] = a[1], d[1] = a[0], d[2] = 1; }},
      {"remainder",
       [](const double* a, double, double* d) { d[0] = 1, d[1] = -std::floor(a[0] / a[1]); }},
      {"fmod",
       [](const double* a, double, double* d) { d[0] = 1, d[1] = -std::trunc(a[0] / a[1]); }},
      {"maximum",
       [](const double* a, double, double* d) {
         d[0] = half_where_equal(a[0], a[1], a[0] > a[1]);
         d[1] = half_where_equal(a[0], a[1], a[1] > a[0]);
       }},
      {"minimum",
       [](const double* a, double, double* d) {
         d[0] = half_where_equal(a[0], a[1], a[0] < a[1]);
         d[1] = half_where_equal(a[0], a[1], a[1] < a[0]);
       }},
      {"pow",
       [](const double* a, double y, double* d) {
         d[0] = a[1] == 0 ? 0 : a[1] * std::pow(a[0], a[1] - 1);
         d[1] = a[0] == 0 ? 0 : y * std::log(a[0]);
       }},
      {"exp", [](const double*, double y, double* d) { d[0] = y; }},
      {"exp2", [](const double*, double y, double* d) { d[0] = y * std::numbers::ln2; }},
      {"expm1", [](const double* a, double, double* d) { d[0] = std::exp(a[0]); }},
      {"log", [](const double* a, double, double* d) { d[0] = 1 / a[0]; }},
      {"log2", [](const double* a, double, double* d) { d[0] = 1 / (a[0] * std::numbers::ln2); }},
      {"log10", [](const double* a, double, double* d) { d[0] = 1 / (a[0] * std::numbers::ln10); }},
      {"log1p", [](const double* a, double, double* d) { d[0] = 1 / (1 + a[0]); }},
      {"sqrt", [](const double* a, double, double* d) { d[0] = 0.5 / std::sqrt(a[0]); }},
      {"rsqrt", [](const double* a, double, double* d) { d[0] = -0.5 * std::pow(a[0], -1.5); }},
      {"sin", [](const double* a, double, double* d) { d[0] = std::cos(a[0]); }},
      {"cos", [](const double* a, double, double* d) { d[0] = -std::sin(a[0]); }},
      {"tan", [](const double* a, double, double* d) { d[0] = std::pow(std::cos(a[0]), -2); }},
      {"asin", [](const double* a, double, double* d) { d[0] = 1 / std::sqrt(1 - a[0] * a[0]); }},
      {"acos", [](const double* a, double, double* d) { d[0] = -1 / std::sqrt(1 - a[0] * a[0]); }},
      {"atan", [](const double* a, double, double* d) { d[0] = 1 / (1 + a[0] * a[0]); }},
      {"sinh", [](const double* a, double, double* d) { d[0] = std::cosh(a[0]); }},
      {"cosh", [](const double* a, double, double* d) { d[0] = std::sinh(a[0]); }},
      {"tanh", [](const double* a, double, double* d) { d[0] = std::pow(std::cosh(a[0]), -2); }},
      {"asinh", [](const double* a, double, double* d) { d[0] = 1 / std::sqrt(a[0] * a[0] + 1); }},
      {"acosh", [](const double* a, double, double* d) { d[0] = 1 / std::sqrt(a[0] * a[0] - 1); }},
      {"atanh", [](const double* a, double, double* d) { d[0] = 1 / (1 - a[0] * a[0]); }},
      {"atan2",
       [](const double* a, double, double* d) {
         const double r = a[0] * a[0] + a[1] * a[1];
         d[0] = r == 0 ? 0 : a[1] / r, d[1] = r == 0 ? 0 : -a[0] / r;
       }},
      {"erf", [](const double* a, double,
                 double* d) { d[0] = 2 / std::sqrt(kPi) * std::exp(-a[0] * a[0]); }},
      {"erfc", [](const double* a, double,
                  double* d) { d[0] = -2 / std::sqrt(kPi) * std::exp(-a[0] * a[0]); }},
      {"erfinv",
       [](const double*, double y, double* d) { d[0] = std::sqrt(kPi) / 2 * std::exp(y * y); }},
      {"lgamma",
       [](const double* a, double, double* d) { d[0] = expr::apply_op(expr::Op::kDigamma, a); }},
      {"digamma", [](const double* a, double, double* d) { d[0] = trigamma(a[0]); }},
      {"sigmoid",
       [](const double* a, double, double* d) { d[0] = 0.25 * std::pow(std::cosh(a[0] / 2), -2); }},
      {"relu", [](const double* a, double, double* d) { d[0] = a[0] > 0; }},
      {"frac", [](const double*, double, double* d) { d[0] = 1; }},
      {"hypot", [](const double* a, double y,
                   double* d) { d[0] = y == 0 ? 0 : a[0] / y, d[1] = y == 0 ? 0 : a[1] / y; }},
      {"copysign", [](const double* a, double,
                      double* d) { d[0] = ((a[0] > 0) - (a[0] < 0)) * std::copysign(1., a[1]); }},
      {"where", [](const double* a, double, double* d) { d[1] = a[0] != 0, d[2] = a[0] == 0; }},
  };
  return kTable;
}

class Evaluator {
 public:
  Evaluator(const RandomEntry& entry, size_t length, const RowValues& values,
            const RowValues& slopes)
      : entry_(entry), length_(length), values_(values), slopes_(slopes) {}

  Reference run() {
    const std::vector<char> wanted = reachable();
    for (size_t i = 0; i < entry_.terms.size(); ++i)
      rows_.push_back(wanted[i] ? evaluate(entry_.terms[i]) : Row{});
    for (const size_t id : entry_.results) out_.results.push_back(rows_[id]);
    return std::move(out_);
  }

 private:
  std::vector<char> reachable() const {
    std::vector<char> wanted(entry_.terms.size(), 0);
    for (const size_t id : entry_.results) wanted[id] = 1;
    for (size_t i = entry_.terms.size(); i-- > 0;) {
      for (const size_t argument : entry_.terms[i].arguments) wanted[argument] |= wanted[i];
    }
    return wanted;
  }

  void measure(double value) {
    // Once it is NaN it stays so.
    if (std::isnan(out_.largest)) return;
    if (!(std::fabs(value) <= out_.largest)) out_.largest = std::fabs(value);
  }

  Row operand(const Term& term) {
    const std::vector<double>& values = values_.at(term.name);
    const auto slopes = slopes_.find(term.name);
    Row row;
    for (size_t i = 0; i < values.size(); ++i)
      row.push_back({values[i], slopes == slopes_.end() ? 0 : slopes->second[i]});
    return row;
  }

  Row evaluate(const Term& term) {
    if (term.is_number) return {{term.number, 0}};
    if (term.is_operand) return operand(term);
    Row row;
    if (term.name == "index") {
      for (size_t i = 0; i < length_; ++i) row.push_back({static_cast<double>(i), 0});
    } else if (term.name == "length") {
      row = {{static_cast<double>(length_), 0}};
    } else if (term.name == "detach") {
      row = rows_[term.arguments[0]];
      for (Dual& dual : row) dual.slope = 0;
    } else if (is_reduction(term.name)) {
      row = {reduce(term)};
    } else {
      row = pointwise(term);
    }
    for (const Dual& dual : row) {
      measure(dual.value);
      measure(dual.slope);
    }
    return row;
  }

  static bool is_reduction(const std::string& name) {
    static constexpr const char* kNames[] = {"sum", "mean", "prod",  "max",  "min",      "var",
                                             "any", "all",  "count", "pick", "logsumexp"};
    return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
  }

  Dual reduce(const Term& term) {
    const Row& x = rows_[term.arguments[0]];
    const auto n = static_cast<double>(x.size());
    Dual sum;
    for (const Dual& dual : x) sum.value += dual.value, sum.slope += dual.slope;
    if (term.name == "sum") return sum;
    if (term.name == "mean") return {sum.value / n, sum.slope / n};
    if (term.name == "prod") return product(x);
    if (term.name == "max" || term.name == "min") return extreme(x, term.name == "max");
    if (term.name == "var") {
      const Dual mean = {sum.value / n, sum.slope / n};
      Dual squares;
      for (const Dual& dual : x) {
        const double apart = dual.value - mean.value;
        squares.value += apart * apart;
        squares.slope += 2 * apart * (dual.slope - mean.slope);
      }
      const double divisor = std::fmax(n - rows_[term.arguments[1]][0].value, 0);
      return {squares.value / divisor, squares.slope / divisor};
    }
    if (term.name == "logsumexp") return logsumexp(x);
    if (term.name == "pick") {
      const double at = rows_[term.arguments[1]][0].value;
      // Not chosen, as the entry says.
      if (!(at >= 0 && at < n)) return {0.5, 0};
      return x[static_cast<size_t>(at)];
    }
    const auto count =
        std::count_if(x.begin(), x.end(), [](const Dual& d) { return d.value != 0; });
    if (term.name == "any") return {count > 0 ? 1. : 0., 0};
    if (term.name == "all") return {count == static_cast<ptrdiff_t>(x.size()) ? 1. : 0., 0};
    return {static_cast<double>(count), 0};
  }

  static Dual product(const Row& x) {
    Dual result = {1, 0};
    for (const Dual& dual : x) result.value *= dual.value;
    for (size_t i = 0; i < x.size(); ++i) {
      double term = x[i].slope;
      for (size_t j = 0; j < x.size(); ++j) term *= j == i ? 1 : x[j].value;
      result.slope += term;
    }
    return result;
  }

  Dual extreme(const Row& x, bool maximum) {
    if (x.empty()) {
      out_.empty_maximum = true;
      return {maximum ? -INFINITY : INFINITY, 0};
    }
    double best = x[0].value;
    for (const Dual& dual : x) {
      if (std::isnan(dual.value)) return {kNan, kNan};
      best = maximum ? std::fmax(best, dual.value) : std::fmin(best, dual.value);
    }
    double slope = 0, ties = 0;
    for (const Dual& dual : x) {
      if (dual.value == best) slope += dual.slope, ++ties;
    }
    return {best, slope / ties};
  }

  Dual logsumexp(const Row& x) {
    const double largest = extreme(x, true).value;
    const double shift = std::isinf(largest) ? 0 : largest;
    double total = 0, slope = 0;
    for (const Dual& dual : x) {
      const double share = std::exp(dual.value - shift);
      total += share;
      slope += share * dual.slope;
    }
    return {shift + std::log(total), slope / total};
  }

  /// Whether rounding of what was computed may change the value as a whole, as that of `ceil` of a
  /// variance of equal elements, or of a comparison with it.
  bool jumps(const Term& term, const expr::Intrinsic& function, const double* values) const {
    constexpr double kRounding = 1e-11;
    const size_t count = term.arguments.size();
    double least = INFINITY, most = -INFINITY;
    for (size_t corner = 0; corner < size_t{1} << count; ++corner) {
      double at[3] = {};
      for (size_t k = 0; k < count; ++k) {
        const Term& argument = entry_.terms[term.arguments[k]];
        const bool exact = argument.is_number || argument.is_operand || argument.arguments.empty();
        const double error = exact ? 0 : kRounding * std::fmax(1, std::fabs(values[k]));
        at[k] = values[k] + ((corner >> k & 1) != 0 ? error : -error);
      }
      const double value = expr::apply_op(function.op, at);
      least = std::fmin(least, value), most = std::fmax(most, value);
    }
    return most - least > 0.1;
  }

  Row pointwise(const Term& term) {
    const expr::Intrinsic* found = expr::find_intrinsic(term.name);
    if (found == nullptr) throw std::logic_error("no reference for " + term.name);
    const auto rule = partials().find(term.name);
    Row row(term.domain == Domain::kElement ? length_ : 1);
    for (size_t i = 0; i < row.size(); ++i) {
      double values[3] = {}, slopes[3] = {}, d[3] = {};
      for (size_t k = 0; k < term.arguments.size(); ++k) {
        const Row& argument = rows_[term.arguments[k]];
        const Dual& dual = argument[argument.size() == 1 ? 0 : i];
        values[k] = dual.value, slopes[k] = dual.slope;
      }
      row[i].value = expr::apply_op(found->op, values);
      // Simplifications may change the sign of a zero, which these show.
      const bool shows_sign =
          (term.name == "copysign" && values[1] == 0) || (term.name == "atan2" && values[0] == 0);
      if (shows_sign || jumps(term, *found, values)) measure(kNan);
      const bool of_numbers = term.name == "fmax" || term.name == "fmin";
      if (of_numbers) {
        const bool first = std::isnan(values[1]) ||
                           (term.name == "fmax" ? values[0] > values[1] : values[0] < values[1]);
        d[0] = half_where_equal(values[0], values[1], first);
        d[1] = half_where_equal(values[0], values[1], !first);
      } else if (rule != partials().end()) {
        rule->second(values, row[i].value, d);
      }
      for (size_t k = 0; k < term.arguments.size(); ++k) {
        if (slopes[k] == 0) continue;
        measure(d[k]);
        row[i].slope += d[k] == 0 ? 0 : d[k] * slopes[k];
      }
    }
    return row;
  }

  const RandomEntry& entry_;
  const size_t length_;
  const RowValues &values_, &slopes_;
  std::vector<Row> rows_;
  Reference out_;
};

}  // namespace

Reference evaluate(const RandomEntry& entry, size_t length, const RowValues& values,
                   const RowValues& slopes) {
  return Evaluator(entry, length, values, slopes).run();
}

}  // namespace tenon::codegen::rows
