#include "tests/ops/compare.h"

#include <cmath>
#include <sstream>

namespace tenon::ops_test {
namespace {

double epsilon_of(ScalarType dtype) {
  switch (to_real(dtype)) {
  case kHalf: return 0x1p-10;
  case kBFloat16: return 0x1p-7;
  case kFloat: return 0x1p-23;
  default: return 0x1p-52;
  }
}

bool close(double expected, double found, double tolerance) {
  if (std::isnan(expected) || std::isnan(found)) return std::isnan(expected) && std::isnan(found);
  if (std::isinf(expected) || std::isinf(found)) return expected == found;
  return std::abs(expected - found) <= tolerance;
}

void print(std::ostream& out, const Cells& cells, size_t i) {
  if (cells.integral()) {
    out << cells.ints[i];
  } else if (is_complex(cells.dtype)) {
    out << cells.numbers[i];
  } else {
    out << cells.numbers[i].real();
  }
}

}  // namespace

std::string compare_cells(const Cells& expected, const Cells& found, double ulps) {
  std::ostringstream out;
  out.precision(17);
  if (expected.dtype != found.dtype) {
    out << "expected dtype " << to_string(expected.dtype) << ", found " << to_string(found.dtype);
    return out.str();
  }
  if (expected.size() != found.size()) {
    out << "expected " << expected.size() << " elements, found " << found.size();
    return out.str();
  }
  double largest = 0;
  for (const auto& number : expected.numbers) {
    if (std::isfinite(std::abs(number))) largest = std::max(largest, std::abs(number));
  }
  const double epsilon = epsilon_of(expected.dtype);
  size_t first = expected.size(), count = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    bool equal;
    if (expected.integral()) {
      equal = expected.ints[i] == found.ints[i];
    } else {
      const auto a = expected.numbers[i], b = found.numbers[i];
      const double size = std::isfinite(std::abs(a)) ? std::abs(a) : 0;
      const double tolerance = epsilon * (ulps * size + largest);
      equal = close(a.real(), b.real(), tolerance) && close(a.imag(), b.imag(), tolerance);
    }
    if (equal) continue;
    first = std::min(first, i);
    ++count;
  }
  if (count == 0) return "";
  out << "element " << first << ": expected ";
  print(out, expected, first);
  out << ", found ";
  print(out, found, first);
  out << " (" << count << " of " << expected.size() << " differ)";
  return out.str();
}

std::string compare_tensor(const ExpectedResult& expected, const TensorBase& found, double ulps) {
  if (!expected.defined) return found.defined() ? "expected no tensor, found one" : "";
  if (!found.defined()) return "expected a tensor, found none";
  if (found.scalar_type() != expected.cells.dtype) {
    return std::string("expected dtype ") + to_string(expected.cells.dtype) + ", found " +
           to_string(found.scalar_type());
  }
  if (found.sizes() != IntArrayRef(expected.sizes)) {
    return "expected sizes " + list_text(expected.sizes) + ", found " + list_text(found.sizes());
  }
  return expected.has_values ? compare_cells(expected.cells, read_cells(found), ulps) : "";
}

std::string list_text(IntArrayRef list) {
  std::ostringstream out;
  out << "[";
  for (size_t i = 0; i < list.size(); ++i) out << (i ? ", " : "") << list[i];
  out << "]";
  return out.str();
}

}  // namespace tenon::ops_test
