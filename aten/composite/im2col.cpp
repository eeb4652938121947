#include "tenon/native/im2col.h"

#include "tenon/native/col2im.h"
#include "tenon/ops/arange.h"
#include "tenon/ops/constant_pad_nd.h"
#include "tenon/ops/index_add.h"

namespace tenon {
namespace {

/// The windows along one dimension: how many there are, and what they see.
struct Windows {
  int64_t size, kernel, dilation, padding, stride, count;

  Windows(const char* op, size_t d, int64_t size, IntArrayRef kernel, IntArrayRef dilation,
          IntArrayRef padding, IntArrayRef stride)
      : size(size), kernel(kernel[d]), dilation(dilation[d]), padding(padding[d]),
        stride(stride[d]) {
    TENON_CHECK(this->kernel > 0, "[", op, "] kernel size should be greater than zero, but got ",
                kernel);
    TENON_CHECK(this->dilation > 0, "[", op, "] dilation should be greater than zero, but got ",
                dilation);
    TENON_CHECK(this->padding >= 0, "[", op, "] padding should be non-negative, but got ", padding);
    TENON_CHECK(this->stride > 0, "[", op, "] stride should be greater than zero, but got ",
                stride);
    const int64_t room = size + 2 * this->padding - this->dilation * (this->kernel - 1) - 1;
    count = room < 0 ? 0 : room / this->stride + 1;
  }

  int64_t padded() const { return size + 2 * padding; }

  /// [kernel * count]: the padded place of each element of each window, windows fastest.
  Tensor places(const Tensor& like) const {
    const TensorOptions options = like.options().dtype(kLong);
    const Tensor offsets = arange(kernel, options) * dilation,
                 starts = arange(count, options) * stride;
    return (offsets.unsqueeze(1) + starts).reshape({kernel * count});
  }
};

/// Each list has two numbers.
void check_pairs(const char* op, IntArrayRef kernel, IntArrayRef dilation, IntArrayRef padding,
                 IntArrayRef stride) {
  const auto check = [op](const char* name, IntArrayRef list) {
    TENON_CHECK(list.size() == 2, "[", op, "] It is expected ", name, " equals to 2, but got size ",
                list.size());
  };
  check("kernel_size", kernel);
  check("dilation", dilation);
  check("padding", padding);
  check("stride", stride);
}

void check_blocks(const char* op, const Windows& h, const Windows& w) {
  TENON_CHECK(h.count >= 1 && w.count >= 1, "[", op, "] Given ", h.size, " x ", w.size,
              " pixels and windows of ", h.kernel, " x ", h.kernel > 0 ? w.kernel : 0,
              ", the array of sliding blocks has shape (", h.count, ", ", w.count,
              "), but its components must be at least one");
}

}  // namespace

/// [N, C, H, W] or [C, H, W] -> [N, C kernel, windows]: each window as a column.
Tensor native::im2col(const Tensor& self, IntArrayRef kernel_size, IntArrayRef dilation,
                      IntArrayRef padding, IntArrayRef stride) {
  check_pairs("im2col", kernel_size, dilation, padding, stride);
  const bool batched = self.dim() == 4;
  if (self.dim() < 3) self.size(self.dim() == 0 ? 1 : self.dim());  // IndexError, as PyTorch's
  TENON_CHECK((batched || self.dim() == 3) && self.size(-3) != 0 && self.size(-2) != 0 &&
                  self.size(-1) != 0,
              "[im2col] Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other "
              "non-zero dimensions for input, but got: ",
              self.sizes());
  const Windows h("im2col", 0, self.size(-2), kernel_size, dilation, padding, stride);
  const Windows w("im2col", 1, self.size(-1), kernel_size, dilation, padding, stride);
  check_blocks("im2col", h, w);
  const Tensor x = batched ? self : self.unsqueeze(0);
  const int64_t n = x.size(0), c = x.size(1);
  const Tensor padded = constant_pad_nd(x, {w.padding, w.padding, h.padding, h.padding}, 0);
  const Tensor seen = padded.index_select(2, h.places(x)).index_select(3, w.places(x));
  const Tensor columns = seen.view({n, c, h.kernel, h.count, w.kernel, w.count})
                             .permute({0, 1, 2, 4, 3, 5})
                             .reshape({n, c * h.kernel * w.kernel, h.count * w.count});
  return batched ? columns : columns.squeeze(0);
}

/// The way back, where windows overlap their sum: [N, C kernel, windows] -> [N, C, output_size].
Tensor native::col2im(const Tensor& self, IntArrayRef output_size, IntArrayRef kernel_size,
                      IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride) {
  TENON_CHECK(output_size.size() == 2,
              "[col2im] It is expected output_size equals to 2, but got size ", output_size.size());
  check_pairs("col2im", kernel_size, dilation, padding, stride);
  const Windows h("col2im", 0, output_size[0], kernel_size, dilation, padding, stride);
  const Windows w("col2im", 1, output_size[1], kernel_size, dilation, padding, stride);
  const bool batched = self.dim() == 3;
  TENON_CHECK((batched || self.dim() == 2) && self.size(-2) != 0 && self.size(-1) != 0,
              "[col2im] Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size "
              "and non-zero dimensions for input, but got: ",
              self.sizes());
  const int64_t window = h.kernel * w.kernel;
  TENON_CHECK(self.size(-2) % window == 0,
              "[col2im] Expected size of input's dimension 1 to be divisible by the product of "
              "kernel_size, but got input.size(1)=",
              self.size(-2), " and kernel_size=", kernel_size);
  check_blocks("col2im", h, w);
  TENON_CHECK(self.size(-1) == h.count * w.count, "[col2im] Given output_size=", output_size,
              ", kernel_size=", kernel_size, ", dilation=", dilation, ", padding=", padding,
              ", stride=", stride,
              ", expected size of input's dimension 2 to match the calculated "
              "number of sliding blocks ",
              h.count, " * ", w.count, " = ", h.count * w.count,
              ", but got input.size(2)=", self.size(-1));
  const Tensor columns = batched ? self : self.unsqueeze(0);
  const int64_t n = columns.size(0), c = columns.size(1) / window;
  const Tensor seen = columns.reshape({n, c, h.kernel, w.kernel, h.count, w.count})
                          .permute({0, 1, 2, 4, 3, 5})
                          .reshape({n, c, h.kernel * h.count, w.kernel * w.count});
  const Tensor rows =
      index_add(seen.new_zeros({n, c, h.padded(), seen.size(3)}), 2, h.places(self), seen);
  const Tensor all =
      index_add(rows.new_zeros({n, c, h.padded(), w.padded()}), 3, w.places(self), rows);
  const Tensor image = all.narrow(2, h.padding, h.size).narrow(3, w.padding, w.size).contiguous();
  return batched ? image : image.squeeze(0);
}

}  // namespace tenon
