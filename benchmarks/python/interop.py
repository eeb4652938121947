"""What an operator of one's own costs with its gradient: tenon.load_operators beside torch.library.custom_op with
register_autograd, and Tenon's operator called through PyTorch (tenon.interop.torch).

    benchmarks/python/interop.py [--build FOLDER] [--json FILE]

Run by any Python 3. All three run in build/venv-oracle, each with one thread, in processes that take turns; a row is the median over
the turns of each turn's best, its spread the quartiles' distance by the median. Exit status 1 if a ratio is above its bound.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TURNS = 5
SIZES = {"1": 1, "16 M": 1 << 24}
# (who, elements, what): the highest ratio to custom_op's time
BOUNDS = {("tenon", "1", "forward and backward"): 0.05}

MEASURE = """
import json, sys, timeit
who = sys.argv[1]
YAML = '''
- func: measured::swiglu(Tensor self, Tensor gate) -> Tensor
  pointwise: self * gate * sigmoid(gate)
'''
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
    else:
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
times = {}
for name, size in json.loads(sys.argv[2]).items():
    x, g = (lib.randn(size, requires_grad=True) for _ in range(2))
    grad = lib.ones(size)
    a, b = x.detach(), g.detach()
    def both():
        x.grad = g.grad = None
        f(x, g).backward(grad)
    for what, statement in (("forward", lambda: f(a, b)), ("forward and backward", both)):
        timer = timeit.Timer(statement)
        timer.timeit(2)
        count = 1 + int(0.05 / max(timer.timeit(3) / 3, 1e-7))
        times[f"{name}|{what}"] = min(timer.repeat(3, count)) / count
print(json.dumps(times))
"""


def measure(who, build):
    command = [str(ROOT / "build/venv-oracle/bin/python"), "-c", MEASURE, who, json.dumps(SIZES)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(build / "python")}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        sys.exit(f"{who} cannot be measured:\n{done.stderr}")
    return json.loads(done.stdout)


def spread(values):
    low, middle, high = statistics.quantiles(values, n=4)
    return (high - low) / middle


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--json", type=pathlib.Path, help="also write the rows to this file")
    arguments = parser.parse_args()
    turns = {who: [] for who in ("custom_op", "tenon", "interop")}
    for _ in range(TURNS):
        for who, list_ in turns.items():
            list_.append(measure(who, arguments.build))
    rows, late = [], []
    print(f"{'elements':9}{'what':22}{'who':11}{'us':>12}{'spread':>8}{'ratio':>8}{'bound':>7}")
    for key in turns["custom_op"][0]:
        elements, what = key.split("|")
        for who in turns:
            # Of each turn by its neighbour: what else the machine does then, slows both.
            ratio = statistics.median(own[key] / peer[key] for own, peer in zip(turns[who], turns["custom_op"]))
            times = [turn[key] for turn in turns[who]]
            bound = BOUNDS.get((who, elements, what))
            row = {"elements": elements, "what": what, "who": who, "s": statistics.median(times), "spread": spread(times), "ratio": ratio}
            rows.append(row)
            print(f"{elements:9}{what:22}{who:11}{row['s'] * 1e6:12.2f}{row['spread']:8.0%}{ratio:8.3f}{bound or '':>7}")
            late += [f"{who} {elements} {what}"] if bound and ratio > bound else []
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")
    if late:
        print("above the bound: " + ", ".join(late))
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
