#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include "aten/core/parallel.h"
#include "aten/cpu/fft/fft_engine.h"
#include "tenon/native/_fft_c2c.h"
#include "tenon/native/_fft_c2r.h"
#include "tenon/native/_fft_r2c.h"
#include "tenon/ops/_fft_c2c.h"
#include "tenon/ops/copy.h"
#include "tenon/ops/mul.h"

namespace tenon {
namespace {

using native::FftShape;

/// What normalization 0, 1 and 2 stand for: 1, 1/sqrt(n), 1/n, of the n elements that are
/// transformed together.
double factor_of(IntArrayRef sizes, IntArrayRef dim, int64_t normalization) {
  double n = 1;
  for (const int64_t d : dim) n *= static_cast<double>(sizes[wrap_dim(d, sizes.size())]);
  return normalization == 0 ? 1 : normalization == 1 ? 1 / std::sqrt(n) : 1 / n;
}

/// A problem without the dimensions of one element: the engine has faster ways for those of one
/// dimension.
class Problem {
 public:
  Problem(IntArrayRef sizes, IntArrayRef in_strides, IntArrayRef out_strides, IntArrayRef dim) {
    const auto rank = static_cast<int64_t>(sizes.size());
    for (int64_t d = 0; d < rank; ++d) {
      const bool transformed = std::any_of(
          dim.begin(), dim.end(), [&](int64_t chosen) { return wrap_dim(chosen, rank) == d; });
      if (sizes[d] == 1 && !(transformed && dim.size() == 1)) continue;
      if (transformed) axes_.push_back(static_cast<int64_t>(sizes_.size()));
      sizes_.push_back(sizes[d]);
      in_strides_.push_back(in_strides[d]);
      out_strides_.push_back(out_strides[d]);
    }
  }

  FftShape shape() const { return {sizes_, in_strides_, out_strides_}; }
  IntArrayRef axes() const { return axes_; }
  int64_t axis() const { return axes_[0]; }

 private:
  DimVector sizes_, in_strides_, out_strides_, axes_;
};

/// Rows that a cache keeps in few of its sets, as they lie multiples of 4096 bytes apart: several
/// of them, which the engine reads side by side, drive one another out.
template <class In, class Out>
class CollidingRows {
 public:
  CollidingRows(const Tensor& in, const Tensor& out, IntArrayRef dim)
      : in_n_(in.dim() > 0 ? in.size(-1) : 1), out_n_(in.dim() > 0 ? out.size(-1) : 1) {
    const auto collide = [](int64_t bytes) { return bytes % 4096 == 0 && bytes <= 65536; };
    rows_ = dim.size() == 1 && wrap_dim(dim[0], in.dim()) == in.dim() - 1 && in.is_contiguous() &&
                    out.is_contiguous() &&
                    (collide(in_n_ * int64_t{sizeof(In)}) || collide(out_n_ * int64_t{sizeof(Out)}))
                ? in.numel() / in_n_
                : 0;
  }

  /// Calls transform(from, to, shape) of up to 16 rows at a time, copied to where they do not
  /// collide; false if there is nothing to be gained.
  template <class F>
  bool transform(const In* in, Out* out, F&& f) const {
    if (rows_ < kAtOnce) return false;
    const int64_t in_step = in_n_ + kApart, out_step = out_n_ + kApart;
    parallel_for(0, (rows_ + kAtOnce - 1) / kAtOnce, 1, [&](int64_t begin, int64_t end) {
      std::vector<In> from(static_cast<size_t>(kAtOnce * in_step));
      std::vector<Out> to(static_cast<size_t>(kAtOnce * out_step));
      for (int64_t first = begin * kAtOnce; first < std::min(end * kAtOnce, rows_);
           first += kAtOnce) {
        const int64_t count = std::min(kAtOnce, rows_ - first);
        for (int64_t r = 0; r < count; ++r) {
          std::copy_n(in + (first + r) * in_n_, in_n_, from.data() + r * in_step);
        }
        const int64_t sizes[] = {count, std::max(in_n_, out_n_)};
        const int64_t in_strides[] = {in_step, 1}, out_strides[] = {out_step, 1};
        f(from.data(), to.data(), FftShape{sizes, in_strides, out_strides});
        for (int64_t r = 0; r < count; ++r) {
          std::copy_n(to.data() + r * out_step, out_n_, out + (first + r) * out_n_);
        }
      }
    });
    return true;
  }

