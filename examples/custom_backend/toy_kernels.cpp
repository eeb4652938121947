// The kernels that toy.yaml asks for. Operands that are not of the simple kind, float and without
// broadcasting or gaps, are computed by the CPU.
#include <algorithm>
#include <atomic>
#include <cmath>

#include "aten/registration/cpu_fallback.h"
#include "aten/registration/library.h"
#include "tenon/tenon.h"
#include "toy/native/add.h"
#include "toy/native/exp.h"
#include "toy/native/fill.h"
#include "toy/native/mm.h"
#include "toy/native/mul.h"
#include "toy/native/neg.h"
#include "toy/native/relu.h"
#include "toy/native/sub.h"
#include "toy/native/tanh.h"
#include "toy/native/zero.h"
#include "toy_device.h"

namespace toy {
namespace {

using tenon::Scalar;
using tenon::Tensor;

std::atomic<int64_t> count{0};

bool simple(const Tensor& t, const Tensor& out) {
  return t.device() == out.device() && t.dtype() == tenon::kFloat && out.dtype() == tenon::kFloat &&
         t.is_contiguous() && out.is_contiguous() && t.sizes() == out.sizes();
}

template <class F>
bool map(const Tensor& self, const Tensor& out, F&& f) {
  if (!simple(self, out)) return false;
  ++count;
  std::transform(data<float>(self), data<float>(self) + self.numel(), data<float>(out), f);
  return true;
}

template <class F>
bool zip(const Tensor& a, const Tensor& b, const Tensor& out, F&& f) {
  if (!simple(a, out) || !simple(b, out)) return false;
  ++count;
  std::transform(data<float>(a), data<float>(a) + a.numel(), data<float>(b), data<float>(out), f);
  return true;
}

}  // namespace

int64_t kernels_run() { return count; }

void native::add_Tensor_toy(const Tensor& self, const Tensor& other, const Scalar& alpha,
                            const Tensor& out) {
  const float s = alpha.to<float>();
  if (!zip(self, other, out, [s](float x, float y) { return x + s * y; })) {
    out.copy_(tenon::add(self.cpu(), other.cpu(), alpha));
  }
}

void native::sub_Tensor_toy(const Tensor& self, const Tensor& other, const Scalar& alpha,
                            const Tensor& out) {
  const float s = alpha.to<float>();
  if (!zip(self, other, out, [s](float x, float y) { return x - s * y; })) {
    out.copy_(tenon::sub(self.cpu(), other.cpu(), alpha));
  }
}

void native::mul_Tensor_toy(const Tensor& self, const Tensor& other, const Tensor& out) {
  if (!zip(self, other, out, [](float x, float y) { return x * y; })) {
    out.copy_(tenon::mul(self.cpu(), other.cpu()));
  }
}

void native::neg_toy(const Tensor& self, const Tensor& out) {
  if (!map(self, out, [](float x) { return -x; })) out.copy_(tenon::neg(self.cpu()));
}

void native::exp_toy(const Tensor& self, const Tensor& out) {
  if (!map(self, out, [](float x) { return std::exp(x); })) out.copy_(tenon::exp(self.cpu()));
}

void native::tanh_toy(const Tensor& self, const Tensor& out) {
  if (!map(self, out, [](float x) { return std::tanh(x); })) out.copy_(tenon::tanh(self.cpu()));
}

void native::relu_toy(const Tensor& self, const Tensor& out) {
  if (!map(self, out, [](float x) { return x > 0 ? x : 0; })) out.copy_(tenon::relu(self.cpu()));
}

/// Shapes, dtypes and devices have been checked, and `out` has been made: only the sums are left.
void native::mm_toy(const Tensor& self, const Tensor& mat2, const Tensor& out) {
  if (self.dtype() != tenon::kFloat || !out.is_contiguous()) {
    out.copy_(tenon::mm(self.cpu(), mat2.cpu()));
    return;
  }
  ++count;
  const int64_t n = self.size(0), k = self.size(1), m = mat2.size(1);
  const float *x = data<float>(self), *y = data<float>(mat2);
  float* z = data<float>(out);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < m; ++j) {
      float sum = 0;
      for (int64_t l = 0; l < k; ++l) {
        sum +=
            x[i * self.stride(0) + l * self.stride(1)] * y[l * mat2.stride(0) + j * mat2.stride(1)];
      }
      z[i * m + j] = sum;
    }
  }
}

Tensor& native::fill__Scalar_toy(Tensor& self, const Scalar& value) {
  if (self.dtype() != tenon::kFloat || !self.is_contiguous()) {
    self.copy_(tenon::full(self.sizes(), value, tenon::dtype(self.dtype())));
    return self;
  }
  ++count;
  std::fill_n(data<float>(self), self.numel(), value.to<float>());
  return self;
}

Tensor& native::zero__toy(Tensor& self) { return fill__Scalar_toy(self, 0); }

// Everything else.
TENON_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.fallback(tenon::DispatchKey::PrivateUse1, tenon::cpu_fallback);
}

}  // namespace toy
