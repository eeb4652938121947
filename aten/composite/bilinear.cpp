#include "tenon/native/bilinear.h"

#include "tenon/ops/matmul.h"

namespace tenon {

/// [..., i], [..., j] and weight [o, i, j] -> [..., o]: x1^T W_o x2 + b_o for each o.
Tensor native::bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                        const std::optional<Tensor>& bias) {
  TENON_CHECK(input1.dim() == input2.dim(), "[bilinear] input dimensions do not match: got ",
              input1.dim(), " and ", input2.dim());
  TENON_CHECK(input1.dim() > 0 && weight.dim() == 3,
              "[bilinear] expected inputs of at least 1 dimension and a weight of 3, got ",
              input1.sizes(), " and ", weight.sizes());
  for (int64_t d = 0; d + 1 < input1.dim(); ++d) {
    TENON_CHECK(input1.size(d) == input2.size(d),
                "[bilinear] input batch dimensions do not match at dim ", d, ": got ",
                input1.size(d), " and ", input2.size(d));
  }
  const int64_t outputs = weight.size(0), n = weight.size(1), m = weight.size(2);
  TENON_CHECK(input1.size(-1) == n, "[bilinear] input1 size does not match weight size: got ",
              input1.size(-1), " but expected ", n);
  TENON_CHECK(input2.size(-1) == m, "[bilinear] input2 size does not match weight size: got ",
              input2.size(-1), " but expected ", m);
  TENON_CHECK(!bias || (bias->dim() == 1 && bias->size(0) == outputs),
              "[bilinear] bias size does not match weight size: got ",
              bias ? bias->sizes() : IntArrayRef(), " but expected [", outputs, "]");
  DimVector sizes(input1.sizes().slice(0, static_cast<size_t>(input1.dim() - 1)));
  sizes.push_back(outputs);
  sizes.push_back(m);
  const Tensor left = matmul(input1, weight.permute({1, 0, 2}).reshape({n, outputs * m}));
  const Tensor out = matmul(left.reshape(sizes), input2.unsqueeze(-1)).squeeze(-1);
  return bias ? out + *bias : out;
}

}  // namespace tenon