 private:
  static constexpr int64_t kAtOnce = 16, kApart = 8;
  int64_t in_n_, out_n_, rows_;
};

template <class T>
void c2c(const Tensor& in, const Tensor& out, IntArrayRef dim, bool forward, double factor) {
  const Problem problem(in.sizes(), in.strides(), out.strides(), dim);
  if (problem.axes().empty()) {
    out.copy_(in * factor);
    return;
  }
  using Complex = std::complex<T>;
  const auto run = [&](const Complex* from, Complex* to, const FftShape& shape, IntArrayRef axes) {
    native::fft_engine<T>().c2c(from, to, shape, axes, forward, static_cast<T>(factor));
  };
  const auto* from = in.const_data_ptr<Complex>();
  auto* to = out.mutable_data_ptr<Complex>();
  const auto rows = [&](const Complex* some, Complex* results, const FftShape& shape) {
    run(some, results, shape, 1);
  };
  if (CollidingRows<Complex, Complex>(in, out, dim).transform(from, to, rows)) return;
  run(from, to, problem.shape(), problem.axes());
}

/// Fills each row of n values, of which the first n/2 + 1 are there, with the conjugates of these.
template <class T>
void complete_rows(std::complex<T>* data, int64_t rows, int64_t n) {
  parallel_for(0, rows, 1 + 32768 / n, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      std::complex<T>* row = data + r * n;
      for (int64_t k = n / 2 + 1; k < n; ++k) row[k] = std::conj(row[n - k]);
    }
  });
}

}  // namespace

void native::_fft_c2c_cpu(const Tensor& self, IntArrayRef dim, int64_t normalization, bool forward,
                          const Tensor& out) {
  if (self.numel() == 0) return;
  const double factor = factor_of(self.sizes(), dim, normalization);
  if (self.scalar_type() == kComplexDouble) {
    c2c<double>(self, out, dim, forward, factor);
  } else {
    c2c<float>(self, out, dim, forward, factor);
  }
}

void native::_fft_r2c_cpu(const Tensor& self, IntArrayRef dim, int64_t normalization, bool onesided,
                          const Tensor& out) {
  if (self.numel() == 0) return;
  const double factor = factor_of(self.sizes(), dim, normalization);
  const IntArrayRef last = dim.slice(dim.size() - 1), others = dim.slice(0, dim.size() - 1);
  const Problem problem(self.sizes(), self.strides(), out.strides(), last);
  TENON_DISPATCH_FLOATING(self.scalar_type(), "fft", {
    using Complex = std::complex<scalar_t>;
    auto* to = out.mutable_data_ptr<Complex>();
    const auto rows = [&](const scalar_t* some, Complex* results, const FftShape& shape) {
      fft_engine<scalar_t>().r2c(some, results, shape, 1, static_cast<scalar_t>(factor));
    };
    const auto* from = self.const_data_ptr<scalar_t>();
    if (!CollidingRows<scalar_t, Complex>(self, out, last).transform(from, to, rows)) {
      fft_engine<scalar_t>().r2c(from, to, problem.shape(), problem.axis(),
                                 static_cast<scalar_t>(factor));
    }
    // The result lies in rows along its last dimension.
    const int64_t n = self.size(last[0]);
    if (!onesided) complete_rows(to, self.numel() / n, n);
    if (!others.empty()) c2c<scalar_t>(out, out, others, true, 1);
  });
}

void native::_fft_c2r_cpu(const Tensor& self, IntArrayRef dim, int64_t normalization,
                          int64_t /*last_dim_size*/, const Tensor& out) {
  if (out.numel() == 0) return;
  const double factor = factor_of(out.sizes(), dim, normalization);
  const IntArrayRef last = dim.slice(dim.size() - 1), others = dim.slice(0, dim.size() - 1);
  const Tensor in = others.empty() ? self : ops::_fft_c2c::call(self, others, 0, false);
  const Problem problem(out.sizes(), in.strides(), out.strides(), last);
  TENON_DISPATCH_FLOATING(out.scalar_type(), "fft", {
    fft_engine<scalar_t>().c2r(in.const_data_ptr<std::complex<scalar_t>>(),
                               out.mutable_data_ptr<scalar_t>(), problem.shape(), problem.axis(),
                               static_cast<scalar_t>(factor));
  });
}

}  // namespace tenon
