#pragma once

#include <algorithm>

#include "aten/common/contiguous.h"
#include "aten/cpu/scatter_columns.h"
#include "aten/iterator/element_copy.h"
#include "tenon/tensor.h"

namespace tenon::native {

inline DimVector at_least_one(IntArrayRef list, int64_t value) {
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
    if (!result_.tensor().is_same(self)) copy(result_.tensor(), self);
    if (empty_) return;
    // A dimension that an index was expanded by is stepped over, not copied.
    DimVector sizes(index.sizes()), strides(index.strides());
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (strides[i] == 0) sizes[i] = strides[i] = 1;
    }
    index_ =
        contiguous(make_view(make_detached(index), sizes, strides, index.storage_offset()), kLong);
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
    scatter_columns(columns(at_least_one(src.strides(), 1)), bounds_, indices(), result_.data<T>(),
                    static_cast<const T*>(src.const_data_ptr()), f);
  }
  /// f(element, value) at every index.
  template <class T, class F>
  void run(const T& value, F f) const {
    run(value, f, result_.data<T>());
  }
  template <class T, class F>
  void run(const T& value, F f, T* out) const {
    if (empty_) return;
    scatter_columns(columns(DimVector(sizes_.size(), 0)), bounds_, indices(), out, &value, f);
  }

  const TensorBase& result() const { return result_.tensor(); }
  void finish() const { result_.copy_back(); }

 private:
  const int64_t* indices() const { return static_cast<const int64_t*>(index_.const_data_ptr()); }
  ScatterColumns columns(IntArrayRef src_strides) const {
    return {sizes_, dim_, out_strides_, index_strides_, src_strides};
  }

  ContiguousOutput result_;
  bool empty_;
  int64_t dim_;
  IndexBounds bounds_;
  DimVector sizes_, out_strides_, index_strides_;
  TensorBase index_;
};

}  // namespace tenon::native
