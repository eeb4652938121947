"""What tenon.fuse() makes of ten blocks of networks, forward and with gradients, beside the operators one by one, PyTorch's
operators and torch.compile of the same functions.

    benchmarks/python/fusion.py [--threads N] [--turns N] [--filter TEXT] [--build FOLDER] [--json FILE]

Run by any Python 3. All run in build/venv-oracle, in processes that take turns; a time is the median over the turns of each
turn's best, a ratio the median over the turns. The last line has the geometric means of the ratios.
"""

import argparse
import json
import math
import pathlib
import statistics
import sys

from oracle_process import ROOT, measured

SIDES = ("fused", "tenon", "torch", "compiled")
BLOCKS = (
    "rms_swiglu",
    "add_layer_norm",
    "bias_gelu",
    "masked_softmax",
    "norm_dropout_residual",
    "smooth_cross_entropy",
    "focal_loss",
    "rotary",
    "group_norm_silu",
    "adamw_clipped",
)

MEASURE = """
import json, sys, time, timeit
side, block, threads, backward = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4] == "1"
if side in ("fused", "tenon"):
    import tenon as t
else:
    import torch as t
F = t.nn.functional
t.set_num_threads(threads)
t.manual_seed(1)
N, D = 4096, 1024
randn = lambda *sizes: t.randn(*sizes).requires_grad_(backward)

def rms_swiglu(x, weight, gate):
    return F.rms_norm(x, (D,), weight, 1e-6) * F.silu(gate)

def add_layer_norm(x, residual, weight, bias):
    return F.layer_norm(x + residual, (D,), weight, bias)

def bias_gelu(x, bias):
    return F.gelu(x + bias, approximate="tanh")

def masked_softmax(x, mask):
    return F.softmax((x * 0.125).masked_fill(mask, float("-inf")), -1)

def norm_dropout_residual(x, residual, weight, bias):
    return F.layer_norm(F.dropout(x, 0.1, True) + residual, (D,), weight, bias)

def smooth_cross_entropy(x, target):
    logp = F.log_softmax(x, -1)
    picked = logp.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    return (-0.9 * picked - 0.1 * logp.mean(-1)).mean()

def focal_loss(x, y):
    p = t.sigmoid(x)
    ce = F.softplus(-x) * y + F.softplus(x) * (1 - y)
    off = p * (1 - y) + (1 - p) * y
    return (ce * off * off * (0.25 * y + 0.75 * (1 - y))).mean()

def rotary(x, cos, sin):
    a, b = x[..., : D // 2], x[..., D // 2 :]
    return x * cos + t.cat([-b, a], -1) * sin

def group_norm_silu(x, weight, bias):
    groups = x.reshape(N // 16, 32, 32, 16)
    return F.silu(F.layer_norm(groups, (32, 16)).reshape(N // 16, D, 16) * weight + bias)

def adamw_clipped(p, g, m, v):
    h = g * (1 / ((g * g).sum().sqrt() + 1e-6)).clamp(max=1.0)
    m, v = m * 0.9 + h * 0.1, v * 0.999 + h * h * 0.001
    return p * 0.999 - m / (v.sqrt() + 1e-8) * 1e-3, m, v

inputs = {
    "rms_swiglu": lambda: (randn(N, D), randn(D), randn(N, D)),
    "add_layer_norm": lambda: (randn(N, D), randn(N, D), randn(D), randn(D)),
    "bias_gelu": lambda: (randn(N, D), randn(D)),
    "masked_softmax": lambda: (randn(N, D), t.rand(N, D) < 0.3),
    "norm_dropout_residual": lambda: (randn(N, D), randn(N, D), randn(D), randn(D)),
    "smooth_cross_entropy": lambda: (randn(N, D), t.randint(0, D, (N,))),
    "focal_loss": lambda: (randn(N, D), (t.rand(N, D) < 0.2).to(t.float32)),
    "rotary": lambda: (randn(N, D), t.randn(N, D), t.randn(N, D)),
    "group_norm_silu": lambda: (randn(N // 16, D, 16), randn(D, 1), randn(D, 1)),
    "adamw_clipped": lambda: tuple(t.rand(N, D) for _ in range(4)),
}[block]()
f = function = globals()[block]
start = time.perf_counter()
if side == "fused":
    f = t.fuse(f)
elif side == "compiled":
    f = t.compile(f)
result = f(*inputs)
several = isinstance(result, tuple)
ready = time.perf_counter() - start
leaves = [x for x in inputs if x.requires_grad]
if leaves:
    grad = t.randn(result.shape)
    def step():
        for x in leaves:
            x.grad = None
        f(*inputs).backward(grad)
else:
    def step():
        with t.no_grad():
            f(*inputs)
for _ in range(3):
    step()
timer = timeit.Timer(step)
count = 1 + int(0.1 / timer.timeit(1))
best = min(timer.repeat(5, count)) / count
print(json.dumps({"s": best, "ready": ready}))
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--filter", default="", help="only blocks whose name has this text")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--json", type=pathlib.Path, help="also write the rows to this file")
    arguments = parser.parse_args()
    rows = []
    print(
        f"{'ms, ratios of fused':32}"
        + "".join(f"{side:>10}" for side in SIDES)
        + "".join(f"{'/' + side:>10}" for side in SIDES[1:]),
        flush=True,
    )
    for block in [b for b in BLOCKS if arguments.filter in b]:
        # An optimizer's step has no gradient.
        for backward in (0,) if block == "adamw_clipped" else (0, 1):
            turns = {side: [] for side in SIDES}
            for _ in range(arguments.turns):
                for side in SIDES:
                    values = [side, block, arguments.threads, backward]
                    turns[side].append(measured(MEASURE, values, arguments.threads, arguments.build)["s"])
            median = {side: statistics.median(turns[side]) for side in SIDES}
            ratios = {
                side: statistics.median(own / peer for own, peer in zip(turns["fused"], turns[side]))
                for side in SIDES[1:]
            }
            name = block + (", with gradient" if backward else "")
            print(
                f"{name:32}"
                + "".join(f"{median[side] * 1e3:10.2f}" for side in SIDES)
                + "".join(f"{ratios[side]:10.2f}" for side in SIDES[1:]),
                flush=True,
            )
            rows.append({"block": block, "backward": bool(backward), "s": median, "ratios": ratios})
    for backward in (False, True):
        chosen = [row["ratios"] for row in rows if row["backward"] == backward]
        if chosen:
            means = [math.exp(statistics.mean(math.log(one[side]) for one in chosen)) for side in SIDES[1:]]
            name = "geometric mean, " + ("with gradient" if backward else "forward")
            print(f"{name:72}" + "".join(f"{mean:10.2f}" for mean in means))
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
