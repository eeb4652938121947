// Sums, means, softmax and normalisation over rows and columns.
#include "benchmarks/support/bench.h"
#include "benchmarks/support/library.h"
#ifndef BENCH_TORCH
#include "tenon/ops/layer_norm.h"
#include "tenon/ops/log_softmax.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/softmax.h"
#include "tenon/ops/zeros.h"
#endif

using bench::keep;

int main(int argc, char** argv) {
  bench::Runner run(argc, argv);
  t::set_num_threads(run.threads());
  t::manual_seed(0);
  t::NoGradGuard no_grad;

  const t::Tensor x = bench::random({4096, 1024});
  const double bytes = 4.0 * 4096 * 1024;
  run("rows/softmax/4096x1024", {.bytes = 2 * bytes}, [&] { keep(t::softmax(x, 1)); });
  run("rows/log_softmax/4096x1024", {.bytes = 2 * bytes}, [&] { keep(t::log_softmax(x, 1)); });
  const t::Tensor weight = t::ones({1024}), bias = t::zeros({1024});
  const std::vector<int64_t> shape = {1024};
  run("rows/layer_norm/4096x1024", {.bytes = 2 * bytes},
      [&] { keep(t::layer_norm(x, shape, weight, bias)); });
  run("reduce/sum/4096x1024", {.bytes = bytes}, [&] { keep(x.sum()); });
  run("reduce/sum_dim1/4096x1024", {.bytes = bytes}, [&] { keep(x.sum(1)); });
  run("reduce/sum_dim0/4096x1024", {.bytes = bytes}, [&] { keep(x.sum(0)); });
  run("reduce/mean_dim1/4096x1024", {.bytes = bytes}, [&] { keep(x.mean(1)); });
  run("reduce/mean_dim0/4096x1024", {.bytes = bytes}, [&] { keep(x.mean(0)); });
  run("reduce/amax_dim1/4096x1024", {.bytes = bytes}, [&] { keep(x.amax(1)); });
  run("reduce/argmax_dim1/4096x1024", {.bytes = bytes}, [&] { keep(x.argmax(1)); });
  if (run.wants("reduce/mean_dim0/16M")) {
    const t::Tensor large = bench::random({4096, 4096});
    run("reduce/mean_dim0/16M", {.bytes = 4 * bytes}, [&] { keep(large.mean(0)); });
  }
}
