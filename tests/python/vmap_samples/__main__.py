"""vmap of every operator beside a loop over the batch, for the samples of PyTorch's op_db: each tensor argument batched alone, pairs of
them and all, the batch in front or behind. Values, gradients, several cotangents at once, forward mode, changes in place and two
levels are compared, all computed by Tenon. Ends with 1 if something differs, and with 77, which CTest shows as skipped, without PyTorch.

    PYTHONPATH=build/release/python build/venv-oracle/bin/python -B tests/python/vmap_samples add nn.functional.conv2d
"""

import argparse
import os
import sys
from pathlib import Path

# Before the libraries start threads: children are forked.
for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]

if __name__ == "__main__" and not __package__:
    sys.path[0] = str(HERE.parent)  # and not this folder, whose files are a package's
    sys.path.append(str(ROOT / "tests"))
    __package__ = "vmap_samples"
    __import__("oracle_environment").enter()


def arguments(checks):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="names of entries, all without")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--max-samples", type=int, help="of each dtype")
    parser.add_argument(
        "--share", metavar="K/N", help="only the K-th of N parts; `commit/N`: another part with each commit"
    )
    parser.add_argument("--checks", default=",".join(checks), help=f"some of {','.join(checks)}")
    parser.add_argument("--dtypes", default="float64,float32,complex128,int64,bool", help="by names, in order")
    parser.add_argument("--seconds", type=float, default=120, help="for one entry; samples after that are cut")
    parser.add_argument("--details", type=int, default=2, help="reasons to print for each entry")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "vmap_samples", help="folder of the tables")
    return parser.parse_args()


def chosen(entries, options):
    from conformance.__main__ import share_of
    from conformance.checks import full_name

    if options.names:
        found = [op for op in entries if op.name in options.names or full_name(op) in options.names]
        unknown = set(options.names) - {op.name for op in found} - {full_name(op) for op in found}
        if unknown:
            sys.exit(f"vmap_samples: no entry for {', '.join(sorted(unknown))}")
        return found
    if options.share:
        part, parts = share_of(options.share)
        return entries[part::parts]
    return entries


def main():
    try:
        import torch
        from torch.testing._internal.common_methods_invocations import op_db
    except ImportError as error:
        print(f"skipped: {error}: ./tenon setup --oracle makes an environment with PyTorch and what its tests need")
        return 77
    from conformance import runner
    from conformance.checks import full_name
    from conformance.subject import Subject

    from . import table
    from .checks import CHECKS, Entry

    options = arguments(CHECKS)
    subject = Subject("tenon")
    __import__("tenon.func")
    Entry.checks = tuple(options.checks.split(","))
    Entry.dtypes = tuple(getattr(torch, name) for name in options.dtypes.split(","))
    Entry.budget = options.seconds
    entries = {
        full_name(op): op for op in op_db if not op.name.startswith(("_refs", "ops.", "sparse.")) and subject.has(op)
    }
    run = chosen([entries[name] for name in sorted(entries)], options)
    progress = None
    if sys.stderr.isatty():
        progress = lambda name, done: print(f"\r{done}/{len(run)} {name:50.50}", end="", file=sys.stderr, flush=True)  # noqa: E731
    # A child that does not end by itself hangs in one sample.
    results = runner.run(run, subject, options.jobs, options.max_samples, progress, Entry, 2 * options.seconds)
    table.write(options.out, results)
    print("\n" if progress else "", table.text(results, options.details), sep="", end="")
    print(f"tables: {options.out}/vmap.txt, .json")
    return 1 if any(table.verdict(result) in table.BAD for result in results.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
