// What calling a module costs beside calling its operator: the same small tensors for both.
#include "benchmarks/support/bench.h"
#include "benchmarks/support/library.h"
#ifndef BENCH_TORCH
#include "tenon/nn/modules/activation.h"
#include "tenon/nn/modules/batchnorm.h"
#include "tenon/nn/modules/conv.h"
#include "tenon/nn/modules/linear.h"
#include "tenon/nn/modules/normalization.h"
#include "tenon/ops/batch_norm.h"
#include "tenon/ops/conv2d.h"
#include "tenon/ops/layer_norm.h"
#include "tenon/ops/linear.h"
#include "tenon/ops/relu.h"
#endif

using bench::keep;

int main(int argc, char** argv) {
  bench::Runner run(argc, argv);
  t::set_num_threads(run.threads());
  t::NoGradGuard no_grad;
  const t::Tensor rows = bench::random({4, 8}), image = bench::random({1, 2, 6, 6});

  t::nn::ReLU relu;
  run("module/ReLU", {}, [&] { keep(relu(rows)); });
  run("operator/ReLU", {}, [&] { keep(t::relu(rows)); });

  t::nn::Linear linear(8, 8);
  run("module/Linear", {}, [&] { keep(linear(rows)); });
  run("operator/Linear", {}, [&] { keep(t::linear(rows, linear->weight, linear->bias)); });

  t::nn::LayerNorm norm(t::nn::LayerNormOptions({8}));
  const std::vector<int64_t> shape = {8};
  run("module/LayerNorm", {}, [&] { keep(norm(rows)); });
  run("operator/LayerNorm", {},
      [&] { keep(t::layer_norm(rows, shape, norm->weight, norm->bias, 1e-5)); });

  t::nn::Conv2d conv(t::nn::Conv2dOptions(2, 2, 3));
  const std::vector<int64_t> one = {1, 1}, none = {0, 0};
  run("module/Conv2d", {}, [&] { keep(conv(image)); });
  run("operator/Conv2d", {},
      [&] { keep(t::conv2d(image, conv->weight, conv->bias, one, none, one, 1)); });

  t::nn::BatchNorm2d batch_norm(2);
  batch_norm->eval();
  run("module/BatchNorm2d", {}, [&] { keep(batch_norm(image)); });
  run("operator/BatchNorm2d", {}, [&] {
    keep(t::batch_norm(image, batch_norm->weight, batch_norm->bias, batch_norm->running_mean,
                       batch_norm->running_var, false, 0.1, 1e-5, true));
  });
}
