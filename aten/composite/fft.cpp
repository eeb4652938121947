#include <algorithm>
#include <optional>
#include <string_view>

#include "tenon/native/_fft_c2r_backward.h"
#include "tenon/native/_fft_r2c_backward.h"
#include "tenon/native/fft_fft.h"
#include "tenon/native/fft_fftfreq.h"
#include "tenon/native/fft_fftn.h"
#include "tenon/native/fft_fftshift.h"
#include "tenon/native/fft_hfft.h"
#include "tenon/native/fft_hfftn.h"
#include "tenon/native/fft_ifft.h"
#include "tenon/native/fft_ifftn.h"
#include "tenon/native/fft_ifftshift.h"
#include "tenon/native/fft_ihfft.h"
#include "tenon/native/fft_ihfftn.h"
#include "tenon/native/fft_irfft.h"
#include "tenon/native/fft_irfftn.h"
#include "tenon/native/fft_rfft.h"
#include "tenon/native/fft_rfftfreq.h"
#include "tenon/native/fft_rfftn.h"
#include "tenon/ops/_fft_c2c.h"
#include "tenon/ops/_fft_c2r.h"
#include "tenon/ops/_fft_r2c.h"
#include "tenon/ops/arange.h"
#include "tenon/ops/cat.h"
#include "tenon/ops/conj.h"
#include "tenon/ops/constant_pad_nd.h"
#include "tenon/ops/full.h"
#include "tenon/ops/real.h"
#include "tenon/ops/roll.h"

namespace tenon {
namespace {

using Norm = std::optional<std::string_view>;

/// The kernels' normalization: 0 none, 1 by 1/sqrt(n), 2 by 1/n.
int64_t normalization(const char* op, Norm norm, bool forward) {
  if (!norm || *norm == "backward") return forward ? 0 : 2;
  if (*norm == "forward") return forward ? 2 : 0;
  TENON_CHECK(*norm == "ortho", "[", op, "] Invalid normalization mode: \"", *norm, "\"");
  return 1;
}

/// The tensor in the type that it is transformed in: integers become the default dtype, real
/// numbers complex ones where `complex`. Half types have no kernels on a CPU.
Tensor promoted(const char* op, const Tensor& self, bool complex) {
  ScalarType dtype = self.scalar_type();
  if (!is_floating_point(dtype) && !is_complex(dtype)) dtype = get_default_dtype();
  TENON_CHECK_NOT_IMPLEMENTED(!is_reduced_floating_point(dtype), "[", op, "] Unsupported dtype ",
                              dtype);
  return self.to(complex ? to_complex(dtype) : dtype);
}

void check_real(const char* op, const char* what, const Tensor& self) {
  TENON_CHECK_TYPE(!self.is_complex(), "[fft_", op, "] ", op, " expects a real", what,
                   " input tensor, but got ", self.scalar_type());
}

int64_t checked_dim(const char* op, int64_t dim, const Tensor& self) {
  TENON_CHECK_INDEX(self.dim() > 0, "[", op, "] Dimension specified as ", dim,
                    " but tensor has no dimensions");
  return wrap_dim(dim, self.dim());
}

int64_t checked_size(const char* op, int64_t size) {
  TENON_CHECK(size >= 1, "[", op, "] Invalid number of data points (", size, ") specified");
  return size;
}

/// The tensor with sizes[i] elements in dims[i]: zeros are appended, or elements cut off.
Tensor resized(const Tensor& self, IntArrayRef dims, IntArrayRef sizes) {
  Tensor result = self;
  DimVector pad(2 * static_cast<size_t>(self.dim()), 0);
  bool pads = false;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t had = self.size(dims[i]);
    if (sizes[i] < had) result = result.narrow(dims[i], 0, sizes[i]);
    if (sizes[i] > had) {
      // The pads of the last dimension are first.
      pad[pad.size() - 1 - 2 * static_cast<size_t>(dims[i])] = sizes[i] - had;
      pads = true;
    }
  }
  return pads ? constant_pad_nd(result, pad) : result;
}

/// The dimensions that are transformed, and their sizes.
struct Signal {
  DimVector dims, sizes;

