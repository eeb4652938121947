#!/usr/bin/env python3
"""Runs clang-tidy on the C++ files that a change touches.

    tidy.py --build build/release [--base REVISION] [--jobs N]

The change is what differs from where the branch left origin's main branch, or from the last commit but one
where there is no origin, with what is not committed. A header counts for the file of the same name beside it.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile


def git(root, *arguments):
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True)
    return done.stdout.split() if done.returncode == 0 else []


def changed_files(root, base):
    if not base:
        base = (git(root, "merge-base", "HEAD", "origin/main") or git(root, "rev-parse", "HEAD~1") or [None])[0]
    files = set(git(root, "diff", "--name-only", "--diff-filter=d", base)) if base else set(git(root, "ls-files"))
    files |= set(git(root, "ls-files", "--others", "--exclude-standard"))
    chosen = set()
    for file in files:
        path = root / file
        if path.suffix == ".h":
            path = path.with_suffix(".cpp")
        if path.suffix == ".cpp" and path.exists():
            chosen.add(str(path))
    return chosen


def commands_of_sources(build):
    """compile_commands.json with an entry for each source of those that are compiled together."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        joined = pathlib.Path(entry["file"])
        if "Unity" not in joined.parts:
            yield entry
            continue
        for source in re.findall(r'^#include "(/.*)"$', joined.read_text(), re.MULTILINE):
            yield dict(entry, file=source, command=entry["command"].replace(str(joined), source))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--base", help="revision to compare with")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    args = parser.parse_args()
    commands = list(commands_of_sources(args.build))
    files = sorted(changed_files(args.root, args.base) & {entry["file"] for entry in commands})
    folder = tempfile.TemporaryDirectory(prefix="tenon-tidy-")
    (pathlib.Path(folder.name) / "compile_commands.json").write_text(json.dumps(commands))

    def tidy(file):
        command = ["clang-tidy", "--quiet", "-p", folder.name, "--extra-arg=-Wno-unknown-warning-option", file]
        done = subprocess.run(command, capture_output=True, text=True)
        return file, done.returncode, done.stdout

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for _, code, output in pool.map(tidy, files):
            if code or "warning:" in output:
                failed += 1
                print(output, flush=True)
    print(f"tidy: {len(files)} changed files, {failed} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
