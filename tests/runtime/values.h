#pragma once

#include <vector>

#include "tenon/tensor.h"

/// A tensor's elements, row by row, as doubles.
inline std::vector<double> values(const tenon::Tensor& tensor) {
  const tenon::Tensor t = tensor.detach().to(tenon::kDouble).contiguous();
  return {t.data_ptr<double>(), t.data_ptr<double>() + t.numel()};
}

/// A one-dimensional tensor of these elements.
inline tenon::Tensor vector_of(const std::vector<double>& elements,
                               tenon::ScalarType dtype = tenon::kFloat) {
  tenon::Tensor t(
      tenon::empty({static_cast<int64_t>(elements.size())}, tenon::kDouble, tenon::kCPU));
  std::copy(elements.begin(), elements.end(), t.data_ptr<double>());
  return t.to(dtype);
}
