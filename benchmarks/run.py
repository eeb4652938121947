#!/usr/bin/env python3
"""Measures Tenon against PyTorch: the same sources compiled against both, run in turn on the same cores.

Run it with the Python that has `torch`; ./tenon bench does. Prints a table and writes build/bench.json.
"""

import argparse
import json
import math
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import edit_to_run  # noqa: E402
import generator  # noqa: E402
import peer  # noqa: E402
from targets import AT_CEILING, BESIDE, Ceilings, target_of  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = [
    "attention",
    "calls",
    "own_operator",
    "own_rows",
    "pointwise",
    "operators",
    "everyday",
    "reductions",
    "products",
    "training",
]
# PyTorch has these only in Python: its side is a script.
SCRIPTS = ["files", "checkpoint"]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--filter", default="", metavar="REGEX", help="only cases whose name matches")
    parser.add_argument("--quick", action="store_true", help="three short repetitions")
    parser.add_argument("--repetitions", type=int, default=9, help="processes of each side (default 9)")
    parser.add_argument("--threads", default="1,2", help="numbers of threads, each measured (default 1,2)")
    parser.add_argument("--build", type=Path, default=ROOT / "build/release", help="Tenon's build tree")
    parser.add_argument("--json", type=Path, default=ROOT / "build/bench.json", help="where the results go")
    parser.add_argument("--no-generator", action="store_true", help="do not time the generator")
    parser.add_argument(
        "--edit-to-run", action="store_true", help="also time adding an operator; edits the YAML meanwhile"
    )
    return parser.parse_args()


def environment(threads):
    """No setting of the surroundings may favour a side."""
    env = {k: v for k, v in os.environ.items() if not re.match(r"(OPENBLAS_|OMP_|MKL_|KMP_|GOMP_|DNNL_|ONEDNN_)", k)}
    env["OMP_NUM_THREADS"] = env["MKL_NUM_THREADS"] = str(threads)
    return env


def pinned(threads):
    if not shutil.which("taskset"):
        return []
    cores = sorted(os.sched_getaffinity(0))[:threads]
    return ["taskset", "--cpu-list", ",".join(map(str, cores))]


def run_program(program, threads, options):
    command = [*pinned(threads), *program, "--threads", str(threads), "--filter", options.filter]
    if options.quick:
        command.append("--quick")
    result = subprocess.run(command, capture_output=True, text=True, env=environment(threads))
    if result.returncode != 0:
        raise SystemExit(f"run.py: {' '.join(program)} failed:\n{result.stdout[-1000:]}{result.stderr[-2000:]}")
    return {r["name"]: r for r in map(json.loads, result.stdout.splitlines())}


def has_cases(program, options):
    result = subprocess.run(
        [*program, "--list", "--filter", options.filter], capture_output=True, text=True, env=environment(1)
    )
    return bool(result.stdout.strip())


def spread(values):
    """Half the distance between the quartiles, relative to the median."""
    if len(values) < 3:
        return 0.0
    low, middle, high = statistics.quantiles(values, n=4)
    return (high - low) / 2 / middle


def show_time(ns):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.3g} ns"


class Measurement:
    """One case with one number of threads: times of both sides, process by process."""

    def __init__(self, case, threads):
        self.case = case
        self.threads = threads
        self.times = {"tenon": [], "torch": []}
        self.best = {"tenon": math.inf, "torch": math.inf}

    def add(self, side, case):
        self.times[side].append(case["ns"])
        self.best[side] = min(self.best[side], case["best"])

    def result(self, ceilings):
        ours, theirs = (statistics.median(self.times[side]) for side in ("tenon", "torch"))
        # Neighbours in time see the same machine: the ratio is taken pair by pair.
        ratio = statistics.median(a / b for a, b in zip(self.times["tenon"], self.times["torch"]))
        target, wanted_share = target_of(self.case["name"])
        share, ceiling = ceilings.share(self.case, ours)
        met = target is None or (ratio <= target and (wanted_share is None or share is None or share >= wanted_share))
        return {
            "name": self.case["name"],
            "threads": self.threads,
            "tenon_ns": ours,
            "torch_ns": theirs,
            "tenon_spread": spread(self.times["tenon"]),
            "torch_spread": spread(self.times["torch"]),
            "ratio": ratio,
            "tenon_best_ns": self.best["tenon"],
            "torch_best_ns": self.best["torch"],
            "best_ratio": self.best["tenon"] / self.best["torch"],
            "target": target,
            "target_share": wanted_share,
            "share": share,
            "ceiling": ceiling,
            "met": met,
            "memory": self.case.get("memory"),
            "times": self.times,
        }


