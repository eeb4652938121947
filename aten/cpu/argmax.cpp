#include "tenon/native/argmax.h"

#include "aten/cpu/arg_extreme.h"
#include "aten/iterator/copy.h"
#include "tenon/native/argmin.h"

namespace tenon {
namespace {

void arg(const Tensor& self, std::optional<int64_t> dim, bool max, const Tensor& out) {
  if (dim) {
    native::arg_extreme(self, wrap_dim(*dim, self.dim()), max, TensorBase(), out);
    return;
  }
  TensorBase flat = self;
  if (!self.is_contiguous()) {
    flat = tenon::empty(self.sizes(), self.scalar_type(), kCPU);
    native::copy(flat, self);
  }
  flat = make_detached(flat);
  flat.unsafe_impl()->set_sizes_contiguous(self.numel());
  TensorBase index = make_detached(out);
  index.unsafe_impl()->set_sizes_contiguous({});
  native::arg_extreme(flat, 0, max, TensorBase(), index);
}

}  // namespace

void native::argmax_cpu(const Tensor& self, std::optional<int64_t> dim, bool, const Tensor& out) {
  arg(self, dim, true, out);
}

void native::argmin_cpu(const Tensor& self, std::optional<int64_t> dim, bool, const Tensor& out) {
  arg(self, dim, false, out);
}

}  // namespace tenon
