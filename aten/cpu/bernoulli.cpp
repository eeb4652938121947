#include "tenon/native/bernoulli.h"

#include <algorithm>

#include "aten/cpu/random_fill.h"
#include "aten/cpu/random_words.h"
#include "aten/iterator/plan.h"
#include "tenon/ops/expand.h"

namespace tenon {
namespace {

constexpr int64_t kChunk = 2048;

template <class T>
T from_bool(bool value) {
  if constexpr (std::is_class_v<T>) {
    return T(value ? 1.0f : 0.0f);
  } else {
    return static_cast<T>(value);
  }
}

/// out[i] = u < p(i) with u of P's uniform stream.
template <class T, class P, class Probability>
void fill_bernoulli(GeneratorImpl& generator, T* out, int64_t n, Probability p) {
  P u[kChunk];
  for (int64_t begin = 0; begin < n; begin += kChunk) {
    const int64_t count = std::min(kChunk, n - begin);
    native::draw_uniform(generator, u, count, P(0), P(1));
    for (int64_t i = 0; i < count; ++i) out[begin + i] = from_bool<T>(u[i] < p(begin + i));
  }
}

}  // namespace

/// 1 with probability p, else 0; one double of the uniform stream for each element.
Tensor& native::bernoulli_float_cpu_(Tensor& self, double p, std::optional<Generator> generator) {
  TENON_CHECK(p >= 0 && p <= 1, "[bernoulli_] bernoulli_ expects p to be in [0, 1], but got p=", p);
  const LockedGenerator source("bernoulli_", generator);
  TENON_DISPATCH_REAL(self.scalar_type(), "bernoulli_", {
    fill_in_order<scalar_t>(self, [&](scalar_t* out, int64_t n) {
      fill_bernoulli<scalar_t, double>(*source, out, n, [p](int64_t) { return p; });
    });
  });
  return self;
}

/// The same with a probability for each element; drawn in p's precision, float at least.
Tensor& native::bernoulli_tensor_cpu_(Tensor& self, const Tensor& p,
                                      std::optional<Generator> generator) {
  TENON_CHECK_NOT_IMPLEMENTED(p.is_floating_point(),
                              "[bernoulli_] expected floating-point probabilities, got ",
                              p.scalar_type());
  const ScalarType drawn = p.scalar_type() == kDouble ? kDouble : kFloat;
  // In the order in which the elements are drawn.
  const TensorBase probabilities =
      empty_strided(self.sizes(), output_strides(self.sizes(), {&self}), drawn, kCPU);
  copy(probabilities, p);
  const LockedGenerator source("bernoulli_", generator);
  const auto run = [&]<class P>(const P* values) {
    for (int64_t i = 0; i < self.numel(); ++i) {
      TENON_CHECK(values[i] >= 0 && values[i] <= 1,
                  "[bernoulli_] expected all probabilities to be in [0, 1], got ", values[i]);
    }
    TENON_DISPATCH_REAL(self.scalar_type(), "bernoulli_", {
      fill_in_order<scalar_t>(self, [&](scalar_t* out, int64_t n) {
        fill_bernoulli<scalar_t, P>(*source, out, n, [values](int64_t i) { return values[i]; });
      });
    });
  };
  if (drawn == kDouble) {
    run(static_cast<const double*>(probabilities.const_data_ptr()));
  } else {
    run(static_cast<const float*>(probabilities.const_data_ptr()));
  }
  return self;
}

}  // namespace tenon