  Signal(const char* op, const Tensor& self, OptionalIntArrayRef s, OptionalIntArrayRef dim) {
    if (dim) {
      for (const int64_t d : *dim) dims.push_back(checked_dim(op, d, self));
      DimVector sorted = dims;
      std::sort(sorted.begin(), sorted.end());
      TENON_CHECK(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end(), "[", op,
                  "] FFT dims must be unique, got ", *dim);
    }
    const int64_t count = s ? static_cast<int64_t>(s->size()) : self.dim();
    if (s) {
      TENON_CHECK(!dim || dim->size() == s->size(), "[", op,
                  "] When given, dim and shape arguments must have the same length, got ", *dim,
                  " and ", *s);
      TENON_CHECK(count <= self.dim(), "[", op, "] Got shape with ", count,
                  " values but input tensor only has ", self.dim(), " dimensions.");
    }
    for (int64_t i = 0; !dim && i < count; ++i) dims.push_back(self.dim() - count + i);
    for (size_t i = 0; i < dims.size(); ++i) {
      const bool given = s && (*s)[i] != -1;
      sizes.push_back(checked_size(op, given ? (*s)[i] : self.size(dims[i])));
    }
  }

  void check_any(const char* name) const {
    TENON_CHECK(!dims.empty(), "[fft_", name, "] ", name, " must transform at least one axis");
  }
  IntArrayRef first_dims() const { return IntArrayRef(dims).slice(0, dims.size() - 1); }
};

/// That of a real result, whose last size is made of n/2 + 1 values.
struct RealSignal : Signal {
  int64_t last;

  RealSignal(const char* name, const char* op, const Tensor& self, OptionalIntArrayRef s,
             OptionalIntArrayRef dim)
      : Signal(op, self, s, dim) {
    check_any(name);
    const bool given = s && s->back() != -1;
    last = checked_size(op, given ? s->back() : 2 * (self.size(dims.back()) - 1));
    sizes.back() = last / 2 + 1;
  }
};

/// Of one dimension, to complex values.
Tensor to_complex_values(const char* op, const Tensor& self, std::optional<int64_t> n, int64_t dim,
                         Norm norm, bool forward) {
  Tensor input = promoted(op, self, false);
  const int64_t d = checked_dim(op, dim, self);
  const int64_t size = checked_size(op, n ? *n : self.size(d));
  input = resized(input, d, size);
  const int64_t mode = normalization(op, norm, forward);
  if (input.is_complex()) return _fft_c2c(input, d, mode, forward);
  const Tensor result = _fft_r2c(input, d, mode, false);
  return forward ? result : conj(result);
}

/// Of one dimension, real values to half of the complex ones.
Tensor to_half(const char* name, const char* op, const Tensor& self, std::optional<int64_t> n,
               int64_t dim, Norm norm, bool forward) {
  check_real(name, "", self);
  Tensor input = promoted(op, self, false);
  const int64_t d = checked_dim(op, dim, self);
  input = resized(input, d, checked_size(op, n ? *n : self.size(d)));
  const Tensor result = _fft_r2c(input, d, normalization(op, norm, forward), true);
  return forward ? result : conj(result);
}

/// Of one dimension, half of the complex values to real ones.
Tensor of_half(const char* op, const Tensor& self, std::optional<int64_t> n, int64_t dim, Norm norm,
               bool forward) {
  Tensor input = promoted(op, self, true);
  const int64_t d = checked_dim(op, dim, self);
  const int64_t size = checked_size(op, n ? *n : 2 * (self.size(d) - 1));
  input = resized(input, d, size / 2 + 1);
  return _fft_c2r(forward ? conj(input) : input, d, normalization(op, norm, forward), size);
}

Tensor to_complex_values_nd(const char* op, const Tensor& self, OptionalIntArrayRef s,
                            OptionalIntArrayRef dim, Norm norm, bool forward) {
  const Signal signal(op, self, s, dim);
  const Tensor input = resized(promoted(op, self, true), signal.dims, signal.sizes);
  return _fft_c2c(input, signal.dims, normalization(op, norm, forward), forward);
}

Tensor shifted(const Tensor& self, OptionalIntArrayRef dim, int64_t rounds_up) {
  DimVector dims, shifts;
  if (dim) {
    for (const int64_t d : *dim) dims.push_back(d);
  } else {
    for (int64_t d = 0; d < self.dim(); ++d) dims.push_back(d);
  }
  for (const int64_t d : dims) shifts.push_back((self.size(d) + rounds_up) / 2);
  return roll(self, shifts, dims);
}

/// The frequencies `first` to `end`, not included, in steps of 1/(n d).
Tensor frequencies(const char* name, ArrayRef<std::pair<int64_t, int64_t>> ranges, int64_t n,
                   double d, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                   std::optional<Device> device, std::optional<bool> pin_memory) {
  const ScalarType type = dtype.value_or(get_default_dtype());
  TENON_CHECK(is_floating_point(type) || is_complex(type), "[fft_", name, "] ", name,
              " requires a floating point or complex dtype, got ", type);
  const auto options = TensorOptions(type).layout(layout).device(device).pinned_memory(pin_memory);
  std::vector<Tensor> parts;
  for (const auto& [first, end] : ranges) {
    parts.push_back(arange(first, end, options));
  }
  const Tensor whole = parts.size() == 1 ? parts[0] : cat(parts, 0);
  return whole * (1.0 / (static_cast<double>(n) * d));
}

}  // namespace

