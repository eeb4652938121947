// What a call costs besides its arithmetic: tensors of one and sixteen elements, views, recording,
// the engine, forward mode.
#include "benchmarks/support/bench.h"
#include "benchmarks/support/library.h"
#ifdef BENCH_TORCH
#include <torch/csrc/autograd/forward_grad.h>
#else
#include "autograd/forward/forward_ad.h"
#include "tenon/ops/add.h"
#include "tenon/ops/empty.h"
#include "tenon/ops/linear.h"
#include "tenon/ops/relu.h"
#include "tenon/ops/softmax.h"
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

#ifdef BENCH_TORCH
class Level {
 public:
  ~Level() { torch::autograd::ForwardADLevel::release_idx(index_); }

 private:
  const uint64_t index_ = torch::autograd::ForwardADLevel::get_next_idx();
};
t::Tensor make_dual(const t::Tensor& x, const t::Tensor& v) { return t::_make_dual(x, v, 0); }
t::Tensor tangent_of(const t::Tensor& y) { return std::get<1>(t::_unpack_dual(y, 0)); }
#else
using Level = t::autograd::forward_ad::DualLevel;
using t::autograd::forward_ad::make_dual;
using t::autograd::forward_ad::tangent_of;
#endif

void forward_mode(bench::Runner& run) {
  const auto both = [&](const std::string& name, int64_t n, const auto& f) {
    const t::Tensor x = bench::random({n, n}), v = bench::random({n, n});
    run("jvp/" + name + "/" + std::to_string(n), {}, [&] {
      const Level level;
      keep(tangent_of(f(make_dual(x, v))));
    });
  };
  for (const int64_t n : {1, 256}) {
    const t::Tensor a = bench::random({n, n}), b = bench::random({n, n});
    both("mul", n, [&](const t::Tensor& x) { return x * a; });
    both("chain", n, [&](const t::Tensor& x) { return ((x * a + b).tanh() * x).sigmoid(); });
    both("sum", n, [&](const t::Tensor& x) { return x.sum(); });
    both("softmax", n, [&](const t::Tensor& x) { return t::softmax(x, 1); });
    both("linear", n, [&](const t::Tensor& x) { return t::linear(x, a, b.select(0, 0)); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  bench::Runner run(argc, argv);
  t::set_num_threads(run.threads());
  plain(run);
  recorded(run);
  forward_mode(run);
}
