#include "tenon/native/scatter.h"

#include <limits>

#include "aten/common/contiguous.h"
#include "aten/cpu/combine.h"
#include "aten/cpu/dispatch_size.h"
#include "aten/cpu/scatter_columns.h"
#include "aten/iterator/element_copy.h"
#include "aten/iterator/number_fits.h"
#include "tenon/native/scatter_add.h"
#include "tenon/native/scatter_reduce.h"

namespace tenon {
namespace {

DimVector at_least_one(IntArrayRef list, int64_t value) {
  return list.empty() ? DimVector{value} : DimVector(list);
}

/// A call of an operator that writes to elements by an index: out = self, then what run() does.
class Scattering {
 public:
  Scattering(const char* op, const Tensor& self, int64_t dim, const Tensor& index,
             const Tensor& out)
      : result_(out), empty_(index.numel() == 0),
        dim_(wrap_dim(dim, self.dim())), bounds_{op, self.dim() == 0 ? 1 : self.sizes()[dim_],
                                                 dim_},
        sizes_(at_least_one(index.sizes(), 1)),
        out_strides_(contiguous_strides(at_least_one(self.sizes(), 1))) {
    if (!result_.tensor().is_same(self)) native::copy(result_.tensor(), self);
    if (empty_) return;
    // A dimension that an index was expanded by is stepped over, not copied.
    DimVector sizes(index.sizes()), strides(index.strides());
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (strides[i] == 0) sizes[i] = strides[i] = 1;
    }
    index_ = native::contiguous(
        make_view(make_detached(index), sizes, strides, index.storage_offset()), kLong);
    // An error leaves a tensor alone that is written in place.
    if (result_.tensor().is_same(self)) {
      std::for_each_n(indices(), index_.numel(), [&](int64_t i) { bounds_.checked(i); });
    }
    index_strides_ = at_least_one(contiguous_strides(sizes), 1);
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] != index.sizes()[i]) index_strides_[i] = 0;
    }
  }

  /// The result's elements become f(element, element of src).
  template <class T, class F>
  void run(const TensorBase& src, F f) const {
    if (empty_) return;
    native::scatter_columns(columns(at_least_one(src.strides(), 1)), bounds_, indices(),
                            result_.data<T>(), static_cast<const T*>(src.const_data_ptr()), f);
  }
  /// f(element, value) at every index.
  template <class T, class F>
  void run(const T& value, F f) const {
    run(value, f, result_.data<T>());
  }
  template <class T, class F>
  void run(const T& value, F f, T* out) const {
    if (empty_) return;
    native::scatter_columns(columns(DimVector(sizes_.size(), 0)), bounds_, indices(), out, &value,
                            f);
  }

  const TensorBase& result() const { return result_.tensor(); }
  void finish() const { result_.copy_back(); }

 private:
  const int64_t* indices() const { return static_cast<const int64_t*>(index_.const_data_ptr()); }
  native::ScatterColumns columns(IntArrayRef src_strides) const {
    return {sizes_, dim_, out_strides_, index_strides_, src_strides};
  }

  native::ContiguousOutput result_;
  bool empty_;
  int64_t dim_;
  native::IndexBounds bounds_;
  DimVector sizes_, out_strides_, index_strides_;
  TensorBase index_;
};

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

/// Without `include_self` the places that the index leads to begin with what changes nothing.
void native::scatter_reduce_two_cpu(const Tensor& self, int64_t dim, const Tensor& index,
                                    const Tensor& src, std::string_view reduce, bool include_self,
                                    const Tensor& out) {
  const Scattering scattering("scatter_reduce", self, dim, index, out);
  if (reduce == "amax" || reduce == "max" || reduce == "amin" || reduce == "min") {
    take_extremes(scattering, src, reduce == "amax" || reduce == "max", include_self);
  } else {
    if (!include_self) assign(scattering, reduce == "prod" ? 1 : 0);
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
