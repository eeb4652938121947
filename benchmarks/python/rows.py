"""What row operators of one's own cost with their gradients, beside PyTorch's operators and torch.compile of the same formulas,
and the memory that they take.

    benchmarks/python/rows.py [--threads N] [--turns N] [--build FOLDER] [--json FILE]

Run by any Python 3. All run in build/venv-oracle, in processes that take turns; a row is the median over the turns of each
turn's best, its ratios the medians over the turns. Peak memory is what the process grew by from before its first call, inputs
excluded, in MiB. Exit status 1 if a ratio is above its bound.
"""

import argparse
import json
import pathlib
import statistics
import sys

from oracle_process import ROOT, measured

SIDES = ("tenon", "operators", "compiled")  # Tenon, and PyTorch's in two ways
# case: the highest ratio of times to PyTorch's operators, and to torch.compile; of memory to PyTorch's operators
BOUNDS = {"RMS norm with weight, 4096x1024": (0.12, 0.4, None), "cross-entropy, 2048x32000": (0.25, 0.4, 0.5)}

MEASURE = """
import json, resource, sys, timeit
side, case, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
YAML = '''
- func: measured::rms_norm(Tensor self, Tensor weight, float eps=1e-06) -> Tensor
  over: -1
  columns: weight
  rowwise: self * rsqrt(mean(square(self)) + eps) * weight

- func: measured::cross_entropy(Tensor self, Tensor target) -> Tensor
  over: -1
  rows: target
  rowwise: t = self - detach(max(self)); log(sum(exp(t))) - pick(t, target)
'''
if side == "tenon":
    import tenon as lib
    rms_norm, cross_entropy = lib.load_operators(YAML).rms_norm, lib.load_operators(YAML).cross_entropy
else:
    import torch as lib
    def rms_norm(x, weight):
        return x * lib.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * weight
    def cross_entropy(x, target):
        return lib.nn.functional.cross_entropy(x, target, reduction="none")
    if side == "compiled":
        rms_norm, cross_entropy = lib.compile(rms_norm), lib.compile(cross_entropy)
lib.set_num_threads(threads)
lib.manual_seed(1)
if case.startswith("RMS"):
    x, weight, grad = lib.randn(4096, 1024), lib.randn(1024), lib.randn(4096, 1024)
    weight.requires_grad_()
    f = lambda: rms_norm(x, weight)
else:
    x, target, grad = lib.randn(2048, 32000), lib.randint(0, 32000, (2048,)), lib.randn(2048)
    f = lambda: cross_entropy(x, target)
x.requires_grad_()

def step():
    x.grad = None
    if case.startswith("RMS"):
        weight.grad = None
    f().backward(grad)

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

before = peak()
step()
grown = peak() - before
timer = timeit.Timer(step)
timer.timeit(2)
count = 1 + int(0.2 / timer.timeit(1))
print(json.dumps({"s": min(timer.repeat(3, count)) / count, "mb": grown, "sum": float(f().sum().item())}))
"""


def measure(side, case, threads, build):
    return measured(MEASURE, [side, case, threads], threads, build)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--json", type=pathlib.Path, help="also write the rows to this file")
    arguments = parser.parse_args()
    rows, late = [], []
    print(
        f"{'ms, MiB, ratios':34}{'tenon':>8}{'torch':>8}{'compile':>8}{'/torch':>8}{'/compile':>9}{'MiB':>7}{'torch':>7}{'compile':>8}"
    )
    for case, bounds in BOUNDS.items():
        turns = {side: [] for side in SIDES}
        for _ in range(arguments.turns):
            for side in SIDES:
                turns[side].append(measure(side, case, arguments.threads, arguments.build))
        median = {side: statistics.median(turn["s"] for turn in turns[side]) for side in SIDES}
        memory = {side: statistics.median(turn["mb"] for turn in turns[side]) for side in SIDES}
        ratios = [
            statistics.median(own["s"] / peer["s"] for own, peer in zip(turns["tenon"], turns[side]))
            for side in SIDES[1:]
        ]
        ratios.append(memory["tenon"] / memory["operators"])
        print(
            f"{case:34}"
            + "".join(f"{median[side] * 1e3:8.2f}" for side in SIDES)
            + f"{ratios[0]:8.3f}{ratios[1]:9.3f}"
            + f"{memory['tenon']:7.0f}{memory['operators']:7.0f}{memory['compiled']:8.0f}"
        )
        rows.append({"case": case, "threads": arguments.threads, "s": median, "mib": memory, "ratios": ratios})
        late += [case for ratio, bound in zip(ratios, bounds) if bound and ratio > bound]
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")
    if late:
        print("above the bound: " + ", ".join(late))
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