/// y[j] = sum_k self[k] exp(-2 pi i jk / n) along dim. norm: "backward", the default, leaves it so
/// and divides the inverse by n, "forward" divides this by n, "ortho" both by sqrt(n).
Tensor native::fft_fft(const Tensor& self, std::optional<int64_t> n, int64_t dim, Norm norm) {
  return to_complex_values("fft_fft", self, n, dim, norm, true);
}

/// y[j] = (1/n) sum_k self[k] exp(2 pi i jk / n) along dim; norm as fft's.
Tensor native::fft_ifft(const Tensor& self, std::optional<int64_t> n, int64_t dim, Norm norm) {
  return to_complex_values("fft_ifft", self, n, dim, norm, false);
}

/// The first n/2 + 1 values of a real signal's fft: the others are their conjugates.
Tensor native::fft_rfft(const Tensor& self, std::optional<int64_t> n, int64_t dim, Norm norm) {
  return to_half("rfft", "fft_rfft", self, n, dim, norm, true);
}

/// The n real values, by default 2 (size - 1), whose rfft has the n/2 + 1 first values of self.
Tensor native::fft_irfft(const Tensor& self, std::optional<int64_t> n, int64_t dim, Norm norm) {
  return of_half("fft_irfft", self, n, dim, norm, false);
}

/// The fft, n real values, of a signal with self[n - k] = conj(self[k]), of which self is the first
/// half.
Tensor native::fft_hfft(const Tensor& self, std::optional<int64_t> n, int64_t dim, Norm norm) {
  return of_half("fft_hfft", self, n, dim, norm, true);
}

/// The first n/2 + 1 values of a real signal's ifft.
Tensor native::fft_ihfft(const Tensor& self, std::optional<int64_t> n, int64_t dim, Norm norm) {
  return to_half("ihfft", "fft_ihfft", self, n, dim, norm, false);
}

/// fft over the dimensions dim, by default all, or the last of s, which has their sizes.
Tensor native::fft_fftn(const Tensor& self, OptionalIntArrayRef s, OptionalIntArrayRef dim,
                        Norm norm) {
  return to_complex_values_nd("fft_fftn", self, s, dim, norm, true);
}

/// ifft over the dimensions dim, by default all, or the last of s, which has their sizes.
Tensor native::fft_ifftn(const Tensor& self, OptionalIntArrayRef s, OptionalIntArrayRef dim,
                         Norm norm) {
  return to_complex_values_nd("fft_ifftn", self, s, dim, norm, false);
}

/// fftn of a real signal, of which the last dimension has the first n/2 + 1 values.
Tensor native::fft_rfftn(const Tensor& self, OptionalIntArrayRef s, OptionalIntArrayRef dim,
                         Norm norm) {
  check_real("rfftn", "-valued", self);
  const Signal signal("fft_rfftn", self, s, dim);
  signal.check_any("rfftn");
  const Tensor input = resized(promoted("fft_rfftn", self, false), signal.dims, signal.sizes);
  return _fft_r2c(input, signal.dims, normalization("fft_rfftn", norm, true), true);
}

/// The real signal, of s[-1] values in the last dimension, whose rfftn is self.
Tensor native::fft_irfftn(const Tensor& self, OptionalIntArrayRef s, OptionalIntArrayRef dim,
                          Norm norm) {
  const RealSignal signal("irfftn", "fft_irfftn", self, s, dim);
  const Tensor input = resized(promoted("fft_irfftn", self, true), signal.dims, signal.sizes);
  return _fft_c2r(input, signal.dims, normalization("fft_irfftn", norm, false), signal.last);
}

