#include "tenon/native/nll_loss_forward.h"

#include "aten/cpu/plain.h"

namespace tenon {

/// loss_i = -weight[t_i] self[i, t_i], 0 where t_i is ignore_index; the mean divides by the sum of
/// the weights of what was not ignored, which is total_weight.
void native::nll_loss_forward_cpu(const Tensor& self, const Tensor& target,
                                  const std::optional<Tensor>& weight, int64_t reduction,
                                  int64_t ignore_index, const Tensor& output,
                                  const Tensor& total_weight) {
  const ScalarType type = opmath_type(self.scalar_type());
  const TensorBase x = plain_input(self, type), t = plain_input(target, kLong),
                   w = plain_input(weight, type);
  const PlainOutput out(output, type), total(total_weight, type);
  const int64_t rows = self.dim() == 2 ? self.size(0) : 1, classes = self.size(-1);
  const bool each = reduction == 0 && self.dim() == 2;
  TENON_DISPATCH_FLOATING(type, "nll_loss", {
    const scalar_t* in = x.data_ptr<scalar_t>();
    const scalar_t* weights = data_or_null<scalar_t>(w);
    const int64_t* targets = t.data_ptr<int64_t>();
    double sum = 0, weight_sum = 0;
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t k = targets[i];
      scalar_t loss = 0;
      if (k != ignore_index) {
        TENON_CHECK_INDEX(k >= 0 && k < classes, "[nll_loss] Target ", k, " is out of bounds: row ",
                          i, " has ", classes, " elements");
        const scalar_t scale = weights ? weights[k] : scalar_t(1);
        loss = -scale * in[i * classes + k];
        weight_sum += scale;
      }
      sum += loss;
      if (each) out.data<scalar_t>()[i] = loss;
    }
    if (!each) {
      // Nothing to average gives 0 / 0, NaN, as in PyTorch.
      *out.data<scalar_t>() = static_cast<scalar_t>(reduction == 1 ? sum / weight_sum : sum);
    }
    *total.data<scalar_t>() = static_cast<scalar_t>(each ? 0 : weight_sum);
  });
  out.deliver();
  total.deliver();
}

}  // namespace tenon
