#include "tests/ops/golden.h"

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "aten/core/error.h"
#include "tests/ops/sample.h"

namespace tenon::ops_test {
namespace {

using nlohmann::json;

double number(const json& value) {
  if (!value.is_string()) return value.get<double>();
  const std::string text = value;
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  return text == "inf" ? std::numeric_limits<double>::infinity()
                       : -std::numeric_limits<double>::infinity();
}

Cells cells_of(const json& entry) {
  Cells cells;
  cells.dtype = dtype_of(entry.at("d").get<std::string>()).value();
  const json& values = entry.at("v");
  if (cells.integral()) {
    cells.ints = values.get<std::vector<int64_t>>();
  } else if (is_complex(cells.dtype)) {
    for (size_t i = 0; i + 1 < values.size(); i += 2) {
      cells.numbers.emplace_back(number(values[i]), number(values[i + 1]));
    }
  } else {
    for (const json& value : values) cells.numbers.emplace_back(number(value));
  }
  return cells;
}

Scalar scalar_of(const json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return value.get<int64_t>();
  if (value.is_array()) return std::complex<double>(value[0].get<double>(), value[1].get<double>());
  return number(value);
}

ExpectedResult result_of(const json& entry) {
  ExpectedResult result;
  if (entry.is_null()) {
    result.defined = false;
    return result;
  }
  if (entry.contains("scalar")) {
    result.number = scalar_of(entry["scalar"]);
    return result;
  }
  result.sizes = entry.at("s").get<std::vector<int64_t>>();
  const DimVector strides = contiguous_strides(result.sizes);
  result.strides = entry.contains("st") ? entry["st"].get<std::vector<int64_t>>()
                                        : std::vector<int64_t>(strides.begin(), strides.end());
  if (entry.contains("of")) result.alias_of = entry["of"].get<int64_t>();
  result.has_values = entry.contains("v");
  if (result.has_values) {
    result.cells = cells_of(entry);
  } else {
    result.cells.dtype = dtype_of(entry.at("d").get<std::string>()).value();
  }
  return result;
}

}  // namespace

std::map<std::string, Expected> load_golden(const std::string& family) {
  const std::string path = (data_folder("golden") / (family + ".json")).string();
  std::ifstream file(path);
  TENON_CHECK(file, "cannot read ", path, "; make_golden.py writes it");
  const json rows = json::parse(file).at("rows");
  std::map<std::string, Expected> golden;
  for (const auto& [key, row] : rows.items()) {
    Expected& expected = golden[key];
    if (row.contains("error")) {
      expected.error = row["error"].get<std::string>();
      continue;
    }
    for (const json& result : row.at("out")) expected.results.push_back(result_of(result));
    if (row.contains("changed")) {
      for (const auto& [argument, tensor] : row["changed"].items()) {
        expected.changed[std::stoul(argument)] = cells_of(tensor);
      }
    }
    if (!row.contains("grad")) continue;
    expected.roots = row.at("roots").get<std::vector<size_t>>();
    for (const auto& [argument, gradient] : row.at("grad").items()) {
      auto& one = expected.gradients[std::stoul(argument)];
      if (!gradient.is_null()) one = cells_of(gradient);
    }
  }
  return golden;
}

}  // namespace tenon::ops_test
