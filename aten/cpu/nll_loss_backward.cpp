#include "tenon/native/nll_loss_backward.h"

#include <algorithm>

#include "aten/cpu/plain.h"

namespace tenon {

void native::nll_loss_backward_cpu(const Tensor& grad_output, const Tensor& self,
                                   const Tensor& target, const std::optional<Tensor>& weight,
                                   int64_t reduction, int64_t ignore_index,
                                   const Tensor& total_weight, const Tensor& grad_input) {
  const ScalarType type = opmath_type(self.scalar_type());
  const TensorBase g = plain_input(grad_output, type), t = plain_input(target, kLong);
  const TensorBase w = plain_input(weight, type), total = plain_input(total_weight, type);
  const PlainOutput out(grad_input, type);
  const int64_t rows = self.dim() == 2 ? self.size(0) : 1, classes = self.size(-1);
  const bool each = reduction == 0 && self.dim() == 2;
  TENON_DISPATCH_FLOATING(type, "nll_loss_backward", {
    const scalar_t* grad = g.data_ptr<scalar_t>();
    const scalar_t* weights = data_or_null<scalar_t>(w);
    const int64_t* targets = t.data_ptr<int64_t>();
    const scalar_t divisor = reduction == 1 ? *total.data_ptr<scalar_t>() : scalar_t(1);
    scalar_t* to = out.data<scalar_t>();
    std::fill_n(to, rows * classes, scalar_t(0));
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t k = targets[i];
      if (k == ignore_index) continue;
      TENON_CHECK_INDEX(k >= 0 && k < classes, "[nll_loss_backward] Target ", k,
                        " is out of bounds: row ", i, " has ", classes, " elements");
      to[i * classes + k] = -(weights ? weights[k] : scalar_t(1)) * grad[each ? i : 0] / divisor;
    }
  });
  out.deliver();
}

}  // namespace tenon
