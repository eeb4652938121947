#include "tenon/native/scatter.h"

#include "aten/common/contiguous.h"
#include "aten/cpu/dispatch_size.h"
#include "aten/cpu/index_walk.h"
#include "aten/cpu/sum_of.h"
#include "aten/iterator/element_copy.h"
#include "aten/iterator/number_fits.h"
#include "tenon/native/scatter_add.h"
#include "tenon/ops/full.h"

namespace tenon {
namespace {

/// out = self; f(out element, src element) wherever the index points.
template <class F>
void scatter_with(const char* op, const Tensor& self, int64_t dim, const Tensor& index,
                  const TensorBase* src, const Tensor& out, F&& apply) {
  const native::ContiguousOutput result(out);
  if (!result.tensor().is_same(self)) native::copy(result.tensor(), self);
  if (index.numel() > 0) {
    const int64_t d = wrap_dim(dim, self.dim());
    const TensorBase at = native::contiguous(index, kLong);
    const auto* indices = static_cast<const int64_t*>(at.const_data_ptr());
    native::check_indices(op, indices, at.numel(), self.dim() == 0 ? 1 : self.sizes()[d], d);
    const native::IndexWalk walk(at.sizes(), self.sizes(), d);
    const native::IndexWalk source(at.sizes(), src ? src->sizes() : at.sizes(), d);
    void* data = result.data();
    for (int64_t o = 0; o < walk.outer(); ++o) {
      const int64_t row = walk.offset(o);
      // Along dim the source is read in order, where self is read by index.
      int64_t along = 0;
      int64_t rest = o;
      for (int64_t i = at.dim() - 1; i-- > 0;) {
        if (i == d) along = rest % at.sizes()[i];
        rest /= at.sizes()[i];
      }
      const bool last = at.dim() == 0 || d + 1 == at.dim();
      const int64_t from = source.offset(o) + along * source.step();
      const int64_t* at_o = indices + o * walk.inner();
      const int64_t stride = walk.inner_stride(), step = walk.step();
      const int64_t source_stride = last ? source.step() : source.inner_stride();
      if (stride == 0 && step == 1 && source_stride == 1) {
        for (int64_t j = 0; j < walk.inner(); ++j) apply(data, row + at_o[j], from + j);
        continue;
      }
      for (int64_t j = 0; j < walk.inner(); ++j) {
        apply(data, row + j * stride + at_o[j] * step, from + j * source_stride);
      }
    }
  }
  result.copy_back();
}

/// Adds or multiplies what is in `self` by the elements of `src`.
void combine(const char* op, const Tensor& self, int64_t dim, const Tensor& index,
             const Tensor& src, bool multiply, const Tensor& out) {
  const TensorBase values = native::contiguous(src);
  TENON_DISPATCH_ALL(self.scalar_type(), op, {
    const auto* s = static_cast<const scalar_t*>(values.const_data_ptr());
    const auto with = [&](auto&& combined) {
      scatter_with(op, self, dim, index, &values, out,
                   [s, combined](void* o, int64_t to, int64_t from) {
                     scalar_t& target = static_cast<scalar_t*>(o)[to];
                     target = combined(target, s[from]);
                   });
    };
    if (multiply) {
      with(&native::product_of<scalar_t>);
    } else {
      with([](scalar_t a, scalar_t b) { return native::sum_of(a, b); });
    }
  });
}

}  // namespace

void native::scatter_src_cpu(const Tensor& self, int64_t dim, const Tensor& index,
                             const Tensor& src, const Tensor& out) {
  const TensorBase values = contiguous(src);
  dispatch_size(self.element_size(), [&]<class T>() {
    const auto* s = static_cast<const T*>(values.const_data_ptr());
    scatter_with("scatter", self, dim, index, &values, out,
                 [s](void* o, int64_t to, int64_t from) { static_cast<T*>(o)[to] = s[from]; });
  });
}

void native::scatter_value_cpu(const Tensor& self, int64_t dim, const Tensor& index,
                               const Scalar& value, const Tensor& out) {
  check_number_fits("scatter", value, self.scalar_type());
  TENON_DISPATCH_ALL(self.scalar_type(), "scatter", {
    const auto v = value.to<scalar_t>();
    scatter_with("scatter", self, dim, index, nullptr, out,
                 [v](void* o, int64_t to, int64_t) { static_cast<scalar_t*>(o)[to] = v; });
  });
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
  const Tensor src = ops::full::call(index.sizes(), value, self.scalar_type(), std::nullopt,
                                     std::nullopt, std::nullopt);
  combine("scatter", self, dim, index, src, reduce == "multiply", out);
}

}  // namespace tenon
