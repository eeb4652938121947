"""What small calls cost in Python, beside PyTorch in the same run.

    benchmarks/python/calls.py [--build FOLDER] [--json FILE]

Run by any Python 3. Tenon runs in build/venv, PyTorch in build/venv-oracle, each with one thread, in turns; a row is the median over the
turns of each turn's best. Exit status 1 if a ratio is above its bound.
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

# name: (statement, highest ratio to PyTorch's time)
ROWS = {
    "a + b": ("a + b", 0.2),
    "a * 2.0": ("a * 2.0", 0.2),
    "a.view(1)": ("a.view(1)", 0.2),
    "a[0]": ("a[0]", 0.2),
    "m @ m, 4x4": ("m @ m", 0.2),
    "empty(1)": ("lib.empty(1)", 0.2),
    "tensor(1.0)": ("lib.tensor(1.0)", 0.2),
    "item()": ("s.item()", 0.5),
    "chain of 20 and backward": ("chain(w)", 0.1),
    "_foreach_mul_, 100 of 64": ("lib._foreach_mul_(list_, 1.0)", 0.5),
    "Adam(fused=True).step(), 100 of 64": ("adam.step()", 0.5),
}

MEASURE = """
import json, sys, timeit
lib = __import__(sys.argv[1])
if sys.argv[1] == "torch":
    lib.set_num_threads(1)

def chain(w):
    y = w
    for _ in range(10):
        y = (y * w).tanh()
    y.backward()

names = dict(lib=lib, a=lib.tensor([1.0]), b=lib.tensor([2.0]), m=lib.randn(4, 4), s=lib.tensor(1.0), chain=chain)
names["w"] = lib.tensor([0.5], requires_grad=True)
list_ = [lib.randn(64).requires_grad_() for _ in range(100)]
for one in list_:
    one.grad = lib.randn(64)
names["adam"], names["list_"] = lib.optim.Adam(list_, fused=True), [one.detach() for one in list_]
times = {}
for name, (statement, _) in json.loads(sys.argv[2]).items():
    timer = timeit.Timer(statement, globals=names)
    count = 1 + int(0.02 / max(timer.timeit(20) / 20, 1e-8))
    times[name] = min(timer.repeat(5, count)) / count
print(json.dumps(times))
"""


def measure(python, library, environment):
    command = [str(python), "-c", MEASURE, library, json.dumps(ROWS)]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1", **environment}
    )
    if done.returncode != 0:
        sys.exit(f"{library} cannot be measured:\n{done.stderr}")
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--json", type=pathlib.Path, help="also write the rows to this file")
    arguments = parser.parse_args()
    ours, peers = [], []
    for _ in range(TURNS):
        ours.append(measure(ROOT / "build/venv/bin/python", "tenon", {"PYTHONPATH": str(arguments.build / "python")}))
        peers.append(measure(ROOT / "build/venv-oracle/bin/python", "torch", {}))
    rows, late = [], []
    print(f"{'':36}{'tenon ns':>10}{'torch ns':>10}{'ratio':>8}{'bound':>7}")
    for name, (_, bound) in ROWS.items():
        own, peer = (statistics.median(turn[name] for turn in turns) for turns in (ours, peers))
        print(f"{name:36}{own * 1e9:10.0f}{peer * 1e9:10.0f}{own / peer:8.3f}{bound:7.2f}")
        rows.append({"name": name, "tenon_s": own, "torch_s": peer, "ratio": own / peer, "bound": bound})
        late += [name] if own / peer > bound else []
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")
    if late:
        print("above the bound: " + ", ".join(late))
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
