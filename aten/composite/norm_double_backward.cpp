#include "aten/composite/norm_double_backward.h"

#include "tenon/ops/add.h"
#include "tenon/ops/expand.h"
#include "tenon/ops/mean.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/neg.h"
#include "tenon/ops/sub.h"
#include "tenon/ops/sum.h"

namespace tenon::native {
namespace {

Tensor plus(const Tensor& a, const Tensor& b) {
  return !a.defined() ? b : !b.defined() ? a : tenon::add(a, b);
}

}  // namespace

NormGradients norm_double_backward(const Normalised& n, const Tensor& v, const Tensor& u,
                                   const Tensor& b) {
  const auto times = [](const Tensor& a, const Tensor& c) { return tenon::mul(a, c); };
  const Tensor h = times(tenon::sub(n.x, n.mean), n.rstd);
  const auto average = [&](const Tensor& z) { return tenon::mean(z, IntArrayRef(n.dims), true); };
  const auto project = [&](const Tensor& z) {
    if (!n.statistics_of_x) return z;
    return tenon::sub(tenon::sub(z, average(z)), times(h, average(times(z, h))));
  };
  const Tensor wg = n.weight.defined() ? times(n.grad_out, n.weight) : n.grad_out;

  NormGradients out;
  if (v.defined()) {
    const Tensor sp = times(n.rstd, project(v));
    out.grad_out = n.weight.defined() ? times(n.weight, sp) : sp;
    out.weight = tenon::sum(times(sp, n.grad_out), IntArrayRef(n.parameter_dims), true);
  }
  if (u.defined()) out.grad_out = plus(out.grad_out, times(u, h));
  if (b.defined()) out.grad_out = plus(out.grad_out, tenon::expand(b, n.grad_out.sizes()));

  Tensor along;  // the gradient of h
  if (u.defined()) along = times(u, n.grad_out);
  if (!n.statistics_of_x) {
    if (along.defined()) out.x = times(n.rstd, along);
    return out;
  }
  if (v.defined()) {
    const Tensor cross = plus(times(v, average(times(wg, h))), times(wg, average(times(v, h))));
    along = plus(along, tenon::neg(times(n.rstd, cross)));
  }
  if (along.defined()) out.x = times(n.rstd, project(along));
  if (v.defined()) {
    const Tensor spread = times(times(n.rstd, n.rstd), times(h, average(times(v, project(wg)))));
    out.x = tenon::sub(out.x, spread);
  }
  return out;
}

}  // namespace tenon::native
