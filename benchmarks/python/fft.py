"""Fourier transforms beside PyTorch's.

    benchmarks/python/fft.py [--threads N] [--turns N] [--build FOLDER] [--json FILE] [CASE...]

Run by any Python 3. Both libraries run in build/venv-oracle, in processes that take turns and measure all cases; a row is the median
over the turns of each turn's best, its ratio the median over the turns. Cases are those whose names contain a CASE, by default all.
"""

import argparse
import json
import pathlib
import statistics

from oracle_process import ROOT, measured

# name: function of tenon.fft or torch.fft, sizes, whether the input is complex
CASES = {
    "fft 1024": ("fft", [1024], True),
    "fft 16384": ("fft", [16384], True),
    "fft 131072": ("fft", [131072], True),
    "fft 1048576": ("fft", [1048576], True),
    "fft 1009, a prime": ("fft", [1009], True),
    "fft 65537, a prime": ("fft", [65537], True),
    "fft 1000": ("fft", [1000], True),
    "fft 64 x 1024": ("fft", [64, 1024], True),
    "fft 1024 x 64": ("fft", [1024, 64], True),
    "fft 4096 x 1000": ("fft", [4096, 1000], True),
    "fft 512 x 1009": ("fft", [512, 1009], True),
    "fft2 64 x 64": ("fft2", [64, 64], True),
    "fft2 512 x 512": ("fft2", [512, 512], True),
    "fftn 64 x 64 x 64": ("fftn", [64, 64, 64], True),
    "fft of real 64 x 1024": ("fft", [64, 1024], False),
    "rfft 1024": ("rfft", [1024], False),
    "rfft 1048576": ("rfft", [1048576], False),
    "rfft 1024 x 512": ("rfft", [1024, 512], False),
    "rfft2 512 x 512": ("rfft2", [512, 512], False),
    "irfft 513": ("irfft", [513], True),
    "irfft 1024 x 257": ("irfft", [1024, 257], True),
    "irfft2 512 x 257": ("irfft2", [512, 257], True),
}

MEASURE = """
import json, sys, timeit
side, threads, cases = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
if side == "tenon":
    import tenon as lib
else:
    import torch as lib
lib.set_num_threads(threads)
lib.manual_seed(1)
times = {}
for name, (function, sizes, is_complex) in cases.items():
    f = getattr(lib.fft, function)
    x = lib.randn(sizes, dtype=lib.complex64 if is_complex else lib.float32)
    timer = timeit.Timer(lambda: f(x))
    timer.timeit(2)
    count = 1 + int(0.02 / timer.timeit(1))
    times[name] = min(timer.repeat(7, count)) / count
print(json.dumps(times))
"""


def measure(side, cases, threads, build):
    return measured(MEASURE, [side, threads, json.dumps(cases)], threads, build)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--json", type=pathlib.Path, help="also write the rows to this file")
    parser.add_argument("cases", nargs="*", metavar="CASE")
    arguments = parser.parse_args()
    wanted = arguments.cases or [""]
    cases = {name: case for name, case in CASES.items() if any(text in name for text in wanted)}
    turns = {"tenon": [], "torch": []}
    for _ in range(arguments.turns):
        for side, times in turns.items():
            times.append(measure(side, cases, arguments.threads, arguments.build))
    rows = []
    print(f"{'microseconds':26}{'tenon':>12}{'torch':>12}{'ratio':>8}")
    for name in cases:
        tenon, torch = ([times[name] for times in turns[side]] for side in ("tenon", "torch"))
        ratio = statistics.median(own / peer for own, peer in zip(tenon, torch))
        rows.append({"case": name, "threads": arguments.threads, "s": statistics.median(tenon), "ratio": ratio})
        print(f"{name:26}{statistics.median(tenon) * 1e6:12.1f}{statistics.median(torch) * 1e6:12.1f}{ratio:8.2f}")
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
