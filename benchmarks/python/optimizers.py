"""A step of each optimizer beside PyTorch's fastest: fused, foreach or neither.

    benchmarks/python/optimizers.py [--threads N] [--turns N] [--build FOLDER] [--json FILE] [NAME...]

Run by any Python 3. Both libraries run in build/venv-oracle, in processes that take turns; a row is the median over the turns of each
turn's best, its ratio the median over the turns. Parameters are 100 tensors of 10 x 10, or one of 2000 x 1000, in float32. Exit status 1
if a ratio is above its bound: 0.5 for the small tensors, 1 for the large one.
"""

import json
import statistics
import sys

from oracle_process import measured_in_turns, options_of

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


def main():
    options = options_of(__doc__)
    cases = {name: OPTIONS[name] for name in options.names or OPTIONS}
    sides = measured_in_turns(MEASURE, cases, options)
    rows = {}
    print("| optimizer | 100 small, µs | PyTorch | ratio | one large, µs | PyTorch | ratio |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name in cases:
        cells = []
        for size in BOUNDS:
            ours, theirs = ([turn[f"{name} {size}"] for turn in turns] for turns in sides)
            ratio = statistics.median(a / b for a, b in zip(ours, theirs))
            rows[f"{name} {size}"] = {
                "tenon": statistics.median(ours),
                "torch": statistics.median(theirs),
                "ratio": ratio,
            }
            cells += [f"{statistics.median(ours) * 1e6:.0f}", f"{statistics.median(theirs) * 1e6:.0f}", f"{ratio:.2f}"]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    return any(row["ratio"] > BOUNDS[name.split()[1]] for name, row in rows.items())


if __name__ == "__main__":
    sys.exit(main())
