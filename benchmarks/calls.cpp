// What a call costs besides its arithmetic: tensors of one and sixteen elements, views, recording,
// the engine.
#include "benchmarks/support/bench.h"
#include "benchmarks/support/library.h"
#ifndef BENCH_TORCH
#include "tenon/ops/add.h"
#include "tenon/ops/empty.h"
#include "tenon/ops/linear.h"
#include "tenon/ops/relu.h"
#endif

using bench::keep;

namespace {

void plain(bench::Runner& run) {
  t::NoGradGuard no_grad;
  for (const int64_t n : {1, 16}) {
    const std::string size = n == 1 ? "/1" : "/16";
    t::Tensor a = bench::random({n}), b = bench::random({n}), out = t::empty({n});
    run("calls/add" + size, {}, [&] { keep(a + b); });
    run("calls/add_out" + size, {}, [&] { keep(t::add_out(out, a, b)); });
    run("calls/add_" + size, {}, [&] { keep(out.add_(b)); });
    run("calls/mul_scalar" + size, {}, [&] { keep(a * 2.5); });
    run("calls/relu" + size, {}, [&] { keep(t::relu(a)); });
    run("calls/sum" + size, {}, [&] { keep(a.sum()); });
  }
  t::Tensor one = bench::random({1}), square = bench::random({4, 4}), other = bench::random({4, 4});
  run("calls/empty", {}, [&] { keep(t::empty({1})); });
  run("calls/item", {}, [&] { keep(one.item<float>()); });
  run("calls/view", {}, [&] { keep(square.view({16})); });
  run("calls/select", {}, [&] { keep(square.select(0, 1)); });
  run("calls/slice", {}, [&] { keep(square.slice(0, 1, 3)); });
  run("calls/mm_4x4", {}, [&] { keep(square.mm(other)); });
  const t::Tensor x = bench::random({1, 16}), w = bench::random({16, 16}), b = bench::random({16});
  run("calls/linear_1x16x16", {}, [&] { keep(t::linear(x, w, b)); });
}

void recorded(bench::Runner& run) {
  for (const int64_t n : {1, 16}) {
    const std::string size = n == 1 ? "/1" : "/16";
    const t::Tensor a = bench::leaf(bench::random({n})), b = bench::random({n});
    run("recorded/add" + size, {}, [&] { keep(a + b); });
    run("recorded/mul" + size, {}, [&] { keep(a * b); });
  }
  constexpr int kNodes = 1000;
  const t::Tensor a = bench::leaf(bench::random({1})), b = bench::random({1});
  run("chain/add", {.per = kNodes}, [&] {
    t::Tensor x = a;
    for (int i = 0; i < kNodes; ++i) x = x + b;
    x.backward();
    a.mutable_grad().reset();
  });
  run("chain/mul", {.per = kNodes}, [&] {
    t::Tensor x = a;
    for (int i = 0; i < kNodes; ++i) x = x * b;
    x.backward();
    a.mutable_grad().reset();
  });
}

}  // namespace

int main(int argc, char** argv) {
  bench::Runner run(argc, argv);
  t::set_num_threads(run.threads());
  plain(run);
  recorded(run);
}
