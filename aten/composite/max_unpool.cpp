#include "aten/batching/examples.h"
#include "aten/composite/in_format.h"
#include "tenon/native/max_unpool2d.h"
#include "tenon/native/max_unpool3d.h"
#include "tenon/ops/aminmax.h"
#include "tenon/ops/scatter.h"

/// The way back from max pooling: [..., D, H, W] with each element at the place of output_size that
/// its index names, as one number, and 0 elsewhere. Of elements with one place the last one counts.
namespace tenon {
namespace {

Tensor max_unpool(const char* op, const Tensor& self, const Tensor& indices,
                  IntArrayRef output_size, int64_t dims) {
  TENON_CHECK(indices.scalar_type() == kLong, "[", op,
              "] elements in indices should be type int64 but got: ", indices.scalar_type());
  TENON_CHECK(static_cast<int64_t>(output_size.size()) == dims, "[", op,
              "] There should be exactly ",
              dims == 2 ? "two elements (height, width)" : "three elements (depth, height, width)",
              " in output_size, but got ", output_size.size(), " elements.");
  TENON_CHECK(self.dim() == dims + 1 || self.dim() == dims + 2, "[", op, "] Input to max_unpooling",
              dims, "d should be a ", dims + 1, "d or ", dims + 2,
              "d Tensor, but got a tensor with ", self.dim(), " dimensions.");
  TENON_CHECK(self.sizes() == indices.sizes(), "[", op,
              "] Expected shape of indices to be same as that of the input tensor (", self.sizes(),
              ") but got indices tensor with shape: ", indices.sizes());
  for (int64_t d = self.dim() - dims - 1; d < self.dim(); ++d) {
    TENON_CHECK(self.size(d) > 0, "[", op,
                "] Expected input to have non-zero size for non-batch dimensions, but input has "
                "sizes ",
                self.sizes(), " with dimension ", d, " being empty");
  }
  TENON_CHECK_NOT_IMPLEMENTED(is_floating_point(self.scalar_type()), "[", op,
                              "] is not implemented for '", self.scalar_type(), "'");
  DimVector sizes(self.sizes());
  int64_t plane = 1;
  for (int64_t i = 0; i < dims; ++i) {
    const int64_t n = output_size[i];
    TENON_CHECK(n >= 0, "[", op,
                "] output_size must contain non-negative spatial dimensions, but got output_size=",
                output_size);
    TENON_CHECK(!__builtin_mul_overflow(plane, n, &plane), "[", op, "] output_size ", output_size,
                " exceeds the address range");
    sizes[sizes.size() - dims + i] = n;
  }
  // Elsewhere the kernel of scatter looks at them.
  if (indices.numel() > 0 && indices.device().is_cpu()) {
    const int64_t least = batching::least_of_examples(indices).toLong(),
                  most = batching::most_of_examples(indices).toLong();
    TENON_CHECK(least >= 0 && most < plane, "[", op,
                "] Found an invalid max index: ", least < 0 ? least : most,
                " (output volumes are of size ", output_size, ")");
  }
  DimVector flat(self.sizes().slice(0, static_cast<size_t>(self.dim() - dims)));
  flat.push_back(plane);
  const Tensor places = indices.flatten(-dims), values = self.flatten(-dims);
  const Tensor out =
      plane == 0 ? self.new_zeros(flat) : self.new_zeros(flat).scatter_(-1, places, values);
  return in_format(out.view(sizes),
                   dims == 2 ? self.suggest_memory_format() : MemoryFormat::Contiguous);
}

}  // namespace

Tensor native::max_unpool2d(const Tensor& self, const Tensor& indices, IntArrayRef output_size) {
  return max_unpool("max_unpool2d", self, indices, output_size, 2);
}

Tensor native::max_unpool3d(const Tensor& self, const Tensor& indices, IntArrayRef output_size,
                            IntArrayRef stride, IntArrayRef padding) {
  constexpr const char* kOp = "max_unpool3d";
  for (const auto& [name, list] : {std::pair("stride", stride), std::pair("padding", padding)}) {
    TENON_CHECK(list.size() == 3, "[", kOp,
                "] There should be exactly three elements (depth, height, width) in ", name,
                ", but got: ", list.size(), " elements.");
  }
  for (const int64_t s : stride) {
    TENON_CHECK(s > 0, "[", kOp, "] strides should be greater than zero, but got stride: ", stride);
  }
  return max_unpool(kOp, self, indices, output_size, 3);
}

}  // namespace tenon
