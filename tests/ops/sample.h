#pragma once

#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace tenon::ops_test {

/// One line of samples/<family>.yaml.
struct Row {
  std::string family;
  int line_number = 0;
  std::string line;
  std::vector<std::string> operators;
  std::vector<std::string> dtypes;  ///< what `$` stands for; one empty text if the row has no `for`
  YAML::Node args;
  YAML::Node kwargs;
  std::map<std::string, std::string> options;

  /// Whether a check applies: all do unless the row says `name: false`.
  bool wants(const std::string& name) const;
  std::string option(const std::string& name, const std::string& fallback = "") const;
};

/// A row for one of its operators and one of its dtypes.
struct Sample {
  const Row* row;
  std::string op;
  std::string dtype;

  /// Of its golden: "add.Tensor f32 0123abcd", the last word being a hash of the row's line.
  std::string key() const;
  /// For messages: "samples/binary.yaml:3 add.Tensor f32".
  std::string where() const;
};

/// The folder "samples" or "golden", in $TENON_TEST_DIR/ops where that is set, for programs that
/// run on another machine than they were built on; else of the sources.
std::filesystem::path data_folder(const char* name);

std::vector<std::string> families();
/// The family's rows; throws with file and line on an unknown key or a row that is not one line.
std::vector<Row> load_rows(const std::string& family);
std::vector<Sample> samples_of(const std::vector<Row>& rows);

}  // namespace tenon::ops_test
