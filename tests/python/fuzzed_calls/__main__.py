"""Random calls of every operator in PyTorch and in Tenon: the rows of tests/ops/samples, changed argument by argument. Ends with 1
if Tenon crashes, hangs, or gives something else than PyTorch, and with 77, which CTest shows as skipped, without PyTorch.

    ./tenon conformance --fuzz 10000 --seed 7 [operators or families...]
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
    sys.path += [str(ROOT / "tests"), str(ROOT / "tests" / "ops")]
    __package__ = "fuzzed_calls"
    __import__("oracle_environment").enter()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="operators or families of rows, all without")
    parser.add_argument("--fuzz", metavar="N", type=int, default=1000, help="how many calls")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, action="append", help="only the call of this number")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--seconds", type=float, default=20, help="a call that takes longer hangs")
    parser.add_argument("--kinds", help="only these kinds of findings, divided by commas")
    parser.add_argument("--details", type=int, default=2, help="calls to show of each operator and kind")
    parser.add_argument("--whole", action="store_true", help="do not look for smaller calls")
    parser.add_argument("--log", action="store_true", help="print findings as they come")
    return parser.parse_args()


def main():
    options = arguments()
    try:
        import torch  # noqa: F401
        from conformance.subject import Subject

        subject = Subject("tenon")
    except ModuleNotFoundError as error:
        print(f"skipped: {error}")
        return 77
    from . import campaign, table
    from .calls import Bases, drawn_call

    bases = Bases(options.names)
    numbers = options.only or range(options.fuzz)
    calls = [(i, lambda i=i: drawn_call(bases, options.seed, i)) for i in numbers]
    results = campaign.run(subject, calls, options.jobs, options.seconds, progress=options.log and table.logged)
    kinds = options.kinds.split(",") if options.kinds else None
    findings = [r for r in results if r[2] not in ("agree", "left out") and (not kinds or r[2] in kinds)]
    chosen = table.some_of_each(findings, options.details)
    if not options.whole:
        chosen = campaign.smallest(subject, bases, options.seed, chosen, options.jobs, options.seconds)
    print(table.text(results, findings, chosen, bases, options.seed))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
