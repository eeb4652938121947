#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/ops/cells.h"

namespace tenon::ops_test {

/// What PyTorch gives for a result: a tensor or a number.
struct ExpectedResult {
  bool defined = true;  ///< false: no tensor
  std::optional<Scalar> number;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;     ///< row-major unless recorded
  std::optional<int64_t> alias_of;  ///< the argument tensor whose memory it shares
  bool has_values = false;
  Cells cells;
};

/// What PyTorch gives for a sample.
struct Expected {
  std::optional<std::string> error;
  std::vector<ExpectedResult> results;
  std::map<size_t, Cells> changed;  ///< argument tensors that the call writes to, self excepted
  std::vector<size_t> roots;        ///< results that require grad
  std::map<size_t, std::optional<Cells>> gradients;  ///< by argument tensor; none: not used
};

/// The family's golden answers by Sample::key().
std::map<std::string, Expected> load_golden(const std::string& family);

}  // namespace tenon::ops_test
