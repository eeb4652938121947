// What programs do between the large operators: indexing, updates of parts of large tables, casts,
// copies between layouts, ragged rows, integer and complex arithmetic, pooling.
#include "benchmarks/support/bench.h"
#include "benchmarks/support/library.h"
#ifndef BENCH_TORCH
#include "tenon/ops/avg_pool2d.h"
#include "tenon/ops/cat.h"
#include "tenon/ops/empty.h"
#include "tenon/ops/erfinv.h"
#include "tenon/ops/gather.h"
#include "tenon/ops/index_select.h"
#include "tenon/ops/lgamma.h"
#include "tenon/ops/max_pool2d.h"
#include "tenon/ops/nextafter.h"
#include "tenon/ops/randint.h"
#include "tenon/ops/softmax.h"
#include "tenon/ops/zeros.h"
#endif

using bench::keep;

namespace {

constexpr int64_t kMillion = int64_t{1} << 20;
constexpr auto kLast = t::MemoryFormat::ChannelsLast;

bench::Work bytes(int64_t count) { return {.bytes = static_cast<double>(count)}; }

t::Tensor indices(int64_t bound, int64_t count) { return t::randint(bound, {count}, t::kLong); }

void indexing(bench::Runner& run) {
  const t::Tensor flat = bench::random({kMillion}), places = indices(kMillion, kMillion);
  run("index/select/1M_floats", bytes(16 * kMillion),
      [&] { keep(t::index_select(flat, 0, places)); });
  run("index/gather/1M_floats", bytes(16 * kMillion), [&] { keep(t::gather(flat, 0, places)); });
  t::Tensor table = bench::random({50000, 256});
  const t::Tensor rows = indices(50000, 8192), values = bench::random({8192, 256});
  run("index/select/8192_rows", bytes(8 * 8192 * 256),
      [&] { keep(t::index_select(table, 0, rows)); });
  run("index/add_/8192_rows", bytes(12 * 8192 * 256), [&] { table.index_add_(0, rows, values); });
  run("index/fill_/8192_rows", bytes(4 * 8192 * 256), [&] { table.index_fill_(0, rows, 0.5); });
  t::Tensor large = bench::random({kMillion, 64});
  const t::Tensor few = indices(kMillion, 10), few_values = bench::random({10, 64});
  run("index/add_/10_rows_of_1M", {}, [&] { large.index_add_(0, few, few_values); });
  t::Tensor counts = t::zeros({kMillion});
  run("index/scatter_add_/1M_floats", bytes(20 * kMillion),
      [&] { counts.scatter_add_(0, places, flat); });
}

void casts(bench::Runner& run) {
  const t::Tensor single = bench::random({kMillion});
  const t::Tensor bf16 = single.to(t::kBFloat16), half = single.to(t::kHalf);
  const t::Tensor bytes8 = t::randint(255, {kMillion}, t::kByte);
  run("cast/f32_to_bf16/1M", bytes(6 * kMillion), [&] { keep(single.to(t::kBFloat16)); });
  run("cast/bf16_to_f32/1M", bytes(6 * kMillion), [&] { keep(bf16.to(t::kFloat)); });
  run("cast/f32_to_f16/1M", bytes(6 * kMillion), [&] { keep(single.to(t::kHalf)); });
  run("cast/f16_to_f32/1M", bytes(6 * kMillion), [&] { keep(half.to(t::kFloat)); });
  run("cast/f32_to_f64/1M", bytes(12 * kMillion), [&] { keep(single.to(t::kDouble)); });
  run("cast/u8_to_f32/1M", bytes(5 * kMillion), [&] { keep(bytes8.to(t::kFloat)); });
  run("dtype/bf16_mul/1M", bytes(6 * kMillion), [&] { keep(bf16 * bf16); });
  run("dtype/bf16_add/1M", bytes(6 * kMillion), [&] { keep(bf16 + bf16); });
  run("dtype/f16_mul/1M", bytes(6 * kMillion), [&] { keep(half * half); });
  run("dtype/f16_add/1M", bytes(6 * kMillion), [&] { keep(half + half); });
  run("dtype/u8_add/1M", bytes(3 * kMillion), [&] { keep(bytes8 + bytes8); });
  const t::Tensor complex = single.to(t::kComplexFloat);
  run("dtype/complex64_mul/1M", bytes(24 * kMillion), [&] { keep(complex * complex); });
  const t::Tensor long_values = indices(1000, kMillion);
  run("dtype/i64_add/1M", bytes(24 * kMillion), [&] { keep(long_values + long_values); });
}

void copies(bench::Runner& run) {
  const t::Tensor heads = bench::random({8, 128, 4, 64});
  run("copy/permute_0213/8x128x4x64", bytes(8 * 8 * 128 * 4 * 64), [&] {
    keep(heads.permute({0, 2, 1, 3}).contiguous());
  });
  const t::Tensor image = bench::random({8, 64, 56, 56});
  run("copy/to_channels_last/8x64@56", bytes(8 * 8 * 64 * 56 * 56),
      [&] { keep(image.contiguous(kLast)); });
  const t::Tensor cube = bench::random({64, 100, 70});
  run("copy/permute_210/64x100x70", bytes(8 * 64 * 100 * 70), [&] {
    keep(cube.permute({2, 1, 0}).contiguous());
  });
  const t::Tensor flat = bench::random({2 * kMillion});
  run("copy/strided_slice_add/1M", bytes(8 * kMillion),
      [&] { keep(flat.slice(0, 0, 2 * kMillion, 2) + 1); });
  const t::Tensor a = bench::random({kMillion}), b = bench::random({kMillion});
  run("copy/cat/2x1M", bytes(16 * kMillion), [&] { keep(t::cat({a, b}, 0)); });
  const t::Tensor x = bench::random({4096, 100}), y = bench::random({4096, 28});
  run("copy/cat_columns/4096x128", bytes(8 * 4096 * 128), [&] { keep(t::cat({x, y}, 1)); });
}

void ragged(bench::Runner& run) {
  for (const int64_t n : {3, 7, 100}) {
    const std::string size = std::to_string(65536) + "x" + std::to_string(n);
    const t::Tensor x = bench::random({65536, n}), bias = bench::random({n});
    const t::Tensor column = bench::random({65536, 1});
    const bench::Work work = bytes(8 * 65536 * n);
    run("ragged/add_row/" + size, work, [&] { keep(x + bias); });
    run("ragged/mul_column/" + size, work, [&] { keep(x * column); });
    run("ragged/sum_dim1/" + size, work, [&] { keep(x.sum(1)); });
    run("ragged/softmax/" + size, work, [&] { keep(t::softmax(x, 1)); });
  }
}

void special(bench::Runner& run) {
  const t::Tensor x = bench::random({kMillion}), positive = x * 5 + 6, other = x + 1;
  t::Tensor out = t::empty({kMillion});
  run("special/erfinv/1M", bytes(8 * kMillion), [&] { keep(t::erfinv_out(out, x)); });
  run("special/lgamma/1M", bytes(8 * kMillion), [&] { keep(t::lgamma_out(out, positive)); });
  run("special/nextafter/1M", bytes(12 * kMillion), [&] { keep(t::nextafter_out(out, x, other)); });
}

void pooling(bench::Runner& run) {
  const t::Tensor image = bench::random({8, 64, 56, 56}), last = image.contiguous(kLast);
  const bench::Work work = bytes(5 * 8 * 64 * 56 * 56);
  run("pool/max_3x3s2/8x64@56", work, [&] { keep(t::max_pool2d(image, 3, 2, 1)); });
  run("pool/max_3x3s2_last/8x64@56", work, [&] { keep(t::max_pool2d(last, 3, 2, 1)); });
  run("pool/avg_2x2/8x64@56", work, [&] { keep(t::avg_pool2d(image, 2)); });
  run("pool/avg_2x2_last/8x64@56", work, [&] { keep(t::avg_pool2d(last, 2)); });
  run("pool/avg_3x3s1_last/8x64@56", work, [&] { keep(t::avg_pool2d(last, 3, 1, 1)); });
}

}  // namespace

int main(int argc, char** argv) {
  bench::Runner run(argc, argv);
  t::set_num_threads(run.threads());
  t::manual_seed(0);
  t::NoGradGuard no_grad;
  indexing(run);
  casts(run);
  copies(run);
  ragged(run);
  special(run);
  pooling(run);
}
