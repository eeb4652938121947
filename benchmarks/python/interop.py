"""What an operator of one's own costs with its gradient, beside what other libraries offer for that:
PyTorch   torch.library.custom_op with register_autograd; Tenon's by load_operators, and called through PyTorch
JAX       a custom_vjp of jax.numpy, the formula alone, jax.pure_callback of numpy; Tenon's, called through JAX, all jitted
numpy     the expression; Tenon's, called on arrays; no gradient

    benchmarks/python/interop.py [LIBRARY...] [--turns N] [--build FOLDER] [--json FILE]

Run by any Python 3. All run in build/venv-oracle, each with one thread, in processes that take turns; a row is the median over
the turns of each turn's best, its spread the quartiles' distance by the median, its ratio to the library's first row. Exit status
1 if a ratio is above its bound.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SIZES = {"1": 1, "16 M": 1 << 24}
# The first is the one that others are compared with.
LIBRARIES = {
    "torch": ("custom_op", "tenon", "interop"),
    "jax": ("custom_vjp", "jit", "callback", "interop"),
    "numpy": ("expression", "interop"),
}
# (library, who, elements, what): the highest ratio
BOUNDS = {("torch", "tenon", "1", "forward and backward"): 0.05}

MEASURE = """
import json, sys, timeit
library, who, sizes = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
YAML = '''
- func: measured::swiglu(Tensor self, Tensor gate) -> Tensor
  pointwise: self * gate * sigmoid(gate)
'''

def torch_statements():
    if who == "tenon":
        import tenon as lib
        f = lib.load_operators(YAML).swiglu
    else:
        import torch as lib
        lib.set_num_threads(1)
    if who == "interop":
        import tenon
        from tenon.interop import torch as interop
        kept = interop.register(tenon.load_operators(YAML))
        f = lib.ops.measured.swiglu
    elif who == "custom_op":
        @lib.library.custom_op("measured::by_hand", mutates_args=())
        def f(x: lib.Tensor, g: lib.Tensor) -> lib.Tensor:
            return x * g * lib.sigmoid(g)
        def setup(ctx, inputs, output):
            ctx.save_for_backward(*inputs)
        def backward(ctx, grad):
            x, g = ctx.saved_tensors
            s = lib.sigmoid(g)
            return grad * g * s, grad * x * s * (1 + g * (1 - s))
        f.register_autograd(backward, setup_context=setup)
    for name, size in sizes.items():
        x, g = (lib.randn(size, requires_grad=True) for _ in range(2))
        grad = lib.ones(size)
        a, b = x.detach(), g.detach()
        def both():
            x.grad = g.grad = None
            f(x, g).backward(grad)
        yield name, "forward", lambda: f(a, b)
        yield name, "forward and backward", both

def jax_statements():
    import jax, numpy as np
    import jax.numpy as jnp
    def formula(x, g):
        return x * g * jax.nn.sigmoid(g)
    def of_backward(sigmoid, x, g, grad):
        s = sigmoid(g)
        return grad * g * s, grad * x * s * (1 + g * (1 - s))
    if who == "interop":
        import tenon
        from tenon.interop import jax as interop
        f = interop.register(tenon.load_operators(YAML)).swiglu
    elif who == "jit":
        f = formula
    else:
        if who == "custom_vjp":
            call = formula
            def backward(kept, grad):
                return of_backward(jax.nn.sigmoid, *kept, grad)
        else:
            def sigmoid(g):
                return 1 / (1 + np.exp(-g))
            def host(x, g):
                x, g = np.asarray(x), np.asarray(g)
                return x * g * sigmoid(g)
            def host_backward(x, g, grad):
                return of_backward(sigmoid, *map(np.asarray, (x, g, grad)))
            def call(x, g):
                return jax.pure_callback(host, jax.ShapeDtypeStruct(x.shape, x.dtype), x, g)
            def backward(kept, grad):
                shapes = tuple(jax.ShapeDtypeStruct(a.shape, a.dtype) for a in kept)
                return jax.pure_callback(host_backward, shapes, *kept, grad)
        f = jax.custom_vjp(call)
        f.defvjp(lambda x, g: (f(x, g), (x, g)), backward)
    forward = jax.jit(f)
    @jax.jit
    def both(x, g, grad):
        y, back = jax.vjp(f, x, g)
        return y, back(grad)
    for name, size in sizes.items():
        x, g = (jax.random.normal(jax.random.key(i), (size,)) for i in range(2))
        grad = jnp.ones(size)
        yield name, "forward", lambda: jax.block_until_ready(forward(x, g))
        yield name, "forward and backward", lambda: jax.block_until_ready(both(x, g, grad))

