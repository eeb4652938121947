#include "runtime/optim/steps.h"

#include <cmath>

#include "aten/core/parallel.h"
#include "tenon/ops/maximum.h"

namespace tenon::optim {
namespace {

// Elements below which a second thread costs more than it saves; each moves 12 to 28 bytes.
constexpr int64_t kGrain = 16384;

// Devices other than the CPU run the same formulas as a sequence of operators.
void sgd_composed(Tensor p, const Tensor& grad, Tensor buffer, const SgdStep& s) {
  Tensor d = s.weight_decay != 0 ? grad.add(p, s.weight_decay) : grad;
  if (buffer.defined()) {
    if (s.first) {
      buffer.copy_(d);
    } else {
      buffer.mul_(s.momentum).add_(d, 1 - s.dampening);
    }
    d = s.nesterov ? d.add(buffer, s.momentum) : buffer;
  }
  p.add_(d, -s.lr);
}

void adam_composed(Tensor p, const Tensor& grad, Tensor m, Tensor v, Tensor max,
                   const AdamStep& s) {
  Tensor g = grad;
  if (s.weight_decay != 0) {
    if (s.decoupled) {
      p.mul_(1 - s.lr * s.weight_decay);
    } else {
      g = grad.add(p, s.weight_decay);
    }
  }
  m.mul_(s.beta1).add_(g, 1 - s.beta1);
  v.mul_(s.beta2).add_(g.mul(g), 1 - s.beta2);
  if (max.defined()) max.copy_(maximum(max, v));
  const double correction1 = 1 - std::pow(s.beta1, s.step);
  const double correction2 = 1 - std::pow(s.beta2, s.step);
  const Tensor denominator =
      (max.defined() ? max : v).sqrt().div_(std::sqrt(correction2)).add_(s.eps);
  p.add_(m.div(denominator), -s.lr / correction1);
}

void* data_of(const Tensor& t) { return t.defined() ? t.data_ptr() : nullptr; }

}  // namespace

void sgd_step(const Tensor& p, const Tensor& grad, const Tensor& buffer, const SgdStep& step) {
  if (!p.is_cpu()) return sgd_composed(p, grad, buffer, step);
  const detail::SgdArrays arrays{p.data_ptr(), grad.data_ptr(), data_of(buffer)};
  parallel_for(0, p.numel(), kGrain, [&](int64_t begin, int64_t end) {
    detail::sgd_loop(p.dtype(), arrays, begin, end, step);
  });
}

void adam_step(const Tensor& p, const Tensor& grad, const Tensor& m, const Tensor& v,
               const Tensor& max, const AdamStep& step) {
  if (!p.is_cpu()) return adam_composed(p, grad, m, v, max, step);
  const detail::AdamArrays arrays{p.data_ptr(), grad.data_ptr(), m.data_ptr(), v.data_ptr(),
                                  data_of(max)};
  parallel_for(0, p.numel(), kGrain, [&](int64_t begin, int64_t end) {
    detail::adam_loop(p.dtype(), arrays, begin, end, step);
  });
}

}  // namespace tenon::optim
