#!/usr/bin/env python3
"""Compiles each public header alone.

    headers.py --build build/release [--jobs N] [--share K/N] [--all]

Every hand-written header is, or of N parts the K-th; `--share commit/N` takes another part with each commit. Of the generated per-operator
headers, which come from one template each, a sample is: one in 32 by a hash of the name. --all takes every header. A header passes when a
file that holds nothing but its include compiles without a warning.
"""

import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile
import zlib

# Tests are not asked: they may be built with a precompiled header.
FOLDERS = ("codegen/schema", "aten", "autograd", "runtime")
SAMPLED = ("tenon/ops/", "tenon/native/")


# They need headers that only their own sources find: of nvcc, of MPI.
OF_BACKENDS = ("aten/cuda/", "runtime/distributed/backends/mpi/")


def in_share(root, share):
    """Whether a header, given by its path, is of the share."""
    part, _, parts = share.partition("/")
    if part == "commit":
        part = (
            subprocess.run(
                ["git", "-C", str(root), "rev-list", "--count", "HEAD"], capture_output=True, text=True
            ).stdout
            or "0"
        )
    return lambda header: zlib.crc32(header.encode()) % int(parts) == int(part) % int(parts)


def headers_of(root, build, share, everything):
    chosen_part = in_share(root, share)
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.h")):
            relative = path.relative_to(root).as_posix()
            if not relative.startswith(OF_BACKENDS) and (everything or chosen_part(relative)):
                yield relative
    generated = ((gen, path) for gen in (build / "gen", build / "gen-modules") for path in sorted(gen.rglob("*.h")))
    for gen, path in generated:
        relative = path.relative_to(gen).as_posix()
        chosen = zlib.crc32(relative.encode()) % 32 == 0 if relative.startswith(SAMPLED) else True
        if everything or chosen:
            yield relative


def compile_alone(header, root, build, folder):
    name = header.replace("/", "_")
    source = folder / f"{name}.cpp"
    source.write_text(f'#include "{header}"\n')
    command = [os.environ.get("CXX", "g++"), "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror"]
    command += [f"-I{p}" for p in (root, build / "gen", build / "gen-modules", build / "include")]
    command.append(str(source))
    done = subprocess.run(command, capture_output=True, text=True)
    return header, done.stderr if done.returncode else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).parents[2])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--share", metavar="K/N", default="0/1", help="the K-th of N parts of the hand-written headers")
    parser.add_argument("--all", action="store_true", help="every header")
    args = parser.parse_args()
    root, build = args.root.resolve(), args.build.resolve()
    headers = list(headers_of(root, build, args.share, args.all))
    failed = 0
    with tempfile.TemporaryDirectory(prefix="tenon-headers-") as folder:
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            jobs = [pool.submit(compile_alone, h, root, build, pathlib.Path(folder)) for h in headers]
            for job in concurrent.futures.as_completed(jobs):
                header, error = job.result()
                if error:
                    failed += 1
                    print(f"{header}: [headers] does not compile alone:\n{error}", flush=True)
    print(f"headers: {len(headers)} compiled alone, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
