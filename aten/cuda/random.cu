// uniform_, normal_, random_ and bernoulli_, from the Philox generator.
#include "aten/cuda/copy.h"
#include "aten/cuda/random.cuh"

#include "aten/iterator/number_fits.h"
#include "aten/iterator/plan.h"
#include "tenon/native/bernoulli.h"
#include "tenon/native/normal.h"
#include "tenon/native/random.h"
#include "tenon/native/uniform.h"

namespace tenon {
namespace {

template <class T, class V>
struct UniformDraw {
  T* out;
  V from, to, range;

  __device__ auto values(const cuda::Words& w) const { return cuda::uniform_values<V>(w); }
  __device__ void store(int64_t i, V u) const {
    // The generator's interval is open below; the result's is open above, and rounding to T must
    // not close it.
    const T value = cuda::convert<T>(u * range + from);
    out[i] = cuda::convert<V>(value) < to ? value : cuda::convert<T>(from);
  }
};

template <class T, class V>
struct NormalDraw {
  T* out;
  V mean, deviation;

  __device__ auto values(const cuda::Words& w) const { return cuda::normal_values<V>(w); }
  __device__ void store(int64_t i, V z) const { out[i] = cuda::convert<T>(z * deviation + mean); }
};

/// base + r mod range; range 0 stands for 2^64.
template <class T>
struct IntegerDraw32 {
  T* out;
  uint64_t range;
  int64_t base;

  __device__ cuda::Values<uint32_t, 4> values(const cuda::Words& w) const {
    return {{w.x[0], w.x[1], w.x[2], w.x[3]}};
  }
  __device__ void store(int64_t i, uint32_t r) const {
    out[i] = cuda::convert<T>(static_cast<int64_t>(r % static_cast<uint32_t>(range)) + base);
  }
};
template <class T>
struct IntegerDraw64 {
  T* out;
  uint64_t range;
  int64_t base;

  __device__ cuda::Values<uint64_t, 2> values(const cuda::Words& w) const {
    return {{(uint64_t{w.x[0]} << 32) | w.x[1], (uint64_t{w.x[2]} << 32) | w.x[3]}};
  }
  __device__ void store(int64_t i, uint64_t r) const {
    if (range != 0) r %= range;
    out[i] = cuda::convert<T>(static_cast<int64_t>(r + static_cast<uint64_t>(base)));
  }
};

/// 1 with probability p, or p[i] where there are several.
template <class T, class V>
struct BernoulliDraw {
  T* out;
  V p;
  const V* each;

  __device__ auto values(const cuda::Words& w) const { return cuda::uniform_values<V>(w); }
  __device__ void store(int64_t i, V u) const {
    out[i] = cuda::convert<T>(u <= (each ? each[i] : p) ? V(1) : V(0));
  }
};

/// A tensor's elements in the order in which it has them in memory, which is that of drawing.
/// copy_back() copies where there is something between them.
class DrawnOutput {
 public:
  explicit DrawnOutput(const TensorBase& out)
      : out_(out),
        dense_(out.is_non_overlapping_and_dense() ? out : in_order_of(out, out.scalar_type())) {}
  /// A dense tensor that lies as `t` does.
  static TensorBase in_order_of(const TensorBase& t, ScalarType dtype) {
    return empty_strided(t.sizes(), native::output_strides(t.sizes(), {&t}), dtype, t.device());
  }
  template <class T>
  T* data() const {
    return static_cast<T*>(dense_.mutable_data_ptr());
  }
  void copy_back() const {
    if (!dense_.is_same(out_)) cuda::copy(out_, dense_);
  }

