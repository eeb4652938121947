// What the machine can do at most, measured in the same run as the libraries: bytes per second of a
// copy whose memory fits a cache or none, and fused multiply-adds per second. No library is
// involved.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "benchmarks/ceilings.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <omp.h>
#include <sys/mman.h>

#include <cstdlib>
#include <memory>

#include "benchmarks/support/bench.h"

HWY_BEFORE_NAMESPACE();
namespace ceilings::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// `stream` writes past the caches, which no library's result that is used at once can do; both are
// reported.
void copy(const float* from, float* to, size_t count, bool stream) {
  const hn::ScalableTag<float> d;
  const size_t step = hn::Lanes(d);
  if (stream) {
    for (size_t i = 0; i + step <= count; i += step) hn::Stream(hn::Load(d, from + i), d, to + i);
  } else {
    for (size_t i = 0; i + step <= count; i += step) hn::Store(hn::Load(d, from + i), d, to + i);
  }
}

/// The sum of `count` floats: what reading them takes at least.
float read(const float* from, size_t count) {
  const hn::ScalableTag<float> d;
  const size_t step = hn::Lanes(d);
  auto a = hn::Zero(d), b = hn::Zero(d), c = hn::Zero(d), e = hn::Zero(d);
  for (size_t i = 0; i + 4 * step <= count; i += 4 * step) {
    a = hn::Add(a, hn::Load(d, from + i));
    b = hn::Add(b, hn::Load(d, from + i + step));
    c = hn::Add(c, hn::Load(d, from + i + 2 * step));
    e = hn::Add(e, hn::Load(d, from + i + 3 * step));
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(a, b), hn::Add(c, e))));
}

/// Runs `rounds` rounds of sixteen independent multiply-adds and returns their number of
/// floating-point operations.
double multiply_add(int64_t rounds, float* sink) {
  const hn::ScalableTag<float> d;
  const auto a = hn::Set(d, 0.999f), b = hn::Set(d, 0.001f);
  auto x0 = hn::Set(d, 0.0f), x1 = hn::Set(d, 0.1f), x2 = hn::Set(d, 0.2f), x3 = hn::Set(d, 0.3f);
  auto x4 = hn::Set(d, 0.4f), x5 = hn::Set(d, 0.5f), x6 = hn::Set(d, 0.6f), x7 = hn::Set(d, 0.7f);
  auto x8 = hn::Set(d, 0.8f), x9 = hn::Set(d, 0.9f), x10 = hn::Set(d, 1.0f), x11 = hn::Set(d, 1.1f);
  for (int64_t i = 0; i < rounds; ++i) {
    x0 = hn::MulAdd(x0, a, b);
    x1 = hn::MulAdd(x1, a, b);
    x2 = hn::MulAdd(x2, a, b);
    x3 = hn::MulAdd(x3, a, b);
    x4 = hn::MulAdd(x4, a, b);
    x5 = hn::MulAdd(x5, a, b);
    x6 = hn::MulAdd(x6, a, b);
    x7 = hn::MulAdd(x7, a, b);
    x8 = hn::MulAdd(x8, a, b);
    x9 = hn::MulAdd(x9, a, b);
    x10 = hn::MulAdd(x10, a, b);
    x11 = hn::MulAdd(x11, a, b);
  }
  const auto s0 =
      hn::Add(hn::Add(hn::Add(x0, x1), hn::Add(x2, x3)), hn::Add(hn::Add(x4, x5), hn::Add(x6, x7)));
  const auto s1 = hn::Add(hn::Add(x8, x9), hn::Add(x10, x11));
  *sink = hn::GetLane(hn::SumOfLanes(d, hn::Add(s0, s1)));
  return static_cast<double>(rounds) * 12 * 2 * static_cast<double>(hn::Lanes(d));
}

}  // namespace ceilings::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ceilings {

HWY_EXPORT(copy);
HWY_EXPORT(read);
HWY_EXPORT(multiply_add);

struct Size {
  size_t bytes;
  const char* name;
};

void copies(bench::Runner& run) {
  // Bytes moved in all: of a copy half of them read and half written.
  for (const Size size : {Size{size_t{1} << 18, "256K"},
                          {size_t{1} << 21, "2M"},
                          {size_t{1} << 23, "8M"},
                          {size_t{1} << 24, "16M"},
                          {size_t{1} << 25, "32M"},
                          {size_t{1} << 28, "256M"}}) {
    const size_t count = size.bytes / 2 / sizeof(float);
    // Huge pages, as a library that cares has them: the ceiling is the memory's, not the page
    // table's.
    const auto allocate = [](size_t floats) {
      const size_t page = size_t{2} << 20;
      const size_t bytes = (floats * sizeof(float) + page - 1) / page * page;
      void* block = std::aligned_alloc(page, bytes);
      madvise(block, bytes, MADV_HUGEPAGE);
      return std::unique_ptr<float, decltype(&std::free)>(static_cast<float*>(block), &std::free);
    };
    const auto from = allocate(count), to = allocate(count);
    std::fill_n(from.get(), count, 1.0f);
    for (const bool stream : {false, true}) {
      run(std::string("ceiling/") + (stream ? "stream/" : "copy/") + size.name,
          {.bytes = static_cast<double>(size.bytes)}, [&] {
#pragma omp parallel
            {
              const auto threads = static_cast<size_t>(omp_get_num_threads());
              const auto index = static_cast<size_t>(omp_get_thread_num());
              const size_t part = count / threads / 16 * 16;
              HWY_DYNAMIC_DISPATCH(copy)
              (from.get() + index * part, to.get() + index * part, part, stream);
            }
            bench::keep(to);
          });
    }
    const size_t all = size.bytes / sizeof(float);
    const auto values = allocate(all);
    std::fill_n(values.get(), all, 1.0f);
    run(std::string("ceiling/read/") + size.name, {.bytes = static_cast<double>(size.bytes)}, [&] {
#pragma omp parallel
      {
        const auto threads = static_cast<size_t>(omp_get_num_threads());
        const auto index = static_cast<size_t>(omp_get_thread_num());
        const size_t part = all / threads / 16 * 16;
        bench::keep(HWY_DYNAMIC_DISPATCH(read)(values.get() + index * part, part));
      }
    });
  }
}

void arithmetic(bench::Runner& run) {
  constexpr int64_t kRounds = 100000;
  float sink = 0;
  const double flops = HWY_DYNAMIC_DISPATCH(multiply_add)(kRounds, &sink);
  run("ceiling/flops/float", {.flops = flops * run.threads()}, [&] {
#pragma omp parallel
    {
      float mine;
      HWY_DYNAMIC_DISPATCH(multiply_add)(kRounds, &mine);
      bench::keep(mine);
    }
  });
}

}  // namespace ceilings

int main(int argc, char** argv) {
  bench::Runner run(argc, argv);
  omp_set_num_threads(run.threads());
  ceilings::copies(run);
  ceilings::arithmetic(run);
}
#endif
