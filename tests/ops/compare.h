#pragma once

#include <string>

#include "tests/ops/golden.h"

namespace tenon::ops_test {

/// "" if the cells agree, else the first element that does not: "element 3: expected 1, found 2 (5
/// of 6 differ)". Integers must be equal. Floating-point numbers may differ by `ulps` units in the
/// last place of their dtype, and by one unit of the largest element; NaN equals NaN.
std::string compare_cells(const Cells& expected, const Cells& found, double ulps);

/// The same with dtype and sizes checked first.
std::string compare_tensor(const ExpectedResult& expected, const TensorBase& found, double ulps);

/// "[2, 3]"
std::string list_text(IntArrayRef list);

}  // namespace tenon::ops_test
