// The optimizers' loops. The file is compiled once per instruction set (Highway's foreach_target);
// within one, the compiler vectorises the loops by itself, since they are straight arithmetic over
// equal arrays.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/optim/loops.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>

#include "runtime/optim/steps.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::optim::HWY_NAMESPACE {

template <class T, bool kMomentum, bool kNesterov>
void sgd(T* __restrict p, const T* __restrict grad, T* __restrict buffer, int64_t n,
         const SgdStep& s) {
  using V = opmath_t<T>;
  const V lr = static_cast<V>(s.lr), decay = static_cast<V>(s.weight_decay);
  const V momentum = s.first ? V(0) : static_cast<V>(s.momentum);
  const V keep = s.first ? V(1) : static_cast<V>(1 - s.dampening);
  const V look_ahead = static_cast<V>(s.momentum);
  for (int64_t i = 0; i < n; ++i) {
    const V x = static_cast<V>(p[i]);
    V d = static_cast<V>(grad[i]) + decay * x;
    if constexpr (kMomentum) {
      const V b = momentum * static_cast<V>(buffer[i]) + keep * d;
      buffer[i] = static_cast<T>(b);
      d = kNesterov ? d + look_ahead * b : b;
    }
    p[i] = static_cast<T>(x - lr * d);
  }
}

template <class T, bool kMax>
void adam(T* __restrict p, const T* __restrict grad, T* __restrict m, T* __restrict v,
          T* __restrict max, int64_t n, const AdamStep& s) {
  using V = opmath_t<T>;
  const V beta1 = static_cast<V>(s.beta1), rest1 = static_cast<V>(1 - s.beta1);
  const V beta2 = static_cast<V>(s.beta2), rest2 = static_cast<V>(1 - s.beta2);
  const V decay = static_cast<V>(s.decoupled ? 0 : s.weight_decay);
  const V shrink = static_cast<V>(s.decoupled ? 1 - s.lr * s.weight_decay : 1);
  const auto step = static_cast<double>(s.step);
  const V rate = static_cast<V>(s.lr / (1 - std::pow(s.beta1, step)));
  const V scale = static_cast<V>(1 / std::sqrt(1 - std::pow(s.beta2, step)));
  const V eps = static_cast<V>(s.eps);
  for (int64_t i = 0; i < n; ++i) {
    const V x = static_cast<V>(p[i]) * shrink;
    const V g = static_cast<V>(grad[i]) + decay * x;
    const V first = beta1 * static_cast<V>(m[i]) + rest1 * g;
    V second = beta2 * static_cast<V>(v[i]) + rest2 * g * g;
    m[i] = static_cast<T>(first);
    v[i] = static_cast<T>(second);
    if constexpr (kMax) {
      const V largest = static_cast<V>(max[i]);
      second = largest > second ? largest : second;
      max[i] = static_cast<T>(second);
    }
    p[i] = static_cast<T>(x - rate * first / (std::sqrt(second) * scale + eps));
  }
}

template <class T>
void sgd_of(const detail::SgdArrays& a, int64_t begin, int64_t end, const SgdStep& s) {
  T* p = static_cast<T*>(a.p) + begin;
  const T* grad = static_cast<const T*>(a.grad) + begin;
  if (!a.buffer) return sgd<T, false, false>(p, grad, nullptr, end - begin, s);
  T* buffer = static_cast<T*>(a.buffer) + begin;
  // What a first step finds in the buffer is multiplied by zero: its memory is zeros.
  return s.nesterov ? sgd<T, true, true>(p, grad, buffer, end - begin, s)
                    : sgd<T, true, false>(p, grad, buffer, end - begin, s);
}

template <class T>
void adam_of(const detail::AdamArrays& a, int64_t begin, int64_t end, const AdamStep& s) {
  T* p = static_cast<T*>(a.p) + begin;
  const T* grad = static_cast<const T*>(a.grad) + begin;
  T* m = static_cast<T*>(a.m) + begin;
  T* v = static_cast<T*>(a.v) + begin;
  if (!a.max) return adam<T, false>(p, grad, m, v, nullptr, end - begin, s);
  return adam<T, true>(p, grad, m, v, static_cast<T*>(a.max) + begin, end - begin, s);
}

void sgd_all(ScalarType dtype, const detail::SgdArrays& a, int64_t begin, int64_t end,
             const SgdStep& s) {
  TENON_DISPATCH_FLOATING_AND_REDUCED(dtype, "SGD", { return sgd_of<scalar_t>(a, begin, end, s); });
}

void adam_all(ScalarType dtype, const detail::AdamArrays& a, int64_t begin, int64_t end,
              const AdamStep& s) {
  TENON_DISPATCH_FLOATING_AND_REDUCED(dtype, "Adam",
                                      { return adam_of<scalar_t>(a, begin, end, s); });
}

}  // namespace tenon::optim::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::optim {

HWY_EXPORT(sgd_all);
HWY_EXPORT(adam_all);

void detail::sgd_loop(ScalarType dtype, const SgdArrays& arrays, int64_t begin, int64_t end,
                      const SgdStep& step) {
  HWY_DYNAMIC_DISPATCH(sgd_all)(dtype, arrays, begin, end, step);
}

void detail::adam_loop(ScalarType dtype, const AdamArrays& arrays, int64_t begin, int64_t end,
                       const AdamStep& step) {
  HWY_DYNAMIC_DISPATCH(adam_all)(dtype, arrays, begin, end, step);
}

}  // namespace tenon::optim
#endif
