"""Transforms of functions beside torch.func: gradients of each sample, Jacobians, Hessians, ensembles, an autograd.Function.

    benchmarks/python/transforms.py [--threads N] [--turns N] [--build FOLDER] [--json FILE] [NAME...]

Run by any Python 3. Both libraries run in build/venv-oracle, in processes that take turns; a row is the median over the turns of each
turn's median call, its ratio the median over the turns. The network is Linear(64, 64), ReLU, Linear(64, 10), in float32. Exit status 1 if a
ratio is above its bound.
"""

import json
import statistics
import sys

from oracle_process import measured_in_turns, options_of

BOUNDS = {
    "per_sample": 0.3,
    "jacrev": 0.3,
    "jacfwd": 1.0,
    "hessian": 0.3,
    "ensemble": 1.0,
    "vmap_pointwise": 1.0,
    "vjp": 1.0,
}

MEASURE = """
import json, statistics, sys, time, warnings
warnings.simplefilter("ignore")
side, threads, names = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
lib = __import__(side)
func = __import__(f"{side}.func").func
lib.set_num_threads(threads)
lib.manual_seed(0)
nn, F = lib.nn, lib.nn.functional
net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
params = {name: p.detach() for name, p in net.named_parameters()}
x, y = lib.randn(128, 64), lib.randint(0, 10, (128,))
nets = [nn.Linear(64, 10) for _ in range(16)]
stacked, _ = func.stack_module_state(nets)
stacked = {name: p.detach() for name, p in stacked.items()}
frozen = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10)).requires_grad_(False)


def loss(params, x, y):
    return F.cross_entropy(func.functional_call(net, params, (x.unsqueeze(0),)), y.unsqueeze(0))


per_sample = lib.vmap(func.grad(loss), (None, 0, 0))
jacrev, jacfwd = func.jacrev(frozen), func.jacfwd(frozen)
hessian = func.hessian(lambda v: frozen(v).square().sum())
ensemble = lib.vmap(lambda p, v: func.functional_call(nets[0], p, (v,)), (0, None))
pointwise = lib.vmap(lambda a, b: (a * b).sin() + a)
cases = {
    "per_sample": lambda: per_sample(params, x, y),
    "jacrev": lambda: jacrev(x[0]),
    "jacfwd": lambda: jacfwd(x[0]),
    "hessian": lambda: hessian(x[0]),
    "ensemble": lambda: ensemble(stacked, x),
    "vmap_pointwise": lambda: pointwise(x, x),
    "vjp": lambda: func.vjp(frozen, x[0])[1](lib.ones(10)),
}
times = {}
for name in names:
    # Single calls, for on a busy machine a mean of many has the others' time in it.
    case, calls, end = cases[name], [], time.perf_counter() + 0.4
    while time.perf_counter() < end or len(calls) < 20:
        start = time.perf_counter()
        case()
        calls.append(time.perf_counter() - start)
    times[name] = statistics.median(calls[5:])
print(json.dumps(times))
"""


def main():
    options = options_of(__doc__)
    names = options.names or list(BOUNDS)
    sides = measured_in_turns(MEASURE, names, options)
    rows = {}
    print("| case | Tenon, µs | PyTorch, µs | ratio | bound |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name in names:
        ours, theirs = ([turn[name] for turn in turns] for turns in sides)
        ratio = statistics.median(a / b for a, b in zip(ours, theirs))
        rows[name] = {"tenon": statistics.median(ours), "torch": statistics.median(theirs), "ratio": ratio}
        times = (f"{statistics.median(side) * 1e6:.0f}" for side in (ours, theirs))
        print(f"| {name} | {' | '.join(times)} | {ratio:.2f} | {BOUNDS[name]} |", flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    return any(row["ratio"] > BOUNDS[name] for name, row in rows.items())


if __name__ == "__main__":
    sys.exit(main())
