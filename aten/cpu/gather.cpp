#include "tenon/native/gather.h"

#include <algorithm>

#include "aten/common/contiguous.h"
#include "aten/core/parallel.h"
#include "aten/cpu/dispatch_size.h"
#include "aten/cpu/index_range.h"
#include "aten/cpu/sum_of.h"
#include "aten/iterator/element_copy.h"
#include "aten/iterator/number_fits.h"
#include "tenon/native/scatter.h"
#include "tenon/native/scatter_add.h"
#include "tenon/ops/full.h"

namespace tenon {
namespace {

/// Walks over all elements of `index`: f(place in index, start of the row in other, index value),
/// where a row is the elements of `other` along dim, `step` apart.
class IndexWalk {
 public:
  IndexWalk(IntArrayRef index_sizes, IntArrayRef other_sizes, int64_t dim)
      : sizes_(at_least_one_dim(index_sizes)),
        strides_(contiguous_strides(at_least_one_dim(other_sizes))), dim_(dim) {
    step_ = strides_[dim_];
    inner_ = sizes_.back();
    inner_stride_ = dim_ + 1 == static_cast<int64_t>(sizes_.size()) ? 0 : strides_.back();
  }
  int64_t step() const { return step_; }
  int64_t inner() const { return inner_; }
  int64_t inner_stride() const { return inner_stride_; }
  int64_t outer() const {
    int64_t n = 1;
    for (size_t i = 0; i + 1 < sizes_.size(); ++i) n *= sizes_[i];
    return n;
  }
  /// Offset in other, without the indexed dimension, of the o-th innermost run.
  int64_t offset(int64_t o) const {
    int64_t result = 0;
    for (auto i = static_cast<int64_t>(sizes_.size()) - 1; i-- > 0;) {
      if (i != dim_) result += o % sizes_[i] * strides_[i];
      o /= sizes_[i];
    }
    return result;
  }

 private:
  static IntArrayRef at_least_one_dim(IntArrayRef sizes) {
    static constexpr int64_t kOne[] = {1};
    return sizes.empty() ? IntArrayRef(kOne) : sizes;
  }

  DimVector sizes_;
  DimVector strides_;
  int64_t dim_;
  int64_t step_;
  int64_t inner_;
  int64_t inner_stride_;
};

void check_range(const char* op, const int64_t* index, int64_t n, int64_t length, int64_t dim) {
  if (TENON_LIKELY(native::all_in_range(index, n, length))) return;
  for (int64_t i = 0; i < n; ++i) {
    TENON_CHECK(index[i] >= 0 && index[i] < length, "[", op, "] index ", index[i],
                " is out of bounds for dimension ", dim, " with size ", length);
  }
}

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
    check_range(op, indices, at.numel(), self.dim() == 0 ? 1 : self.sizes()[d], d);
    const IndexWalk walk(at.sizes(), self.sizes(), d);
    const IndexWalk source(at.sizes(), src ? src->sizes() : at.sizes(), d);
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

/// out[i][j][k] = self[index[i][j][k]][j][k] for dim 0, and so on.
void native::gather_cpu(const Tensor& self, int64_t dim, const Tensor& index, bool,
                        const Tensor& out) {
  if (index.numel() == 0) return;
  const int64_t d = wrap_dim(dim, self.dim());
  const TensorBase in = contiguous(self);
  const TensorBase at = contiguous(index, kLong);
  const auto* indices = static_cast<const int64_t*>(at.const_data_ptr());
  check_range("gather", indices, at.numel(), self.dim() == 0 ? 1 : self.sizes()[d], d);
  const IndexWalk walk(at.sizes(), in.sizes(), d);
  const ContiguousOutput result(out);
  dispatch_size(in.element_size(), [&]<class T>() {
    const auto* from = static_cast<const T*>(in.const_data_ptr());
    auto* to = static_cast<T*>(result.data());
    const int64_t inner = walk.inner();
    const int64_t stride = walk.inner_stride();
    const int64_t step = walk.step();
    parallel_for(0, walk.outer() * inner, 16384, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end;) {
        const int64_t o = i / inner;
        const T* row = from + walk.offset(o);
        const int64_t stop = std::min(end, (o + 1) * inner);
        for (int64_t j = i - o * inner; i < stop; ++i, ++j)
          to[i] = row[j * stride + indices[i] * step];
      }
    });
  });
  result.copy_back();
}

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