HEADER = f"{'case':36} {'T':>2} {'tenon':>9} {'+-':>4} {'torch':>9} {'+-':>4} {'ratio':>6} {'best':>6} {'target':>6}  {'of ceiling':18}"


def show(r):
    target = f"{r['target']:.2f}" if r["target"] else ""
    share = f"{100 * r['share']:3.0f} % of {r['ceiling']}" if r["share"] else ""
    verdict = "" if r["target"] is None else "met" if r["met"] else "MISSED"
    if verdict == "MISSED" and r["ratio"] > r["target"] and (r["share"] or 0) >= AT_CEILING:
        verdict += ", at the ceiling"
    print(
        f"{r['name']:36} {r['threads']:>2} {show_time(r['tenon_ns']):>9} {100 * r['tenon_spread']:>3.0f}% "
        f"{show_time(r['torch_ns']):>9} {100 * r['torch_spread']:>3.0f}% {r['ratio']:>6.3f} {r['best_ratio']:>6.3f} {target:>6}  {share:22} {verdict}",
        flush=True,
    )


def show_beside(results):
    """What one case takes of another, beside its bounds."""
    by_name = {r["name"]: r for r in results}
    for name, other, most_time, most_memory in BESIDE:
        if name not in by_name or other not in by_name:
            continue
        # Process by process: neighbours in time see the same machine.
        time = statistics.median(
            a / b for a, b in zip(by_name[name]["times"]["tenon"], by_name[other]["times"]["tenon"])
        )
        memory = by_name[name]["memory"] / by_name[other]["memory"]
        verdict = "met" if time <= most_time and memory <= most_memory else "MISSED"
        print(
            f"{name}: {time:.3f} of the time of {other}, at most {most_time}, and {memory:.3f} of its "
            f"{by_name[other]['memory'] / 2**20:.0f} MiB, at most {most_memory}: {verdict}"
        )


def measure_threads(threads, programs, options, repetitions):
    """All programs with one number of threads; prints each case as it is done."""
    ceiling_binary = options.build / "benchmarks/bench_ceilings"
    ceiling_options = argparse.Namespace(filter="", quick=options.quick)
    runs = (
        [run_program([str(ceiling_binary)], threads, ceiling_options) for _ in range(3)]
        if ceiling_binary.exists()
        else []
    )
    ceilings = Ceilings(runs)
    for what, rates in (("copy", ceilings.copies), ("read", ceilings.reads)):
        for size, rate in rates:
            print(f"ceiling, T={threads}: {what}, {int(size) >> 10} KiB in all: {rate:.0f} GB/s")
    if ceilings.flops:
        print(f"ceiling, T={threads}: {ceilings.flops:.0f} GFLOP/s")
    results = []
    for sides in programs:
        measurements = {}
        for repetition in range(repetitions):
            # The side that goes first changes, so that neither is always the one that finds the machine warm.
            order = ["tenon", "torch"] if repetition % 2 == 0 else ["torch", "tenon"]
            for side in order:
                for name, case in run_program(sides[side], threads, options).items():
                    measurement = measurements.setdefault(name, Measurement(case, threads))
                    measurement.add(side, case)
        ceilings.take_files(measurements)
        for measurement in measurements.values():
            if measurement.times["tenon"] and measurement.times["torch"]:
                results.append(measurement.result(ceilings))
                show(results[-1])
    show_beside(results)
    return results, {"flops": ceilings.flops, "copies": ceilings.copies, "reads": ceilings.reads}


