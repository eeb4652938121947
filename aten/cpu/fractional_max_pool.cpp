#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "aten/common/contiguous.h"
#include "aten/core/parallel.h"
#include "aten/meta/fractional_max_pool.h"
#include "tenon/native/fractional_max_pool2d.h"
#include "tenon/native/fractional_max_pool3d.h"

/// Windows that begin at floor((i + u) a) - floor(u a), a = (in - kernel) / (out - 1), and the last
/// one at in - kernel (Graham 2014): u from 0 to 1 is drawn for each plane and dimension.
namespace tenon {
namespace {

using meta::FractionalPool;

/// Rounded to T after each operation, which decides where a window begins.
template <class T>
void window_starts(T sample, int64_t in, int64_t kernel, int64_t out, int64_t* starts) {
  using V = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const auto rounded = [](V v) { return static_cast<V>(static_cast<T>(v)); };
  const auto whole = [](V v) {
    return static_cast<int64_t>(std::isfinite(v) ? std::clamp(v, V(-1e9), V(1e9)) : V(0));
  };
  const int64_t last = in - kernel;
  const V u = static_cast<V>(sample);
  const V step =
      out > 1 ? rounded(rounded(static_cast<V>(last)) / rounded(static_cast<V>(out - 1))) : V(0);
  const int64_t first = whole(rounded(u * step));
  for (int64_t i = 0; i + 1 < out; ++i) {
    const V place = rounded(rounded(rounded(static_cast<V>(i)) + u) * step);
    // A sample beyond 0 to 1 leads to no place outside.
    starts[i] = std::clamp<int64_t>(whole(place) - first, 0, last);
  }
  if (out > 0) starts[out - 1] = last;
}

/// One plane; of several NaN the last is found, as in PyTorch.
template <class T>
void pool_plane(const FractionalPool& p, const T* in, const int64_t* const* starts, T* out,
                int64_t* indices) {
  using V = std::conditional_t<std::is_same_v<T, double>, double, float>;
  for (int64_t a = 0; a < p.out[0]; ++a) {
    for (int64_t b = 0; b < p.out[1]; ++b) {
      for (int64_t c = 0; c < p.out[2]; ++c) {
        const int64_t z0 = starts[0][a], y0 = starts[1][b], x0 = starts[2][c];
        V largest = -std::numeric_limits<V>::infinity();
        int64_t best = (z0 * p.in[1] + y0) * p.in[2] + x0;
        for (int64_t z = z0; z < z0 + p.kernel[0]; ++z) {
          for (int64_t y = y0; y < y0 + p.kernel[1]; ++y) {
            const int64_t row = (z * p.in[1] + y) * p.in[2];
            for (int64_t x = x0; x < x0 + p.kernel[2]; ++x) {
              const V value = static_cast<V>(in[row + x]);
              if (value > largest || value != value) {
                largest = value;
                best = row + x;
              }
            }
          }
        }
        *out++ = static_cast<T>(largest);
        *indices++ = best;
      }
    }
  }
}

void fractional_max_pool(const char* op, const Tensor& self, IntArrayRef kernel_size,
                         IntArrayRef output_size, const Tensor& random_samples, int64_t dims,
                         const Tensor& out, const Tensor& indices) {
  if (out.numel() == 0) return;
  const FractionalPool p =
      meta::fractional_pool(op, self, kernel_size, output_size, random_samples, dims);
  const TensorBase in = native::contiguous(self), samples = native::contiguous(random_samples);
  const native::ContiguousOutput values(out), places(indices, kLong);
  const int64_t work = p.out_size() * p.kernel[0] * p.kernel[1] * p.kernel[2];
  TENON_DISPATCH_FLOATING_AND_REDUCED(self.scalar_type(), op, {
    parallel_for(0, p.batch * p.channels, std::max<int64_t>(1, 32768 / work),
                 [&](int64_t begin, int64_t end) {
                   std::vector<int64_t> buffer(static_cast<size_t>(p.out[0] + p.out[1] + p.out[2]));
                   int64_t* const starts[3] = {buffer.data(), buffer.data() + p.out[0],
                                               buffer.data() + p.out[0] + p.out[1]};
                   for (int64_t l = begin; l < end; ++l) {
                     const scalar_t* u = samples.const_data_ptr<scalar_t>() + l * dims;
                     for (int64_t i = 0; i < 3; ++i) {
                       // PyTorch's assignment: of two numbers the first is of the width.
                       const int64_t which = dims == 3 ? i : 2 - i;
                       window_starts(which < dims ? u[which] : scalar_t(0), p.in[i], p.kernel[i],
                                     p.out[i], starts[i]);
                     }
                     pool_plane(p, in.const_data_ptr<scalar_t>() + l * p.in_size(), starts,
                                values.data<scalar_t>() + l * p.out_size(),
                                places.data<int64_t>() + l * p.out_size());
                   }
                 });
  });
  values.copy_back();
  places.copy_back();
}

}  // namespace

void native::fractional_max_pool2d_cpu(const Tensor& self, IntArrayRef kernel_size,
                                       IntArrayRef output_size, const Tensor& random_samples,
                                       const Tensor& output, const Tensor& indices) {
  fractional_max_pool("fractional_max_pool2d", self, kernel_size, output_size, random_samples, 2,
                      output, indices);
}

void native::fractional_max_pool3d_cpu(const Tensor& self, IntArrayRef kernel_size,
                                       IntArrayRef output_size, const Tensor& random_samples,
                                       const Tensor& output, const Tensor& indices) {
  fractional_max_pool("fractional_max_pool3d", self, kernel_size, output_size, random_samples, 3,
                      output, indices);
}

}  // namespace tenon
