"""Compares Tenon's Python module with PyTorch, entry by entry of op_db. Ends with 1 where something that agreed by
baseline.json does not any more, and with 77, which CTest shows as skipped, where PyTorch or the module is missing."""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

# Before the libraries start threads: children are forked.
for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
BASELINE = HERE / "baseline.json"
SKIPPED = 77  # CTest's, as in tests/oracle_environment.py

if __name__ == "__main__" and not __package__:
    sys.path[0] = str(HERE.parent)  # and not this folder, whose files are a package's
    sys.path.append(str(ROOT / "tests"))
    __package__ = "conformance"
    __import__("oracle_environment").enter()


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="names of entries, all without")
    parser.add_argument(
        "--share", metavar="K/N", help="only the K-th of N parts; `commit/N` takes another part with each commit"
    )
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--max-samples", type=int, help="of each dtype, where a quick look is enough")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "conformance", help="folder of the tables")
    parser.add_argument("--accept", action="store_true", help="write the baseline and docs/conformance.md")
    parser.add_argument("--module", default="tenon", help="the module to compare with PyTorch")
    return parser.parse_args()


def share_of(text):
    part, _, parts = text.partition("/")
    if part == "commit":
        part = (
            subprocess.run(
                ["git", "-C", str(ROOT), "rev-list", "--count", "HEAD"], capture_output=True, text=True
            ).stdout
            or "0"
        )
    return int(part) % int(parts), int(parts)


def operators():
    """Base names of Tenon's operators that are not of its own."""
    names = re.findall(r"^- (?:func|alias): (\w+)", (ROOT / "native_functions.yaml").read_text(), re.M)
    return {n for n in names if not n.startswith("_") and not n.endswith("_backward")}


def main():
    options = arguments()
    try:
        import torch
        from torch.testing._internal.common_methods_invocations import op_db
    except ImportError as error:
        skip(f"{error}: ./tenon setup --oracle makes an environment with PyTorch and what its tests need")
    try:
        from .subject import Subject

        subject = Subject(options.module)
    except ModuleNotFoundError as error:
        if error.name != options.module:
            raise
        skip(f"{error}: ./tenon build python makes the module, PYTHONPATH names its folder")
    import json

    from . import runner, table
    from .checks import full_name

    known = operators()
    base = lambda op: op.name.rpartition(".")[2]  # noqa: E731
    # linalg.norm is not norm, and nn.functional.unfold not unfold: PyTorch's name of the operator says so.
    of_ours = lambda op: op.aten_name in known or op.aten_name == op.name and base(op) in known  # noqa: E731
    entries = [
        op for op in op_db if not op.name.startswith(("_refs", "ops.", "sparse.")) and (of_ours(op) or subject.has(op))
    ]
    entries.sort(key=full_name)
    # The same name twice: the same entry under other decorations.
    entries = list({full_name(op): op for op in entries}.values())
    chosen = entries
    if options.names:
        chosen = [op for op in entries if op.name in options.names or full_name(op) in options.names]
        unknown = set(options.names) - {op.name for op in chosen} - {full_name(op) for op in chosen}
        if unknown:
            sys.exit(f"conformance: no entry for {', '.join(sorted(unknown))}")
    elif options.share:
        part, parts = share_of(options.share)
        chosen = entries[part::parts]
    uncovered = sorted(
        known
        - {base(op) for op in entries}
        - {op.aten_name for op in entries}
        - {alias.name.rpartition(".")[2] for op in entries for alias in op.aliases}
    )

    progress = (
        (lambda name, done: print(f"\r{done}/{len(chosen)} {name:50.50}", end="", flush=True))
        if sys.stdout.isatty()
        else None
    )
    results = runner.run(chosen, subject, options.jobs, options.max_samples, progress)
    if progress:
        print()
    table.write(options.out, results, uncovered)
    report = table.text(results, uncovered)
    print(report if options.names else report.split("\n\n")[0])
    print(f"tables: {options.out}/conformance.txt, .html, .json")

    baseline = json.loads(BASELINE.read_text()) if BASELINE.exists() else {}
    if options.accept:
        partial = options.names or options.share
        kept = baseline if partial else {}
        kept.update({name: table.agreeing(result) for name, result in results.items()})
        lines = [f" {json.dumps(name)}: {json.dumps(checks)}" for name, checks in sorted(kept.items()) if checks]
        BASELINE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
        if not partial:
            (ROOT / "docs" / "conformance.md").write_text(
                table.page(results, uncovered, torch.__version__.partition("+")[0])
            )
        return 0
    lost = [] if options.max_samples else table.worse(baseline, results)
    for line in lost:
        print(f"agreed by the baseline: {line}")
    if options.share and not lost:
        print(f"part {options.share}: {len(chosen)} of {len(entries)} entries")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