/// fft over all dimensions but the last of dim, then hfft over that.
Tensor native::fft_hfftn(const Tensor& self, OptionalIntArrayRef s, OptionalIntArrayRef dim,
                         Norm norm) {
  const RealSignal signal("hfftn", "fft_hfftn", self, s, dim);
  const int64_t mode = normalization("fft_hfftn", norm, true);
  Tensor x = resized(promoted("fft_hfftn", self, true), signal.dims, signal.sizes);
  if (signal.dims.size() > 1) x = _fft_c2c(x, signal.first_dims(), mode, true);
  return _fft_c2r(conj(x), signal.dims.back(), mode, signal.last);
}

/// ihfft over the last dimension of dim, then ifft over the others.
Tensor native::fft_ihfftn(const Tensor& self, OptionalIntArrayRef s, OptionalIntArrayRef dim,
                          Norm norm) {
  const Signal signal("fft_ihfftn", self, s, dim);
  signal.check_any("ihfftn");
  const Tensor x = resized(promoted("fft_ihfftn", self, false), signal.dims, signal.sizes);
  const int64_t mode = normalization("fft_ihfftn", norm, false);
  check_real("ihfftn", "-valued", x);
  const Tensor half = conj(_fft_r2c(x, signal.dims.back(), mode, true));
  return signal.dims.size() > 1 ? _fft_c2c(half, signal.first_dims(), mode, false) : half;
}

Tensor native::fft_fftshift(const Tensor& self, OptionalIntArrayRef dim) {
  return shifted(self, dim, 0);
}

Tensor native::fft_ifftshift(const Tensor& self, OptionalIntArrayRef dim) {
  return shifted(self, dim, 1);
}

/// The frequencies of an fft of n samples, d apart: [0, 1, ..., (n-1)/2, -(n/2), ..., -1] / (n d).
Tensor native::fft_fftfreq(int64_t n, double d, std::optional<ScalarType> dtype,
                           std::optional<Layout> layout, std::optional<Device> device,
                           std::optional<bool> pin_memory) {
  TENON_CHECK(n >= 0, "[fft_fftfreq] Trying to create tensor with negative dimension ", n, ": [", n,
              "]");
  return frequencies("fftfreq", {{0, (n + 1) / 2}, {-(n / 2), 0}}, n, d, dtype, layout, device,
                     pin_memory);
}

/// The frequencies of an rfft of n samples, d apart: [0, 1, ..., n/2] / (n d).
Tensor native::fft_rfftfreq(int64_t n, double d, std::optional<ScalarType> dtype,
                            std::optional<Layout> layout, std::optional<Device> device,
                            std::optional<bool> pin_memory) {
  TENON_CHECK(n >= 0, "[fft_rfftfreq] Trying to create tensor with negative dimension ", n, ": [",
              n, "]");
  return frequencies("rfftfreq", {{0, n / 2 + 1}}, n, d, dtype, layout, device, pin_memory);
}

/// The real part of the backward transform of grad, whose missing values are zero. As that is also
/// a transform to real values with the inner ones halved, no complex signal is made.
Tensor native::_fft_r2c_backward(const Tensor& grad, IntArrayRef dim, int64_t normalization,
                                 bool onesided, int64_t last_dim_size) {
  if (!onesided) return real(_fft_c2c(grad, dim, normalization, false));
  const int64_t last = wrap_dim(dim.back(), grad.dim()), doubled = (last_dim_size - 1) / 2;
  if (doubled == 0) return _fft_c2r(grad, dim, normalization, last_dim_size);
  DimVector shape(static_cast<size_t>(grad.dim()), 1);
  shape[last] = grad.size(last);
  const Tensor weights =
      full(grad.size(last), 1, grad.options().dtype(to_real(grad.scalar_type())));
  weights.narrow(0, 1, doubled).fill_(0.5);
  return _fft_c2r(grad * weights.view(shape), dim, normalization, last_dim_size);
}

/// The forward transform of grad; values that stand for their conjugates as well count twice.
Tensor native::_fft_c2r_backward(const Tensor& grad, IntArrayRef dim, int64_t normalization) {
  const Tensor half = _fft_r2c(grad, dim, normalization, true);
  const int64_t last = wrap_dim(dim.back(), grad.dim()), doubled = (grad.size(last) - 1) / 2;
  if (doubled == 0) return half;
  DimVector shape(static_cast<size_t>(grad.dim()), 1);
  shape[last] = half.size(last);
  const Tensor weights = full(half.size(last), 1, grad.options());
  weights.narrow(0, 1, doubled).fill_(2);
  return half * weights.view(shape);
}

}  // namespace tenon
