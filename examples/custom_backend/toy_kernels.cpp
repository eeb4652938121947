// Ten operators that the device runs itself, and the CPU for the others. Shapes and strides other
// than the simple ones go to the CPU too, by calling the fallback.
#include <atomic>
#include <cmath>

#include "aten/registration/cpu_fallback.h"
#include "aten/registration/library.h"
#include "toy_device.h"

namespace toy {
namespace {

using tenon::Scalar;
using tenon::Tensor;

std::atomic<int64_t> count{0};

Tensor fresh(tenon::IntArrayRef sizes) {
  return Tensor(tenon::empty(sizes, tenon::kFloat, tenon::Device(tenon::kPrivateUse1, 0)));
}

bool simple(const Tensor& t) {
  return t.device().type() == tenon::kPrivateUse1 && t.dtype() == tenon::kFloat &&
         t.is_contiguous();
}

/// What the CPU gives for an operator of these types.
template <class Ret, class... Args>
Ret on_cpu(const char* name, Args... args) {
  tenon::Stack stack;
  (tenon::detail::box(stack, args), ...);
  tenon::cpu_fallback(tenon::get_operator(name), {}, stack);
  return Tensor(stack.back().to_tensor());
}

template <class F>
Tensor map(const char* name, const Tensor& self, F&& f) {
  if (!simple(self)) return on_cpu<Tensor, const Tensor&>(name, self);
  ++count;
  const Tensor out = fresh(self.sizes());
  const float* x = data<float>(self);
  float* y = data<float>(out);
  for (int64_t i = 0; i < self.numel(); ++i) y[i] = f(x[i]);
  return out;
}

/// Operands of one shape.
bool simple(const Tensor& a, const Tensor& b) {
  return simple(a) && simple(b) && a.sizes() == b.sizes();
}

template <class F>
Tensor zip(const Tensor& a, const Tensor& b, F&& f) {
  ++count;
  const Tensor out = fresh(a.sizes());
  const float *x = data<float>(a), *y = data<float>(b);
  float* z = data<float>(out);
  for (int64_t i = 0; i < a.numel(); ++i) z[i] = f(x[i], y[i]);
  return out;
}

Tensor add(const Tensor& a, const Tensor& b, const Scalar& alpha) {
  if (!simple(a, b)) {
    return on_cpu<Tensor, const Tensor&, const Tensor&, const Scalar&>("aten::add.Tensor", a, b,
                                                                       alpha);
  }
  const float s = alpha.to<float>();
  return zip(a, b, [s](float x, float y) { return x + s * y; });
}

Tensor sub(const Tensor& a, const Tensor& b, const Scalar& alpha) {
  if (!simple(a, b)) {
    return on_cpu<Tensor, const Tensor&, const Tensor&, const Scalar&>("aten::sub.Tensor", a, b,
                                                                       alpha);
  }
  const float s = alpha.to<float>();
  return zip(a, b, [s](float x, float y) { return x - s * y; });
}

Tensor mul(const Tensor& a, const Tensor& b) {
  if (!simple(a, b)) return on_cpu<Tensor, const Tensor&, const Tensor&>("aten::mul.Tensor", a, b);
  return zip(a, b, [](float x, float y) { return x * y; });
}

Tensor neg(const Tensor& self) {
  return map("aten::neg", self, [](float x) { return -x; });
}
Tensor exp(const Tensor& self) {
  return map("aten::exp", self, [](float x) { return std::exp(x); });
}
Tensor tanh(const Tensor& self) {
  return map("aten::tanh", self, [](float x) { return std::tanh(x); });
}
Tensor relu(const Tensor& self) {
  return map("aten::relu", self, [](float x) { return x > 0 ? x : 0; });
}

Tensor mm(const Tensor& a, const Tensor& b) {
  if (a.dim() != 2 || b.dim() != 2 || a.size(1) != b.size(0) || a.dtype() != tenon::kFloat ||
      b.dtype() != tenon::kFloat || a.device() != b.device()) {
    return on_cpu<Tensor, const Tensor&, const Tensor&>("aten::mm", a, b);
  }
  ++count;
  const int64_t n = a.size(0), k = a.size(1), m = b.size(1);
  const Tensor out = fresh({n, m});
  const float *x = data<float>(a), *y = data<float>(b);
  float* z = data<float>(out);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < m; ++j) {
      float sum = 0;
      for (int64_t l = 0; l < k; ++l) {
        sum += x[i * a.stride(0) + l * a.stride(1)] * y[l * b.stride(0) + j * b.stride(1)];
      }
      z[i * m + j] = sum;
    }
  }
  return out;
}

Tensor& fill_(Tensor& self, const Scalar& value) {
  if (!simple(self)) {
    on_cpu<Tensor, const Tensor&, const Scalar&>("aten::fill_.Scalar", self, value);
    return self;
  }
  ++count;
  std::fill_n(data<float>(self), self.numel(), value.to<float>());
  return self;
}

Tensor& zero_(Tensor& self) {
  ++count;
  return fill_(self, 0);
}

}  // namespace

int64_t kernels_run() { return count; }

TENON_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("add.Tensor", TENON_FN(add));
  m.impl("sub.Tensor", TENON_FN(sub));
  m.impl("mul.Tensor", TENON_FN(mul));
  m.impl("neg", TENON_FN(neg));
  m.impl("exp", TENON_FN(exp));
  m.impl("tanh", TENON_FN(tanh));
  m.impl("relu", TENON_FN(relu));
  m.impl("mm", TENON_FN(mm));
  m.impl("fill_.Scalar", TENON_FN(fill_));
  m.impl("zero_", TENON_FN(zero_));
  m.fallback(tenon::DispatchKey::PrivateUse1, tenon::cpu_fallback);
}

}  // namespace toy
