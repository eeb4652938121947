#!/usr/bin/env python3
"""Builds with Ninja and shows one line of progress with the time left.

    build.py TREE [--jobs N] [target...]

On a terminal the line is rewritten; elsewhere a line is printed for each tenth of the work. What a command prints (warnings, errors)
is shown as it comes. The exit status is Ninja's.
"""

import argparse
import os
import re
import subprocess
import sys
import time

# Seconds of one core, about, of what a rule makes, from docs/building.md; all else takes about one. Only their ratios matter.
COSTS = [
    (re.compile(r"Unity/unity_codegen"), 12),
    (re.compile(r"Unity/|gen/(operators|autograd)_"), 7),
    (re.compile(r"gen/rowwise/|aten/cpu/|cmake_pch"), 4),
    (re.compile(r"Generating operators"), 5),
    (re.compile(r"\.cu\.o"), 15),
    (re.compile(r"Building CXX"), 2),
    (re.compile(r"Linking|Built|Copying|Creating"), 0.3),
]
STATUS = re.compile(r"^\[(\d+)/(\d+)\] (.*)$")


def cost(step):
    return next((seconds for pattern, seconds in COSTS if pattern.search(step)), 1)


def steps_of(ninja):
    """What Ninja would do: the costs of all steps. Steps that only CMake's next run knows are not among them."""
    done = subprocess.run([*ninja, "-n"], capture_output=True, text=True)
    return [cost(match[3]) for line in done.stdout.splitlines() if (match := STATUS.match(line))]


def duration(seconds):
    return f"{seconds / 60:.0f} min" if seconds > 90 else f"{seconds:.0f} s"


class Line:
    def __init__(self):
        self.terminal = sys.stdout.isatty()
        self.shown = 0
        self.tenth = 0

    def progress(self, share, text):
        if self.terminal:
            width = os.get_terminal_size().columns - 1
            line = text[:width]
            sys.stdout.write("\r" + line + " " * (self.shown - len(line)))
            self.shown = len(line)
        elif int(share * 10) > self.tenth:
            self.tenth = int(share * 10)
            sys.stdout.write(text + "\n")
        sys.stdout.flush()

    def clear(self):
        if self.terminal and self.shown:
            sys.stdout.write("\r" + " " * self.shown + "\r")
            self.shown = 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tree")
    parser.add_argument("--jobs", default="2")
    parser.add_argument("targets", nargs="*")
    arguments = parser.parse_intermixed_args()
    ninja = ["ninja", "-C", arguments.tree, "-j", arguments.jobs, *arguments.targets]
    # A run of CMake, if one is due, comes first: it may change what there is to do.
    line = Line()
    total, spent, start = 0, 0.0, time.monotonic()
    environment = dict(os.environ, NINJA_STATUS="[%f/%t] ")
    left, weighed = 1.0, False
    process = subprocess.Popen(
        ninja, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", env=environment
    )
    for text in process.stdout:
        text = text.rstrip("\n")
        match = STATUS.match(text)
        if not match:
            if not text.startswith("ninja: Entering directory"):
                line.clear()
                print(text, flush=True)
            continue
        done, count, step = int(match[1]), int(match[2]), match[3]
        if count != total:
            # Ninja has (re)planned: what is left is weighed anew.
            total, spent, start = count, 0.0, time.monotonic()
            costs = steps_of(ninja)
            # Right after CMake's run Ninja may not tell: then all steps count the same.
            weighed = 2 * len(costs) >= count - done
            left = max(sum(costs) if weighed else count - done, 1.0)
            line.tenth = 0
        spent += cost(step) if weighed else 1
        share = min(spent / left, 1.0)
        elapsed = time.monotonic() - start
        rest = f", about {duration(elapsed * (1 - share) / share)} left" if share > 0.02 and done < count else ""
        line.progress(share, f"   {share:4.0%}  {done} of {count} steps, {duration(elapsed)}{rest}")
    line.clear()
    return process.wait()


if __name__ == "__main__":
    sys.exit(main())