def numpy_statements():
    import numpy as np
    if who == "interop":
        import tenon
        from tenon.interop import numpy as interop
        f = interop.register(tenon.load_operators(YAML)).swiglu
    else:
        def f(x, g):
            return x * g * (1 / (1 + np.exp(-g)))
    for name, size in sizes.items():
        x, g = (np.random.default_rng(i).standard_normal(size, dtype=np.float32) for i in range(2))
        yield name, "forward", lambda: f(x, g)

times = {}
for name, what, statement in globals()[f"{library}_statements"]():
    timer = timeit.Timer(statement)
    timer.timeit(2)
    count = 1 + int(0.05 / max(timer.timeit(3) / 3, 1e-7))
    times[f"{name}|{what}"] = min(timer.repeat(3, count)) / count
print(json.dumps(times))
"""


def measure(library, who, build):
    command = [str(ROOT / "build/venv-oracle/bin/python"), "-c", MEASURE, library, who, json.dumps(SIZES)]
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": str(build / "python"),
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
    }
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        sys.exit(f"{library} {who} cannot be measured:\n{done.stderr}")
    return json.loads(done.stdout)


def spread(values):
    if len(values) < 2:
        return 0.0
    low, middle, high = statistics.quantiles(values, n=4)
    return (high - low) / middle


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("libraries", nargs="*", metavar="LIBRARY", help="of torch, jax, numpy; all without")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--json", type=pathlib.Path, help="also write the rows to this file")
    arguments = parser.parse_args()
    libraries = arguments.libraries or list(LIBRARIES)
    if unknown := set(libraries) - set(LIBRARIES):
        parser.error(f"there is no {', '.join(sorted(unknown))}; choose from {', '.join(LIBRARIES)}")
    rows, late = [], []
    print(f"{'library':8}{'elements':9}{'what':22}{'who':11}{'us':>12}{'spread':>8}{'ratio':>8}{'bound':>7}")
    for library in libraries:
        turns = {who: [] for who in LIBRARIES[library]}
        for _ in range(arguments.turns):
            for who, list_ in turns.items():
                list_.append(measure(library, who, arguments.build))
        peers = turns[LIBRARIES[library][0]]
        for key in peers[0]:
            elements, what = key.split("|")
            for who in turns:
                # Of each turn by its neighbour: what else the machine does then, slows both.
                ratio = statistics.median(own[key] / peer[key] for own, peer in zip(turns[who], peers))
                times = [turn[key] for turn in turns[who]]
                bound = BOUNDS.get((library, who, elements, what))
                row = {"library": library, "elements": elements, "what": what, "who": who}
                row |= {"s": statistics.median(times), "spread": spread(times), "ratio": ratio}
                rows.append(row)
                cells = f"{library:8}{elements:9}{what:22}{who:11}{row['s'] * 1e6:12.2f}{row['spread']:8.0%}"
                print(f"{cells}{ratio:8.3f}{bound or '':>7}")
                late += [f"{library} {who} {elements} {what}"] if bound and ratio > bound else []
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")
    if late:
        print("above the bound: " + ", ".join(late))
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
