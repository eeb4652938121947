"""An extension of PyTorch that tenon.interop.torch.build() compiles, beside an operator written by hand and PyTorch's own operators.

    build/venv-oracle/bin/python benchmarks/python/torch_extension.py [--turns N] [--build FOLDER]

`x * gate * sigmoid(gate)` with one thread. A row is the median over the turns, in which all take turns; its ratio is to the row's
first column. Exit status 1 if a ratio is above its bound.
"""

import argparse
import os
import pathlib
import statistics
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
YAML = """
- func: measured::swiglu(Tensor x, Tensor gate) -> Tensor
  pointwise: x * gate * sigmoid(gate)
"""
# As PyTorch's tutorial on custom operators in C++ does it: TORCH_LIBRARY, a kernel, an autograd::Function.
BY_HAND = r"""
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>
#include <cmath>
namespace {
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
at::Tensor forward(const at::Tensor& x, const at::Tensor& gate) {
  TORCH_CHECK(x.sizes() == gate.sizes() && x.dtype() == at::kFloat && gate.dtype() == at::kFloat);
  const at::Tensor a = x.contiguous(), b = gate.contiguous();
  at::Tensor out = at::empty_like(a);
  const float* pa = a.const_data_ptr<float>();
  const float* pb = b.const_data_ptr<float>();
  float* po = out.mutable_data_ptr<float>();
  at::parallel_for(0, a.numel(), 32768, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) po[i] = pa[i] * pb[i] / (1 + std::exp(-pb[i]));
  });
  return out;
}
std::tuple<at::Tensor, at::Tensor> backward(const at::Tensor& grad, const at::Tensor& x, const at::Tensor& gate) {
  const at::Tensor g = grad.contiguous(), a = x.contiguous(), b = gate.contiguous();
  at::Tensor dx = at::empty_like(a), dgate = at::empty_like(b);
  const float *pg = g.const_data_ptr<float>(), *pa = a.const_data_ptr<float>(), *pb = b.const_data_ptr<float>();
  float *px = dx.mutable_data_ptr<float>(), *pd = dgate.mutable_data_ptr<float>();
  at::parallel_for(0, a.numel(), 32768, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const float s = 1 / (1 + std::exp(-pb[i]));
      px[i] = pg[i] * pb[i] * s;
      pd[i] = pg[i] * pa[i] * s * (1 + pb[i] * (1 - s));
    }
  });
  return {dx, dgate};
}
const auto& forward_op() {
  static const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("by_hand::swiglu", "").typed<decltype(forward)>();
  return op;
}
const auto& backward_op() {
  static const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("by_hand::swiglu_backward", "").typed<decltype(backward)>();
  return op;
}
struct Swiglu : torch::autograd::Function<Swiglu> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const at::Tensor& gate) {
    at::AutoDispatchBelowADInplaceOrView guard;
    ctx->save_for_backward({x, gate});
    return forward_op().call(x, gate);
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    const auto [dx, dgate] = backward_op().call(grads[0], saved[0], saved[1]);
    return {dx, dgate};
  }
};
at::Tensor recorded(const at::Tensor& x, const at::Tensor& gate) { return Swiglu::apply(x, gate); }
}  // namespace
TORCH_LIBRARY(by_hand, m) {
  m.def("swiglu(Tensor x, Tensor gate) -> Tensor");
  m.def("swiglu_backward(Tensor grad, Tensor x, Tensor gate) -> (Tensor, Tensor)");
}
TORCH_LIBRARY_IMPL(by_hand, CPU, m) {
  m.impl("swiglu", TORCH_FN(forward));
  m.impl("swiglu_backward", TORCH_FN(backward));
}
TORCH_LIBRARY_IMPL(by_hand, Autograd, m) { m.impl("swiglu", TORCH_FN(recorded)); }
"""


def build_by_hand(torch):
    from tenon._build import _run, compiler_command

    root = pathlib.Path(torch.__file__).parent
    with tempfile.TemporaryDirectory() as folder:
        source, library = pathlib.Path(folder) / "by_hand.cpp", pathlib.Path(folder) / "by_hand.so"
        source.write_text(BY_HAND)
        flags = ["-std=c++20", "-O2", "-march=native", "-fPIC", "-shared", "-w", f"-I{root}/include"]
        flags += [f"-I{root}/include/torch/csrc/api/include", str(source), "-o", str(library)]
        _run([*compiler_command(), *flags, f"-L{root}/lib", "-lc10", "-ltorch_cpu"], "by_hand.cpp", RuntimeError)
        torch.ops.load_library(str(library))
    return torch.ops.by_hand.swiglu.default


def measure(functions, calls, turns):
    """Microseconds of a call, median of the turns, in each of which all functions are called."""
    times = {name: [] for name in functions}
    for _ in range(turns):
        for name, function in functions.items():
            function()
            start = time.perf_counter()
            for _ in range(calls):
                function()
            times[name].append((time.perf_counter() - start) / calls * 1e6)
    return {name: statistics.median(all_) for name, all_ in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    options = parser.parse_args()
    sys.path.insert(0, str(options.build / "python"))
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    import tenon.interop.torch
    import torch

    torch.set_num_threads(1)
    ours, by_hand = tenon.interop.torch.build(YAML).swiglu.default, build_by_hand(torch)

    def composed(x, gate):
        return x * gate * torch.sigmoid(gate)

    def differentiated(function, x, gate, grad):
        return lambda: torch.autograd.grad(function(x, gate), (x, gate), grad)

    def called(function, x, gate, grad):
        return lambda: function(x, gate)

    above = False
    for elements, calls in ((1, 2000), (1 << 24, 1)):
        x, gate, grad = (torch.randn(elements) for _ in range(3))
        recorded = [t.clone().requires_grad_() for t in (x, gate)]
        peer, bound = (("by hand", by_hand), 1.1) if elements == 1 else (("composed", composed), 0.2)
        functions = dict([peer, ("by hand", by_hand), ("extension", ours)])
        for what, of, tensors in (("forward", called, (x, gate)), ("with gradient", differentiated, recorded)):
            bound_calls = {name: of(function, *tensors, grad) for name, function in functions.items()}
            found = measure(bound_calls, calls, options.turns)
            ratio = found["extension"] / found[peer[0]]
            above |= ratio > bound
            values = ", ".join(f"{name} {value:.1f} us" for name, value in found.items())
            print(f"{elements:>9} {what:13} {values}: {ratio:.2f} of {peer[0]} (bound {bound})", flush=True)
    return int(above)


if __name__ == "__main__":
    sys.exit(main())
