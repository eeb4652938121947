#!/usr/bin/env python3
"""Generated kernels against those once written by hand: by_hand.cpp, compiled against two build folders of Tenon,
whose processes take turns on the same cores. Prints the ratio of the times, new by old, for each case, and lists those
over the limit. Either folder needs no more than the target `tenon` built, by the same compiler."""

import argparse
import json
import math
import os
import shlex
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from run import has_cases, run_program, show_time, spread  # noqa: E402

SOURCE = HERE / "by_hand.cpp"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--old", type=Path, required=True, metavar="BUILD", help="build folder of the kernels by hand")
    parser.add_argument(
        "--new", type=Path, required=True, metavar="BUILD", help="build folder of the generated kernels"
    )
    parser.add_argument("--filter", default="", metavar="REGEX", help="only cases whose name matches, e.g. '^softmax/'")
    parser.add_argument("--threads", default="1,2", help="numbers of threads, each measured (default 1,2)")
    parser.add_argument("--repetitions", type=int, default=9, help="processes of each side (default 9)")
    parser.add_argument("--quick", action="store_true", help="three short repetitions")
    parser.add_argument("--limit", type=float, default=1.05, help="ratio from which on a case is listed (default 1.05)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where the results go")
    return parser.parse_args()


def compile_against(build, out):
    """The program as that build folder's own benchmarks are compiled, linked with its library."""
    commands = json.loads((build / "compile_commands.json").read_text())
    like = next((c for c in commands if c["file"].endswith("benchmarks/reductions.cpp")), None)
    if like is None:
        raise SystemExit(f"by_hand.py: {build} is not configured with TENON_BENCHMARKS=ON")
    if Path(like["directory"]).resolve() != build:
        raise SystemExit(f"by_hand.py: {build} was configured as {like['directory']}: its headers would be another's")
    if not (build / "libtenon.so").exists():
        raise SystemExit(f"by_hand.py: {build} lacks libtenon.so: build its target `tenon`")
    words = shlex.split(like["command"])
    flags = [w for i, w in enumerate(words) if w not in ("-o", "-c", like["file"]) and words[i - 1] != "-o"]
    out.parent.mkdir(parents=True, exist_ok=True)
    command = [*flags, str(SOURCE), "-o", str(out), f"-L{build}", "-ltenon", f"-Wl,-rpath,{build}"]
    result = subprocess.run(command, cwd=like["directory"], capture_output=True, text=True)
    if result.returncode != 0:
        raise SystemExit(f"by_hand.py: by_hand.cpp does not compile against {build}:\n{result.stderr[-4000:]}")
    return [str(out)]


def measure(programs, threads, options, repetitions):
    times, best = {}, {}
    for repetition in range(repetitions):
        # The side that goes first changes, so that neither is always the one that finds the machine warm.
        for side in ["old", "new"] if repetition % 2 == 0 else ["new", "old"]:
            for name, case in run_program(programs[side], threads, options).items():
                times.setdefault(name, {"old": [], "new": []})[side].append(case["ns"])
                lowest = best.setdefault(name, {"old": math.inf, "new": math.inf})
                lowest[side] = min(lowest[side], case["best"])
    results = []
    for name, sides in times.items():
        ratios = [new / old for new, old in zip(sides["new"], sides["old"])]
        results.append(
            {
                "name": name,
                "threads": threads,
                "old_ns": statistics.median(sides["old"]),
                "new_ns": statistics.median(sides["new"]),
                "ratio": statistics.median(ratios),
                "spread": spread(ratios),
                "best_ratio": best[name]["new"] / best[name]["old"],
                "old_best_ns": best[name]["old"],
                "new_best_ns": best[name]["new"],
                "times": sides,
            }
        )
    return results


def show(r):
    print(
        f"{r['name']:40} {r['threads']:>2} {show_time(r['old_ns']):>9} {show_time(r['new_ns']):>9} "
        f"{r['ratio']:>6.2f} {100 * r['spread']:>4.0f}% {r['best_ratio']:>6.2f}",
        flush=True,
    )


HEADER = f"{'case':40} {'T':>2} {'old':>9} {'new':>9} {'ratio':>6} {'+-':>5} {'best':>6}"


def main():
    options = parse_arguments()
    repetitions = 3 if options.quick else options.repetitions
    folder = HERE.parent / "build/by-hand"
    programs = {side: compile_against(getattr(options, side).resolve(), folder / side) for side in ("old", "new")}
    if not has_cases(programs["new"], options):
        raise SystemExit(f"by_hand.py: no case matches '{options.filter}'")
    print(
        f"new: {options.new}, old: {options.old}; {os.cpu_count()} cores, {repetitions} processes of each side in turn, "
        f"load {os.getloadavg()[0]:.2f}\n\n{HEADER}",
        flush=True,
    )
    results = []
    for threads in map(int, options.threads.split(",")):
        measured = measure(programs, threads, options, repetitions)
        for result in measured:
            show(result)
        results += measured
    # A busy machine moves medians; what is slower is so as the best of all times as well.
    over = [r for r in results if r["ratio"] > options.limit and r["best_ratio"] > options.limit]
    print(
        f"\n{len(over)} of {len(results)} over {options.limit}, as median and as ratio of the best times"
        + (f":\n{HEADER}" if over else "")
    )
    for result in sorted(over, key=lambda r: -r["ratio"]):
        show(result)
    if options.json:
        options.json.write_text(json.dumps({"repetitions": repetitions, "results": results}, indent=1))


if __name__ == "__main__":
    main()
