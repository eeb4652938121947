"""A step of each optimizer beside PyTorch's fastest: fused, foreach or neither.

    benchmarks/python/optimizers.py [--threads N] [--turns N] [--build FOLDER] [--json FILE] [NAME...]

Run by any Python 3, after building bench_optimizers, which takes the steps of C++. Both libraries run in build/venv-oracle, in processes that take turns; a row is the median over the turns of each
turn's best, its ratio to PyTorch's in Python the median over the turns. Parameters are 100 tensors of 10 x 10, or one of 2000 x 1000, in float32. Exit status 1
if a ratio is above its bound: 0.5 for the small tensors, 1 for the large one.
"""

import json
import statistics
import subprocess
import sys

from oracle_process import measured, options_of

OPTIONS = {
    "SGD": {"lr": 0.01, "momentum": 0.9},
    "Adam": {},
    "AdamW": {},
    "Adamax": {},
    "NAdam": {},
    "RAdam": {},
    "Adagrad": {},
    "Adadelta": {},
    "RMSprop": {},
    "Rprop": {},
    "ASGD": {},
}
BOUNDS = {"small": 0.5, "large": 1.0}

MEASURE = """
import json, sys, timeit
side, threads, cases = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
if side == "tenon":
    import tenon as lib
    ways = [{}]
else:
    import torch as lib
    ways = [{"fused": True}, {"foreach": True}, {"foreach": False}]
lib.set_num_threads(threads)
times = {}
for name, options in cases.items():
    for size, shapes in {"small": [(10, 10)] * 100, "large": [(2000, 1000)]}.items():
        best = []
        for way in ways:
            params = [lib.ones(shape, requires_grad=True) for shape in shapes]
            for p in params:
                p.grad = lib.full(p.shape, 0.1)
            try:
                step = getattr(lib.optim, name)(params, **options, **way).step
            except TypeError:
                continue  # it has no such way
            timer = timeit.Timer(step)
            timer.timeit(5)
            count = 1 + int(0.02 / timer.timeit(1))
            best.append(min(timer.repeat(7, count)) / count)
        times[f"{name} {size}"] = min(best)
print(json.dumps(times))
"""


def steps_of_cpp(options):
    """{"SGD small": seconds}, of one process of bench_optimizers."""
    command = [options.build / "benchmarks/bench_optimizers", "--threads", str(options.threads)]
    cases = map(json.loads, subprocess.check_output(command, text=True).splitlines())
    return {" ".join(case["name"].split("/")[1:]): case["best"] / 1e9 for case in cases}


def in_turns(cases, options):
    """(Python's, C++'s, PyTorch's) times, once for each turn of all three."""
    sides = [], [], []
    for _ in range(options.turns):
        for side, turns in zip(("tenon", "c++", "torch"), sides):
            arguments = [side, options.threads, json.dumps(cases)]
            turns.append(
                steps_of_cpp(options) if side == "c++" else measured(MEASURE, arguments, options.threads, options.build)
            )
    return sides


def main():
    options = options_of(__doc__)
    cases = {name: OPTIONS[name] for name in options.names or OPTIONS}
    sides = in_turns(cases, options)
    rows = {}
    print("| optimizer | 100 small, µs | C++ | PyTorch | ratios | one large, µs | C++ | PyTorch | ratios |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name in cases:
        cells = []
        for size in BOUNDS:
            python, cpp, torch = ([turn[f"{name} {size}"] for turn in turns] for turns in sides)
            ratios = [statistics.median(a / b for a, b in zip(ours, torch)) for ours in (python, cpp)]
            times = [statistics.median(side) for side in (python, cpp, torch)]
            rows[f"{name} {size}"] = {
                **dict(zip(("tenon", "c++", "torch"), times)),
                "ratio": ratios[0],
                "ratio of c++": ratios[1],
            }
            cells += [*(f"{time * 1e6:.0f}" for time in times), " and ".join(f"{ratio:.2f}" for ratio in ratios)]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    return any(max(row["ratio"], row["ratio of c++"]) > BOUNDS[name.split()[1]] for name, row in rows.items())


if __name__ == "__main__":
    sys.exit(main())
