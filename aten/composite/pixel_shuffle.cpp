#include "tenon/native/pixel_shuffle.h"

#include "aten/meta/pixel_shuffle.h"
#include "tenon/native/_pixel_shuffle_channels_last.h"
#include "tenon/native/pixel_unshuffle.h"
#include "tenon/ops/_pixel_shuffle_channels_last.h"

namespace tenon {
namespace {

/// Those before the last three dimensions, then `last`.
DimVector sizes_with(const Tensor& self, IntArrayRef last) {
  DimVector sizes(self.sizes().slice(0, static_cast<size_t>(self.dim() - 3)));
  sizes.append(last.begin(), last.end());
  return sizes;
}

bool is_channels_last(const Tensor& self) {
  return self.dim() == 4 && self.numel() > 0 &&
         self.suggest_memory_format() == MemoryFormat::ChannelsLast;
}

/// The last five dimensions in another order.
Tensor reordered(const Tensor& self, IntArrayRef last) {
  DimVector order;
  const int64_t first = self.dim() - 5;
  for (int64_t d = 0; d < first; ++d) order.push_back(d);
  for (const int64_t d : last) order.push_back(first + d);
  return self.permute(order);
}

}  // namespace

/// [..., C r r, H, W] to [..., C, H r, W r]: r r channels are a square of pixels (Shi et al. 2016).
Tensor native::pixel_shuffle(const Tensor& self, int64_t upscale_factor) {
  TENON_CHECK(self.dim() >= 3,
              "[pixel_shuffle] expects input to have at least 3 dimensions, but got input with ",
              self.dim(), " dimension(s)");
  TENON_CHECK(upscale_factor > 0, "[pixel_shuffle] expects a positive upscale_factor, but got ",
              upscale_factor);
  int64_t pixels = 0;
  TENON_CHECK_VALUE(!__builtin_mul_overflow(upscale_factor, upscale_factor, &pixels),
                    "[pixel_shuffle] upscale factor is too large, (upscale_factor)^2 overflowed: "
                    "upscale_factor=",
                    upscale_factor);
  const int64_t r = upscale_factor, c = self.size(-3), h = self.size(-2), w = self.size(-1);
  TENON_CHECK(c % pixels == 0,
              "[pixel_shuffle] expects its input's 'channel' dimension to be divisible by the "
              "square of upscale_factor, but input.size(-3)=",
              c, " is not divisible by ", pixels);
  if (is_channels_last(self)) return tenon::_pixel_shuffle_channels_last(self, r, false);
  const Tensor split = self.reshape(sizes_with(self, {c / (r * r), r, r, h, w}));
  return reordered(split, {0, 3, 1, 4, 2})
      .clone(MemoryFormat::Contiguous)
      .view(sizes_with(self, {c / (r * r), h * r, w * r}));
}

/// The way back: [..., C, H r, W r] to [..., C r r, H, W].
Tensor native::pixel_unshuffle(const Tensor& self, int64_t downscale_factor) {
  TENON_CHECK(self.dim() >= 3,
              "[pixel_unshuffle] expects input to have at least 3 dimensions, but got input with ",
              self.dim(), " dimension(s)");
  TENON_CHECK(downscale_factor > 0,
              "[pixel_unshuffle] expects a positive downscale_factor, but got ", downscale_factor);
  const int64_t r = downscale_factor, c = self.size(-3), h = self.size(-2), w = self.size(-1);
  TENON_CHECK(h % r == 0 && w % r == 0,
              "[pixel_unshuffle] expects height and width to be divisible by downscale_factor, but "
              "input.size(-2)=",
              h, " and input.size(-1)=", w, " are not both divisible by ", r);
  if (self.numel() == 0) return self.clone();  // of these sizes, as PyTorch's
  if (is_channels_last(self)) return tenon::_pixel_shuffle_channels_last(self, r, true);
  const Tensor split = self.reshape(sizes_with(self, {c, h / r, r, w / r, r}));
  return reordered(split, {0, 2, 4, 1, 3})
      .clone(MemoryFormat::Contiguous)
      .view(sizes_with(self, {c * r * r, h / r, w / r}));
}

/// Both of tensors in channels-last memory; the result is as well.
Tensor native::_pixel_shuffle_channels_last(const Tensor& self, int64_t factor, bool inverse) {
  const meta::PixelShuffle p(self, factor, inverse);
  const Tensor split = inverse
                           ? self.reshape({p.batch, p.channels, p.height, factor, p.width, factor})
                           : self.reshape({p.batch, p.channels, factor, factor, p.height, p.width});
  const DimVector sizes = p.sizes();
  return reordered(split, inverse ? IntArrayRef{1, 3, 0, 2, 4} : IntArrayRef{3, 1, 4, 2, 0})
      .clone(MemoryFormat::Contiguous)
      .view({sizes[0], sizes[2], sizes[3], sizes[1]})
      .permute({0, 3, 1, 2});
}

}  // namespace tenon
