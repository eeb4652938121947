#include "tenon/native/linear.h"

#include "tenon/ops/add.h"
#include "tenon/ops/addmm.h"
#include "tenon/ops/matmul.h"
#include "tenon/ops/t.h"

namespace tenon {

/// input @ weight.t() + bias, on backends without a kernel of their own.
Tensor native::linear(const Tensor& input, const Tensor& weight,
                      const std::optional<Tensor>& bias) {
  const bool is_row = bias && bias->dim() == 1;
  if (is_row && input.dim() == 2) return addmm(*bias, input, t(weight), 1, 1);
  const Tensor out = tenon::matmul(input, t(weight));
  return bias && bias->defined() ? add(out, *bias) : out;
}

}  // namespace tenon
