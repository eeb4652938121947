#include "aten/meta/fractional_max_pool.h"

#include "aten/meta/checks.h"
#include "tenon/native/fractional_max_pool2d.h"
#include "tenon/native/fractional_max_pool3d.h"

namespace tenon {
namespace {

constexpr const char* kNames[3] = {"time", "height", "width"};

void check_samples(const char* op, const TensorBase& self, const TensorBase& samples, int64_t dims,
                   int64_t batch, int64_t channels) {
  TENON_CHECK(samples.scalar_type() == self.scalar_type(), "[", op,
              "] Expect _random_samples to have the same dtype as input, got ",
              samples.scalar_type(), " and ", self.scalar_type());
  TENON_CHECK(samples.dim() == 3, "[", op, "] Expect _random_samples to have 3 dimensions, got ",
              samples.dim());
  TENON_CHECK(samples.size(0) >= batch, "[", op,
              "] Expect _random_samples.size(0) no less then input batch size, got ",
              samples.size(0), " and ", batch);
  TENON_CHECK(samples.size(1) == channels, "[", op,
              "] Expect _random_samples.size(1) equals to input channel size, got ",
              samples.size(1), " and ", channels);
  TENON_CHECK(samples.size(2) == dims, "[", op, "] Expect _random_samples.size(2) equals to ", dims,
              "; got ", samples.size(2));
  meta::check_same_device(op, "self", self, "random_samples", samples);
}

std::array<TensorSpec, 2> specs(const char* op, const Tensor& self, IntArrayRef kernel_size,
                                IntArrayRef output_size, const Tensor& random_samples,
                                int64_t dims) {
  const meta::FractionalPool p =
      meta::fractional_pool(op, self, kernel_size, output_size, random_samples, dims);
  DimVector sizes(self.sizes());
  for (int64_t i = 0; i < dims; ++i) sizes[sizes.size() - dims + i] = p.out[3 - dims + i];
  return {TensorSpec(sizes, self).kept_apart(),
          TensorSpec(sizes, kLong, self.device()).kept_apart()};
}

}  // namespace

meta::FractionalPool meta::fractional_pool(const char* op, const TensorBase& self,
                                           IntArrayRef kernel_size, IntArrayRef output_size,
                                           const TensorBase& random_samples, int64_t dims) {
  const auto wanted = static_cast<size_t>(dims);
  const auto check_list = [&](const char* name, IntArrayRef list) {
    TENON_CHECK(list.size() == wanted, "[", op, "] ", name,
                " must either be a single Int or tuple of ", dims == 3 ? "three " : "",
                "Ints, got ", list);
  };
  check_list("kernel_size", kernel_size);
  check_list("output_size", output_size);
  for (const int64_t k : kernel_size) {
    TENON_CHECK(k > 0, "[", op, "] kernel size should be greater than zero, but got ", kernel_size);
  }
  TENON_CHECK(self.dim() == dims + 1 || self.dim() == dims + 2, "[", op, "] Expected ", dims + 1,
              "D or ", dims + 2, "D tensor, but got: ", self.sizes());
  for (int64_t d = self.dim() - dims - 1; d < self.dim(); ++d) {
    TENON_CHECK(self.size(d) > 0, "[", op,
                "] Expected input to have non-zero size for non-batch dimensions, but got",
                self.sizes(), " with dimension ", d, " being empty.");
  }
  FractionalPool p{dims,
                   self.dim() == dims + 2 ? self.size(0) : 1,
                   self.size(-dims - 1),
                   {1, 1, 1},
                   {1, 1, 1},
                   {1, 1, 1}};
  check_samples(op, self, random_samples, dims, p.batch, p.channels);
  for (int64_t i = 0; i < dims; ++i) {
    const int64_t at = 3 - dims + i;
    p.in[at] = self.size(i - dims);
    p.kernel[at] = kernel_size[i];
    p.out[at] = output_size[i];
    TENON_CHECK(output_size[i] >= 0, "[", op, "] Trying to create tensor with negative dimension ",
                output_size[i], ": ", output_size);
    // Of volumes one more element is asked for, as PyTorch does.
    TENON_CHECK(multiply_add(op, 1, output_size[i], kernel_size[i]) <=
                    p.in[at] + (dims == 3 ? 0 : 1),
                "[", op, "] pool ", kNames[at], " ", kernel_size[i],
                " too large relative to input ", kNames[at], " ", p.in[at]);
  }
  TENON_CHECK_NOT_IMPLEMENTED(is_floating_point(self.scalar_type()), "[", op,
                              "] is not implemented for '", self.scalar_type(), "'");
  return p;
}

std::array<TensorSpec, 2> native::fractional_max_pool2d_meta(const Tensor& self,
                                                             IntArrayRef kernel_size,
                                                             IntArrayRef output_size,
                                                             const Tensor& random_samples) {
  return specs("fractional_max_pool2d", self, kernel_size, output_size, random_samples, 2);
}

std::array<TensorSpec, 2> native::fractional_max_pool3d_meta(const Tensor& self,
                                                             IntArrayRef kernel_size,
                                                             IntArrayRef output_size,
                                                             const Tensor& random_samples) {
  return specs("fractional_max_pool3d", self, kernel_size, output_size, random_samples, 3);
}

}  // namespace tenon
