// Variance and standard deviation; of complex elements that of their distance from the mean.
#include "tenon/native/var.h"

#include "aten/common/dims.h"
#include "aten/cuda/moments.cuh"
#include "aten/cuda/reduce.cuh"
#include "tenon/native/std.h"

namespace tenon {
namespace {

/// Of complex elements the moments of both parts: the mean squared distance is the sum of theirs.
template <class R>
struct ComplexMoments {
  cuda::Moments<R> real, imag;

  __device__ double count() const { return real.count.value(); }
  __device__ double m2() const { return real.m2.value() + imag.m2.value(); }
  __device__ __forceinline__ void join(thrust::complex<R> value) {
    real.join(value.real());
    imag.join(value.imag());
  }
  static __device__ ComplexMoments combine(const ComplexMoments& a, const ComplexMoments& b) {
    return {cuda::Moments<R>::combine(a.real, b.real), cuda::Moments<R>::combine(a.imag, b.imag)};
  }
};

template <class R>
struct RealMoments {
  cuda::Moments<R> of;

  __device__ double count() const { return of.count.value(); }
  __device__ double m2() const { return of.m2.value(); }
  __device__ __forceinline__ void join(R value) { of.join(value); }
  static __device__ RealMoments combine(const RealMoments& a, const RealMoments& b) {
    return {cuda::Moments<R>::combine(a.of, b.of)};
  }
};

template <class V>
struct MomentsOf {
  using type = RealMoments<V>;
};
template <class R>
struct MomentsOf<thrust::complex<R>> {
  using type = ComplexMoments<R>;
};

template <class T, class Out>
struct VarOp {
  using V = cuda::accumulate_t<T>;
  using Acc = typename MomentsOf<V>::type;
  Out* out;
  double correction;
  bool root;

  __device__ Acc identity() const { return {}; }
  __device__ Acc step(Acc acc, T value, int64_t) const {
    acc.join(cuda::convert<V>(value));
    return acc;
  }
  __device__ Acc combine(const Acc& a, const Acc& b) const { return Acc::combine(a, b); }
  __device__ void store(int64_t output, const Acc& acc) const {
    // No elements, or as many as the correction takes away: 0 / 0.
    const double var = acc.m2() / fmax(0.0, acc.count() - correction);
    out[output] = cuda::convert<Out>(root ? sqrt(var) : var);
  }
};

void run(const Tensor& self, OptionalIntArrayRef dim, const std::optional<Scalar>& correction,
         bool root, const Tensor& out) {
  const uint64_t mask = native::dim_mask("var", dim, self.dim());
  const double taken = correction ? correction->toDouble() : 1.0;
  const auto reduce = [&]<class T, class Out>() {
    cuda::reduce<T>(self, mask,
                    VarOp<T, Out>{static_cast<Out*>(out.mutable_data_ptr()), taken, root});
  };
  if (self.scalar_type() == kComplexFloat) {
    reduce.template operator()<thrust::complex<float>, float>();
  } else if (self.scalar_type() == kComplexDouble) {
    reduce.template operator()<thrust::complex<double>, double>();
  } else {
    TENON_DISPATCH_FLOATING_AND_REDUCED(self.scalar_type(), "var",
                                        { reduce.template operator()<scalar_t, scalar_t>(); });
  }
}

}  // namespace

void native::var_correction_cuda(const Tensor& self, OptionalIntArrayRef dim,
                                 const std::optional<Scalar>& correction, bool, const Tensor& out) {
  run(self, dim, correction, false, out);
}

void native::std_correction_cuda(const Tensor& self, OptionalIntArrayRef dim,
                                 const std::optional<Scalar>& correction, bool, const Tensor& out) {
  run(self, dim, correction, true, out);
}

}  // namespace tenon
