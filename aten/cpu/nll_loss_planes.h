#pragma once

#include "aten/common/contiguous.h"
#include "tenon/tensor.h"

namespace tenon::native {

/// self [batch, classes, pixels] with target [batch, pixels], in any shapes of so many elements.
struct NllShape {
  int64_t batch, classes, pixels;
};

/// loss = -weight[t] self[., t, .], 0 where t is ignore_index; the mean divides by the sum of the
/// weights of what was not ignored, which is total_weight. `each`: without reduction.
inline void nll_forward(const char* op, const NllShape& s, const TensorBase& self,
                        const TensorBase& target, const std::optional<Tensor>& weight, bool each,
                        bool mean, int64_t ignore_index, const TensorBase& output,
                        const TensorBase& total_weight) {
  const ScalarType type = to_opmath_type(self.scalar_type());
  const TensorBase x = contiguous(self, type), t = contiguous(target, kLong),
                   w = contiguous(weight, type);
  const ContiguousOutput out(output, type), total(total_weight, type);
  TENON_DISPATCH_FLOATING(type, "nll_loss", {
    const scalar_t* weights = data_or_null<scalar_t>(w);
    double sum = 0, weight_sum = 0;
    for (int64_t n = 0; n < s.batch; ++n) {
      const scalar_t* in = x.data_ptr<scalar_t>() + n * s.classes * s.pixels;
      const int64_t* targets = t.data_ptr<int64_t>() + n * s.pixels;
      for (int64_t p = 0; p < s.pixels; ++p) {
        const int64_t k = targets[p];
        scalar_t loss = 0;
        if (k != ignore_index) {
          TENON_CHECK_INDEX(k >= 0 && k < s.classes, "[", op, "] Target ", k,
                            " is out of bounds: row ", n * s.pixels + p, " has ", s.classes,
                            " elements");
          const scalar_t scale = weights ? weights[k] : scalar_t(1);
          loss = -scale * in[k * s.pixels + p];
          weight_sum += scale;
        }
        sum += loss;
        if (each) out.data<scalar_t>()[n * s.pixels + p] = loss;
      }
    }
    if (!each) {
      // Nothing to average gives 0 / 0, NaN, as in PyTorch.
      *out.data<scalar_t>() = static_cast<scalar_t>(mean ? sum / weight_sum : sum);
    }
    *total.data<scalar_t>() = static_cast<scalar_t>(each ? 0 : weight_sum);
  });
  out.copy_back();
  total.copy_back();
}

inline void nll_backward(const char* op, const NllShape& s, const TensorBase& grad_output,
                         const TensorBase& target, const std::optional<Tensor>& weight, bool each,
                         bool mean, int64_t ignore_index, const TensorBase& total_weight,
                         const TensorBase& grad_input) {
  const ScalarType type = to_opmath_type(grad_input.scalar_type());
  const TensorBase g = contiguous(grad_output, type), t = contiguous(target, kLong);
  const TensorBase w = contiguous(weight, type), total = contiguous(total_weight, type);
  const ContiguousOutput out(grad_input, type);
  TENON_DISPATCH_FLOATING(type, "nll_loss_backward", {
    const scalar_t* grad = g.data_ptr<scalar_t>();
    const scalar_t* weights = data_or_null<scalar_t>(w);
    const scalar_t divisor = mean ? *total.data_ptr<scalar_t>() : scalar_t(1);
    std::fill_n(out.data<scalar_t>(), s.batch * s.classes * s.pixels, scalar_t(0));
    for (int64_t n = 0; n < s.batch; ++n) {
      scalar_t* to = out.data<scalar_t>() + n * s.classes * s.pixels;
      const int64_t* targets = t.data_ptr<int64_t>() + n * s.pixels;
      for (int64_t p = 0; p < s.pixels; ++p) {
        const int64_t k = targets[p];
        if (k == ignore_index) continue;
        TENON_CHECK_INDEX(k >= 0 && k < s.classes, "[", op, "] Target ", k,
                          " is out of bounds: row ", n * s.pixels + p, " has ", s.classes,
                          " elements");
        const scalar_t scale = weights ? weights[k] : scalar_t(1);
        to[k * s.pixels + p] = -scale * grad[each ? n * s.pixels + p : 0] / divisor;
      }
    }
  });
  out.copy_back();
}

}  // namespace tenon::native
