// A user's own operator, silu(x) * g: forward, sum, backward. Tenon's comes from one line of YAML.
// PyTorch's is measured in both ways its users have: composed of its operators, and as a C++
// Function with a written backward.
#include "benchmarks/support/bench.h"
#include "benchmarks/support/library.h"

#ifdef BENCH_TORCH

namespace {

t::Tensor composed(const t::Tensor& x, const t::Tensor& g) { return t::silu(x) * g; }

struct SwiGLU : t::autograd::Function<SwiGLU> {
  static t::Tensor forward(t::autograd::AutogradContext* context, const t::Tensor& x,
                           const t::Tensor& g) {
    context->save_for_backward({x, g});
    return t::silu(x) * g;
  }
  static t::autograd::variable_list backward(t::autograd::AutogradContext* context,
                                             t::autograd::variable_list grads) {
    const auto saved = context->get_saved_variables();
    const t::Tensor &x = saved[0], &g = saved[1], &grad = grads[0];
    const t::Tensor s = t::sigmoid(x);
    return {grad * g * (s * (1 + x * (1 - s))), grad * x * s};
  }
};

t::Tensor written(const t::Tensor& x, const t::Tensor& g) { return SwiGLU::apply(x, g); }

}  // namespace

#else

#include "custom/ops/swiglu.h"

namespace {

t::Tensor composed(const t::Tensor& x, const t::Tensor& g) { return custom::swiglu(x, g); }
t::Tensor written(const t::Tensor& x, const t::Tensor& g) { return custom::swiglu(x, g); }

}  // namespace

#endif

namespace {

struct Size {
  int64_t count;
  const char* name;
};

template <class F>
void measure(bench::Runner& run, const std::string& kind, F&& function) {
  for (const Size size : {Size{1, "1"}, {1 << 14, "16K"}, {1 << 20, "1M"}, {1 << 24, "16M"}}) {
    const std::string name = "own/" + kind + "/" + size.name;
    if (!run.wants(name)) continue;
    const t::Tensor x = bench::leaf(bench::random({size.count})),
                    g = bench::leaf(bench::random({size.count}));
    // Two reads and a write forward, three reads and two writes backward.
    run(name, {.bytes = 8.0 * 4.0 * static_cast<double>(size.count)}, [&] {
      function(x, g).sum().backward();
      x.mutable_grad().reset();
      g.mutable_grad().reset();
    });
  }
}

}  // namespace

int main(int argc, char** argv) {
  bench::Runner run(argc, argv);
  t::set_num_threads(run.threads());
  measure(run, "composed", composed);
  measure(run, "written", written);
}
