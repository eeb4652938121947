#include "codegen/expr/graph/constants.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numbers>

namespace tenon::codegen::expr {
namespace {

constexpr NamedConstant kConstants[] = {
    {"inf", std::numeric_limits<double>::infinity(), "::std::numeric_limits<double>::infinity()"},
    {"nan", std::numeric_limits<double>::quiet_NaN(), "::std::numeric_limits<double>::quiet_NaN()"},
    {"pi", std::numbers::pi, "3.141592653589793"},
    {"e", std::numbers::e, "2.718281828459045"}};

}  // namespace

std::span<const NamedConstant> named_constants() { return kConstants; }

std::vector<std::string> constant_names() {
  std::vector<std::string> names;
  for (const NamedConstant& constant : kConstants) names.emplace_back(constant.name);
  return names;
}

const NamedConstant* find_named_constant(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(kConstants), std::end(kConstants),
                   [&](const NamedConstant& constant) { return constant.name == name; });
  return found == std::end(kConstants) ? nullptr : found;
}

}  // namespace tenon::codegen::expr