 private:
  TensorBase out_, dense_;
};

/// Integers base ... base + range - 1.
void fill_integers(Tensor& self, uint64_t range, int64_t base,
                   const std::optional<Generator>& generator) {
  const DrawnOutput out(self);
  TENON_DISPATCH_REAL(self.scalar_type(), "random_", {
    if (range != 0 && range < (uint64_t{1} << 32)) {
      cuda::fill_random<4>("random_", self.numel(), self.device(), generator,
                           IntegerDraw32<scalar_t>{out.data<scalar_t>(), range, base});
    } else {
      cuda::fill_random<2>("random_", self.numel(), self.device(), generator,
                           IntegerDraw64<scalar_t>{out.data<scalar_t>(), range, base});
    }
  });
  out.copy_back();
}

/// The elements of a complex tensor as twice as many real ones.
template <class F>
void fill_real_parts(const char* op, Tensor& self, F&& fill) {
  const ScalarType real = to_real(self.scalar_type());
  const DrawnOutput out(self);
  const int64_t n = self.numel() * (self.is_complex() ? 2 : 1);
  TENON_DISPATCH_FLOATING_AND_REDUCED(real, op, { fill(out.data<scalar_t>(), n); });
  out.copy_back();
}

}  // namespace

Tensor& native::uniform_cuda_(Tensor& self, double from, double to,
                              std::optional<Generator> generator) {
  TENON_CHECK(from <= to,
              "[uniform_] uniform_ expects to return a [from, to) range, but found from=", from,
              " > to=", to);
  fill_real_parts("uniform_", self, [&]<class T>(T* out, int64_t n) {
    using V = opmath_type<T>;
    cuda::fill_random<cuda::kDrawn<V>>("uniform_", n, self.device(), generator,
                                       UniformDraw<T, V>{out, static_cast<V>(from),
                                                         static_cast<V>(to),
                                                         static_cast<V>(to - from)});
  });
  return self;
}

/// Real and imaginary parts of complex numbers have half the variance each, and the mean each.
Tensor& native::normal_cuda_(Tensor& self, double mean, double std,
                             std::optional<Generator> generator) {
  TENON_CHECK(std >= 0, "[normal_] normal expects std >= 0.0, but found std ", std);
  const double deviation = self.is_complex() ? std * 0.70710678118654752440 : std;
  fill_real_parts("normal_", self, [&]<class T>(T* out, int64_t n) {
    using V = opmath_type<T>;
    cuda::fill_random<cuda::kDrawn<V>>(
        "normal_", n, self.device(), generator,
        NormalDraw<T, V>{out, static_cast<V>(mean), static_cast<V>(deviation)});
  });
  return self;
}

/// All integers from 0 on that the dtype holds exactly.
Tensor& native::random_cuda_(Tensor& self, std::optional<Generator> generator) {
  fill_integers(self, static_cast<uint64_t>(native::largest_exact(self.scalar_type())) + 1, 0,
                generator);
  return self;
}

Tensor& native::random_from_cuda_(Tensor& self, int64_t from, std::optional<int64_t> to,
                                  std::optional<Generator> generator) {
  TENON_CHECK(!to || from < *to,
              "[random_] random_ expects 'from' to be less than 'to', but got from=", from,
              " >= to=", to.value_or(0));
  const int64_t last = to ? *to - 1 : native::largest_exact(self.scalar_type());
  fill_integers(self, static_cast<uint64_t>(last) - static_cast<uint64_t>(from) + 1, from,
                generator);
  return self;
}

Tensor& native::random_to_cuda_(Tensor& self, int64_t to, std::optional<Generator> generator) {
  return native::random_from_cuda_(self, 0, to, generator);
}

Tensor& native::bernoulli_float_cuda_(Tensor& self, double p, std::optional<Generator> generator) {
  TENON_CHECK(p >= 0 && p <= 1, "[bernoulli_] bernoulli_ expects p to be in [0, 1], but got p=", p);
  const DrawnOutput out(self);
  TENON_DISPATCH_REAL(self.scalar_type(), "bernoulli_", {
    cuda::fill_random<4>(
        "bernoulli_", self.numel(), self.device(), generator,
        BernoulliDraw<scalar_t, float>{out.data<scalar_t>(), static_cast<float>(p), nullptr});
  });
  out.copy_back();
  return self;
}

/// The probabilities are not checked to be in [0, 1], which would make the host wait: those below
/// count as 0, those above as 1.
Tensor& native::bernoulli_tensor_cuda_(Tensor& self, const Tensor& p,
                                       std::optional<Generator> generator) {
  TENON_CHECK_TYPE(p.is_floating_point(),
                   "[bernoulli_] expected floating-point probabilities, got ", p.scalar_type());
  const TensorBase each = DrawnOutput::in_order_of(self, kFloat);
  cuda::copy(each, p);
  const DrawnOutput out(self);
  TENON_DISPATCH_REAL(self.scalar_type(), "bernoulli_", {
    cuda::fill_random<4>(
        "bernoulli_", self.numel(), self.device(), generator,
        BernoulliDraw<scalar_t, float>{out.data<scalar_t>(), 0.0f, each.data_ptr<float>()});
  });
  out.copy_back();
  return self;
}

}  // namespace tenon
