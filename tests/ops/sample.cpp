#include "tests/ops/sample.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>

#include "aten/core/error.h"

namespace tenon::ops_test {
namespace {

const std::set<std::string> kOptions = {
    "ulps",   "grad",   "fd",   "gg",    "meta", "aliases", "edges", "noncontig", "strides",
    "memory", "values", "seed", "error", "out",  "inplace", "cuda",  "devices",   "forward"};

std::string trimmed(const std::string& line) {
  const size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string::npos) return "";
  return line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
}

std::vector<std::string> words(const YAML::Node& node) {
  if (!node) return {};
  return node.IsSequence() ? node.as<std::vector<std::string>>()
                           : std::vector<std::string>{node.Scalar()};
}

}  // namespace

std::filesystem::path data_folder(const char* name) {
  const char* const elsewhere = std::getenv("TENON_TEST_DIR");
  return std::filesystem::path(elsewhere ? elsewhere : TENON_TEST_DIR) / "ops" / name;
}

bool Row::wants(const std::string& name) const { return option(name) != "false"; }

std::string Row::option(const std::string& name, const std::string& fallback) const {
  const auto found = options.find(name);
  return found == options.end() ? fallback : found->second;
}

std::string Sample::key() const {
  uint32_t hash = 0x811C9DC5u;
  for (const unsigned char byte : row->line) hash = (hash ^ byte) * 0x01000193u;
  char digits[9];
  std::snprintf(digits, sizeof digits, "%08x", hash);
  return op + " " + (dtype.empty() ? "" : dtype + " ") + digits;
}

std::string Sample::where() const {
  return "samples/" + row->family + ".yaml:" + std::to_string(row->line_number) + " " + op +
         (dtype.empty() ? "" : " " + dtype);
}

std::vector<std::string> families() {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(data_folder("samples"))) {
    if (file.path().extension() == ".yaml") names.push_back(file.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<Row> load_rows(const std::string& family) {
  const auto path = data_folder("samples") / (family + ".yaml");
  std::ifstream file(path);
  TENON_CHECK(file, "cannot read ", path.string());
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(trimmed(line));
  std::vector<Row> rows;
  for (const YAML::Node& node : YAML::LoadFile(path.string())) {
    Row row;
    row.family = family;
    row.line_number = node.Mark().line + 1;
    row.line = lines.at(node.Mark().line);
    TENON_CHECK(row.line.starts_with("- {") && row.line.ends_with("}"), path.string(), ":",
                row.line_number, ": a row is one line `- {...}`");
    for (const auto& item : node) {
      const std::string name = item.first.Scalar();
      if (name == "op" || name == "ops") {
        row.operators = words(item.second);
      } else if (name == "for") {
        row.dtypes = words(item.second);
      } else if (name == "args") {
        row.args = item.second;
      } else if (name == "kwargs") {
        row.kwargs = item.second;
      } else {
        TENON_CHECK(kOptions.count(name), path.string(), ":", row.line_number, ": unknown key `",
                    name, "`");
        row.options[name] = item.second.Scalar();
      }
    }
    TENON_CHECK(!row.operators.empty(), path.string(), ":", row.line_number, ": no `op` or `ops`");
    if (row.dtypes.empty()) row.dtypes.emplace_back();
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<Sample> samples_of(const std::vector<Row>& rows) {
  std::vector<Sample> samples;
  for (const Row& row : rows) {
    for (const auto& op : row.operators) {
      for (const auto& dtype : row.dtypes) samples.push_back({&row, op, dtype});
    }
  }
  return samples;
}

}  // namespace tenon::ops_test
