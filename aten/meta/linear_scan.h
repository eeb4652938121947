#pragma once

#include "aten/meta/checks.h"
#include "tenon/tensor.h"

namespace tenon::meta {

inline void check_linear_scan(const Tensor& self, const Tensor& factors) {
  TENON_CHECK(self.sizes() == factors.sizes(), "[_linear_scan] factors must have self's shape ",
              self.sizes(), ", got ", factors.sizes());
  check_same("_linear_scan", "self", self, "factors", factors);
}

}  // namespace tenon::meta
