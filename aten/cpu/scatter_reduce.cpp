#include "tenon/native/scatter_reduce.h"

#include <limits>

#include "aten/cpu/combine.h"
#include "aten/cpu/scattering.h"

namespace tenon {
namespace {

using native::Scattering;

/// Divides by how many elements each place was made of; integers are rounded down.
template <class T>
void divide(const TensorBase& sums, const TensorBase& counts) {
  const auto* n = static_cast<const int32_t*>(counts.const_data_ptr());
  auto* x = static_cast<T*>(sums.mutable_data_ptr());
  parallel_for(0, sums.numel(), 32768, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int32_t count = std::max(n[i], 1);
      if constexpr (is_integral(scalar_type_of<T>, true)) {
        const auto sum = static_cast<int64_t>(x[i]);
        x[i] = static_cast<T>(sum / count - (sum % count < 0 ? 1 : 0));
      } else if constexpr (is_complex(scalar_type_of<T>)) {
        x[i] = x[i] / static_cast<typename T::value_type>(count);
      } else {
        x[i] =
            static_cast<T>(static_cast<opmath_type<T>>(x[i]) / static_cast<opmath_type<T>>(count));
      }
    }
  });
}

void add_means(const Scattering& scattering, const Tensor& src, bool include_self) {
  const TensorBase counts = empty(scattering.result().sizes(), kInt, kCPU);
  auto* n = static_cast<int32_t*>(counts.mutable_data_ptr());
  std::fill_n(n, counts.numel(), include_self ? 1 : 0);
  scattering.run<int32_t>(1, native::Sum(), n);
  TENON_DISPATCH_ALL(src.scalar_type(), "scatter_reduce", {
    scattering.run<scalar_t>(src, native::Sum());
    divide<scalar_t>(scattering.result(), counts);
  });
}

/// The largest value of T, or the smallest.
template <class T>
T bound_of(bool largest) {
  if constexpr (is_floating_point(scalar_type_of<T>)) {
    const float infinity = std::numeric_limits<float>::infinity();
    return static_cast<T>(largest ? infinity : -infinity);
  } else {
    return largest ? std::numeric_limits<T>::max() : std::numeric_limits<T>::lowest();
  }
}

void take_extremes(const Scattering& scattering, const Tensor& src, bool largest,
                   bool include_self) {
  TENON_DISPATCH_REAL(src.scalar_type(), "scatter_reduce", {
    if (!include_self) scattering.run(bound_of<scalar_t>(!largest), native::Assign());
    if (largest) {
      scattering.run<scalar_t>(src, native::Largest());
    } else {
      scattering.run<scalar_t>(src, native::Smallest());
    }
  });
}

/// Writes a number wherever the index points.
void fill_places(const Scattering& scattering, const Scalar& value) {
  TENON_DISPATCH_ALL(scattering.result().scalar_type(), "scatter",
                     { scattering.run(value.to<scalar_t>(), native::Assign()); });
}

}  // namespace

/// Without `include_self` the places that the index leads to begin with what changes nothing.
void native::scatter_reduce_two_cpu(const Tensor& self, int64_t dim, const Tensor& index,
                                    const Tensor& src, std::string_view reduce, bool include_self,
                                    const Tensor& out) {
  const Scattering scattering("scatter_reduce", self, dim, index, out);
  if (reduce == "amax" || reduce == "max" || reduce == "amin" || reduce == "min") {
    take_extremes(scattering, src, reduce == "amax" || reduce == "max", include_self);
  } else {
    if (!include_self) fill_places(scattering, reduce == "prod" ? 1 : 0);
    if (reduce == "mean") {
      TENON_CHECK(index.numel() <= std::numeric_limits<int32_t>::max(),
                  "[scatter_reduce] mean takes fewer than 2^31 indices, got ", index.numel());
      add_means(scattering, src, include_self);
    } else {
      TENON_DISPATCH_ALL(self.scalar_type(), "scatter_reduce", {
        if (reduce == "prod") {
          scattering.run<scalar_t>(src, Product());
        } else {
          scattering.run<scalar_t>(src, Sum());
        }
      });
    }
  }
  scattering.finish();
}

}  // namespace tenon
