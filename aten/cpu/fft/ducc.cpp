// The transforms of TENON_FFT_TYPE by ducc0, for the instructions that this is compiled for
// (TENON_FFT_LEVEL).
#include <algorithm>
#include <cstddef>
#include <ducc0/infra/simd.h>
#include <functional>

#include "aten/core/parallel.h"
#include "aten/cpu/fft/fft_engine.h"

namespace DUCC0_NAMESPACE::detail_fft {

// Hides ducc0's own: of the vectors, only the longest and those of four elements, which one
// transform is computed with. Half of the code, and of the time to compile it.
template <typename T, std::size_t N>
inline constexpr bool
    simd_exists = (N == native_simd<T>::size() || N == 4) && DUCC0_NAMESPACE::simd_exists<T, N>;

}  // namespace DUCC0_NAMESPACE::detail_fft

#include <ducc0/fft/fftnd_impl.h>

// ducc0's threads are Tenon's: these are what its transforms use of ducc0/infra/threading.h.
namespace DUCC0_NAMESPACE::detail_threading {
namespace {

/// The part of worker `number` of `count`: one contiguous range.
class Part : public Scheduler {
 public:
  Part(size_t work, size_t number, size_t count) : work_(work), number_(number), count_(count) {}
  size_t num_threads() const override { return count_; }
  size_t thread_num() const override { return number_; }
  Range getNext() override {
    if (taken_) return {};
    taken_ = true;
    return {work_ * number_ / count_, work_ * (number_ + 1) / count_};
  }

 private:
  size_t work_, number_, count_;
  bool taken_ = false;
};

void run(size_t work, size_t count, const std::function<void(Scheduler&)>& f) {
  tenon::parallel_for(0, static_cast<int64_t>(count), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Part part(work, static_cast<size_t>(i), count);
      f(part);
    }
  });
}

}  // namespace

size_t adjust_nthreads(size_t wanted) {
  const auto all = tenon::in_parallel_region() ? 1 : static_cast<size_t>(tenon::get_num_threads());
  return wanted == 0 ? all : std::min(all, wanted);
}

void execParallel(size_t nthreads, std::function<void(Scheduler&)> f) {
  const size_t count = adjust_nthreads(nthreads);
  run(count, count, f);
}

// Whatever the size of its chunks: each worker takes all of its own together.
void execStatic(size_t nwork, size_t nthreads, size_t /*chunksize*/,
                std::function<void(Scheduler&)> f) {
  run(nwork, std::max<size_t>(std::min(adjust_nthreads(nthreads), nwork), 1), f);
}

}  // namespace DUCC0_NAMESPACE::detail_threading

namespace tenon::native {
namespace {

using namespace DUCC0_NAMESPACE;  // NOLINT
using T = TENON_FFT_TYPE;
using Complex = FftEngine<T>::Complex;
using Shape = std::vector<size_t>;
using Strides = std::vector<ptrdiff_t>;

Shape shape_of(const FftShape& shape, int64_t halved_axis = -1) {
  Shape sizes(shape.sizes.begin(), shape.sizes.end());
  if (halved_axis >= 0) sizes[halved_axis] = sizes[halved_axis] / 2 + 1;
  return sizes;
}
Strides strides_of(IntArrayRef strides) { return Strides(strides.begin(), strides.end()); }

void c2c(const Complex* in, Complex* out, const FftShape& shape, IntArrayRef axes, bool forward,
         T factor) {
  const Shape sizes = shape_of(shape);
  detail_fft::c2c<T>(cfmav<Complex>(in, sizes, strides_of(shape.in_strides)),
                     vfmav<Complex>(out, sizes, strides_of(shape.out_strides)),
                     Shape(axes.begin(), axes.end()), forward, factor, 0);
}

void r2c(const T* in, Complex* out, const FftShape& shape, int64_t axis, T factor) {
  detail_fft::r2c<T>(cfmav<T>(in, shape_of(shape), strides_of(shape.in_strides)),
                     vfmav<Complex>(out, shape_of(shape, axis), strides_of(shape.out_strides)),
                     static_cast<size_t>(axis), true, factor, 0);
}

void c2r(const Complex* in, T* out, const FftShape& shape, int64_t axis, T factor) {
  detail_fft::c2r<T>(cfmav<Complex>(in, shape_of(shape, axis), strides_of(shape.in_strides)),
                     vfmav<T>(out, shape_of(shape), strides_of(shape.out_strides)),
                     static_cast<size_t>(axis), false, factor, 0);
}

}  // namespace

#define TENON_FFT_ENGINE_2(type, level) fft_##type##_##level
#define TENON_FFT_ENGINE(type, level) TENON_FFT_ENGINE_2(type, level)

extern const FftEngine<T> TENON_FFT_ENGINE(TENON_FFT_TYPE, TENON_FFT_LEVEL);
const FftEngine<T> TENON_FFT_ENGINE(TENON_FFT_TYPE, TENON_FFT_LEVEL) = {c2c, r2c, c2r};

}  // namespace tenon::native
