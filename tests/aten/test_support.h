#pragma once

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "tenon/tensor.h"

namespace tenon::test {

/// The elements in row-major order, as doubles.
inline std::vector<double> values(const Tensor& t) {
  const Tensor d = t.to(kDouble).contiguous();
  const auto* p = static_cast<const double*>(d.const_data_ptr());
  return std::vector<double>(p, p + d.numel());
}

/// Same sizes and elements, NaN equal to NaN; `tolerance` is absolute and relative.
inline bool close(const std::vector<double>& got, const std::vector<double>& wanted,
                  double tolerance = 0) {
  if (got.size() != wanted.size()) return false;
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(got[i]) && std::isnan(wanted[i])) continue;
    if (got[i] == wanted[i]) continue;
    if (!(std::fabs(got[i] - wanted[i]) <= tolerance * (1 + std::fabs(wanted[i])))) {
      UNSCOPED_INFO("element " << i << ": got " << got[i] << ", wanted " << wanted[i]);
      return false;
    }
  }
  return true;
}

/// Calls f and checks that it throws E with `text` in its message.
template <class E = Error>
void check_error(const std::function<void()>& f, const std::string& text) {
  try {
    f();
  } catch (const E& e) {
    INFO("message: " << e.what());
    CHECK(std::string(e.what()).find(text) != std::string::npos);
    return;
  } catch (const std::exception& e) {
    FAIL_CHECK("another exception: " << e.what());
    return;
  }
  FAIL_CHECK("no exception; expected: " << text);
}

}  // namespace tenon::test
