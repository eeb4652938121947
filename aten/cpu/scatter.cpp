#include "tenon/native/scatter.h"

#include "aten/cpu/combine.h"
#include "aten/cpu/dispatch_size.h"
#include "aten/cpu/scattering.h"
#include "aten/iterator/number_fits.h"
#include "tenon/native/scatter_add.h"

namespace tenon {
namespace {

using native::Scattering;

/// Adds or multiplies what is in `self` by the elements of `src`.
void combine(const char* op, const Tensor& self, int64_t dim, const Tensor& index,
             const TensorBase& src, bool multiply, const Tensor& out) {
  const Scattering scattering(op, self, dim, index, out);
  TENON_DISPATCH_ALL(self.scalar_type(), op, {
    if (multiply) {
      scattering.run<scalar_t>(src, native::Product());
    } else {
      scattering.run<scalar_t>(src, native::Sum());
    }
  });
  scattering.finish();
}

/// Writes a number wherever the index points.
void assign(const Scattering& scattering, const Scalar& value) {
  TENON_DISPATCH_ALL(scattering.result().scalar_type(), "scatter",
                     { scattering.run(value.to<scalar_t>(), native::Assign()); });
}

}  // namespace

void native::scatter_src_cpu(const Tensor& self, int64_t dim, const Tensor& index,
                             const Tensor& src, const Tensor& out) {
  const Scattering scattering("scatter", self, dim, index, out);
  dispatch_size(self.element_size(), [&]<class T>() { scattering.run<T>(src, Assign()); });
  scattering.finish();
}

void native::scatter_value_cpu(const Tensor& self, int64_t dim, const Tensor& index,
                               const Scalar& value, const Tensor& out) {
  check_number_fits("scatter", value, self.scalar_type());
  const Scattering scattering("scatter", self, dim, index, out);
  assign(scattering, value);
  scattering.finish();
}

void native::scatter_add_cpu(const Tensor& self, int64_t dim, const Tensor& index,
                             const Tensor& src, const Tensor& out) {
  combine("scatter_add", self, dim, index, src, false, out);
}

void native::scatter_reduce_cpu(const Tensor& self, int64_t dim, const Tensor& index,
                                const Tensor& src, std::string_view reduce, const Tensor& out) {
  combine("scatter", self, dim, index, src, reduce == "multiply", out);
}

void native::scatter_value_reduce_cpu(const Tensor& self, int64_t dim, const Tensor& index,
                                      const Scalar& value, std::string_view reduce,
                                      const Tensor& out) {
  const Scattering scattering("scatter", self, dim, index, out);
  TENON_DISPATCH_ALL(self.scalar_type(), "scatter", {
    if (reduce == "multiply") {
      scattering.run(value.to<scalar_t>(), Product());
    } else {
      scattering.run(value.to<scalar_t>(), Sum());
    }
  });
  scattering.finish();
}

}  // namespace tenon
