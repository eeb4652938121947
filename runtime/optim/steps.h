#pragma once

#include "tenon/tensor.h"

namespace tenon::optim {

/// The formula of SGD, one step.
struct SgdStep {
  double lr;
  double momentum;
  double dampening;
  double weight_decay;
  bool nesterov;
  bool first;  ///< the buffer holds nothing yet
};

/// The formula of Adam at step number `step`, from 1.
struct AdamStep {
  double lr;
  double beta1;
  double beta2;
  double eps;
  double weight_decay;
  bool decoupled;  ///< the weight decay of AdamW
  int64_t step;
};

/// Changes p and its state in one pass. All tensors have p's dtype, device and strides, and are
/// dense; `buffer` is undefined without momentum, `max` without amsgrad.
void sgd_step(const Tensor& p, const Tensor& grad, const Tensor& buffer, const SgdStep& step);
void adam_step(const Tensor& p, const Tensor& grad, const Tensor& m, const Tensor& v,
               const Tensor& max, const AdamStep& step);

namespace detail {

/// The loops over raw memory, elements [0, n); T is float or double, or a half type computed in
/// float.
struct SgdArrays {
  void* p;
  const void* grad;
  void* buffer;
};
struct AdamArrays {
  void* p;
  const void* grad;
  void* m;
  void* v;
  void* max;
};
void sgd_loop(ScalarType dtype, const SgdArrays& arrays, int64_t begin, int64_t end,
              const SgdStep& step);
void adam_loop(ScalarType dtype, const AdamArrays& arrays, int64_t begin, int64_t end,
               const AdamStep& step);

}  // namespace detail
}  // namespace tenon::optim