def processor():
    """The processor's name, and the widest vectors it has, as Linux tells them."""
    try:
        lines = [line.split(":", 1) for line in Path("/proc/cpuinfo").read_text().splitlines() if ":" in line]
    except OSError:
        return platform.processor() or platform.machine()
    facts = {key.strip(): value.strip() for key, value in reversed(lines)}
    flags = facts.get("flags", "").split()
    vectors = next((name for name in ("avx512f", "avx2", "sse4_1") if name in flags), platform.machine())
    family = f"family {facts['cpu family']}, model {facts['model']}, " if "cpu family" in facts else ""
    return f"{facts.get('model name', platform.machine())} ({family}{vectors})"


def show_summary(results):
    """All cases in one figure, and those that take longer than PyTorch's."""
    ratios = [r["ratio"] for r in results]
    print(f"geometric mean of {len(ratios)} ratios: {statistics.geometric_mean(ratios):.3f}")
    slower = sorted((r for r in results if r["ratio"] > 1.05), key=lambda r: -r["ratio"])
    for r in slower:
        print(f"over 1.05: {r['name']}, T={r['threads']}: {r['ratio']:.2f}")


def main():
    options = parse_arguments()
    options.build = options.build.resolve()
    repetitions = 3 if options.quick else options.repetitions
    missing = [n for n in PROGRAMS + SCRIPTS if not (options.build / f"benchmarks/bench_{n}").exists()]
    if missing:
        raise SystemExit(f"run.py: {options.build}/benchmarks lacks {', '.join(missing)}; run ./tenon build release")
    tenon_side = {n: [str(options.build / f"benchmarks/bench_{n}")] for n in (*PROGRAMS, *SCRIPTS)}
    tenon_side = {n: command for n, command in tenon_side.items() if has_cases(command, options)}
    if not tenon_side:
        raise SystemExit(f"run.py: no case matches --filter {options.filter}")
    print("compiling PyTorch's side where it changed ...", flush=True)
    torch_binaries, version = peer.build([n for n in PROGRAMS if n in tenon_side], ROOT / "build/bench-torch")
    torch_side = {n: [str(b)] for n, b in torch_binaries.items()}
    torch_side |= {n: [sys.executable, str(ROOT / f"benchmarks/{n}.py")] for n in SCRIPTS}
    programs = [{"tenon": command, "torch": torch_side[n]} for n, command in tenon_side.items()]

    print(
        f"Tenon against PyTorch {version}; {processor()}, {os.cpu_count()} cores; "
        f"{repetitions} processes of each side in turn; load {os.getloadavg()[0]:.2f}\n\n{HEADER}"
    )
    results, ceilings = [], {}
    for threads in map(int, options.threads.split(",")):
        measured, ceilings[threads] = measure_threads(threads, programs, options, repetitions)
        results += measured
        print()
    record = {
        "torch": version,
        "processor": processor(),
        "time": time.strftime("%Y-%m-%dT%H:%M:%S"),
        "repetitions": repetitions,
        "ceilings": ceilings,
        "results": results,
    }

    if not options.no_generator and not options.filter:
        record["generator"] = generator.measure(options.build, repetitions)
        for what, seconds, target, note in generator.report(record["generator"]):
            print(f"{what}: {seconds:.2f} s, target {target} s, {'met' if seconds < target else 'MISSED'}  {note}")
    if options.edit_to_run:
        record["edit_to_run"] = edit_to_run.measure(options.build)
        edit = record["edit_to_run"]["pointwise"]
        verdict = "met" if edit["seconds"] < edit_to_run.TARGET_SECONDS and not edit["kernels_recompiled"] else "MISSED"
        print(
            f"edit -> linked -> run: {edit['seconds']:.1f} s, target {edit_to_run.TARGET_SECONDS:.0f} s, {verdict}; "
            f"{len(edit['compiled'])} files compiled, {len(edit['kernels_recompiled'])} of them kernels"
        )

    show_summary(results)
    missed = [r for r in results if not r["met"]]
    wanted = [r for r in results if r["target"] is not None]
    print(f"{len(wanted) - len(missed)} of {len(wanted)} targets met")
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(record, indent=1))
    print(f"written: {options.json}")


if __name__ == "__main__":
    main()
