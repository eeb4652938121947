"""A measurement in a process of the oracle's environment, which has PyTorch beside Tenon."""

import argparse
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def measured(script, arguments, threads, build):
    """What the script prints as JSON. sys.argv[1] is the side, "tenon" or "torch"; the rest are the other arguments."""
    command = [str(ROOT / "build/venv-oracle/bin/python"), "-c", script, *map(str, arguments)]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "PYTHONPATH": str(build / "python")}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        sys.exit(f"{arguments[0]} cannot be measured:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def options_of(description):
    """The command line of a program that measures cases by their names."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--json", type=pathlib.Path)
    return parser.parse_args()


def measured_in_turns(script, cases, options):
    """(Tenon's, PyTorch's): what measured() gives for the cases, once for each turn of both."""
    sides = {"tenon": [], "torch": []}
    for _ in range(options.turns):
        for side, turns in sides.items():
            turns.append(measured(script, [side, options.threads, json.dumps(cases)], options.threads, options.build))
    return tuple(sides.values())
