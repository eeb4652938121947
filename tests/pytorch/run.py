#!/usr/bin/env python3
"""Runs PyTorch 1.13's own Python tests, unmodified, with PyTorch 2.15 and with Tenon as torch, and prints how many pass.

    run.py --sources DIR [--verbose] [FILE...]

DIR is PyTorch 1.13's source tree: `apt-get source pytorch` on Debian 12 unpacks it. FILE is a path below its folder test without `.py`,
`test_torch` or `nn/test_pooling`; without one, all files of FILES are taken. Both libraries run in the oracle's environment
(`./tenon setup --oracle`), Tenon through `python -m tenon.as_torch`.

A test is in scope if it passes with PyTorch 2.15 and neither tests nor uses anything of scope.py's OUT_OF_SCOPE. Outcomes are in
build/pytorch_tests, PyTorch's are kept: a test runs with PyTorch only once. The table is also written to build/pytorch_tests/table.md.
"""

import argparse
import atexit
import collections
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import scope

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
WORK = ROOT / "build/pytorch_tests"
ORACLE = ROOT / "build/venv-oracle/bin/python"
PACKAGES = WORK / "packages"
MISSING = "PyTorch's tests are not here: `apt-get source pytorch` on Debian 12 unpacks PyTorch 1.13; give its folder as --sources DIR"
SECONDS_OF_A_TEST = 60
FILES = (
    "test_type_info test_complex test_pytree test_dlpack test_stateless test_per_overload_api test_namedtuple_return_api "
    "test_native_functions test_hub test_numpy_interop test_segment_reductions test_scatter_gather_ops test_indexing test_view_ops "
    "test_shape_ops test_type_promotion test_tensor_creation_ops test_sort_and_select test_torch test_serialization test_testing "
    "test_utils test_multiprocessing test_dataloader test_optim test_autograd autograd/test_complex autograd/test_functional "
    "nn/test_dropout nn/test_embedding nn/test_packed_sequence nn/test_pooling test_nn test_futures test_subclass test_transformers "
    "test_native_mha test_multiprocessing_spawn test_itt test_logging test_comparison_utils "
    "distributions/test_distributions "
    "test_autocast test_module_init test_foreach test_reductions test_spectral_ops test_linalg test_binary_ufuncs test_unary_ufuncs "
    "test_masked test_modules test_ops test_ops_gradients"
).split()


def command_of(library):
    if library == "pytorch":
        return [ORACLE, HERE / "worker.py"], {"PYTHONPATH": str(PACKAGES)}
    paths = os.pathsep.join([str(ROOT / "build/release/python"), str(PACKAGES)])
    return [ORACLE, "-m", "tenon.as_torch", HERE / "worker.py"], {"PYTHONPATH": paths}


def lines_of(file):
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


class Library:
    """Runs tests with one library, each file in a process of its own that is begun anew after a test that ends it."""

    def __init__(self, name, sources):
        self.name, self.sources = name, sources
        self.command, environment = command_of(name)
        self.environment = {
            **os.environ,
            "OMP_NUM_THREADS": "1",
            "PYTORCH_TESTING_DEVICE_ONLY_FOR": "cpu",
            "CUDA_VISIBLE_DEVICES": "",
        }
        self.environment |= {
            "TENON_PYTORCH_SOURCES": str(sources),
            "PYTORCH_DISABLE_RUNNING_SCRIPT_CHK": "1",
            **environment,
        }
        self.folder = WORK / name
        self.scratch = WORK / f"scratch_{name}_{os.getpid()}"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.scratch.mkdir(parents=True, exist_ok=True)
        atexit.register(shutil.rmtree, self.scratch, ignore_errors=True)

    def execute(self, file, results, *wanted):
        """Runs the worker until it ends, or until it is silent for longer than a test may take. Returns how it ended."""
        with open(self.scratch / "output.txt", "w") as output:
            process = subprocess.Popen(
                [*map(str, self.command), str(self.sources), file, str(results), *map(str, wanted)],
                cwd=self.scratch,
                env=self.environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
            size = -1
            while True:
                try:
                    status = process.wait(SECONDS_OF_A_TEST + 240 if size <= 0 else SECONDS_OF_A_TEST + 30)
                    return "ended" if status == 0 else f"ended the process with status {status}"
                except subprocess.TimeoutExpired:
                    now = results.stat().st_size if results.exists() else 0
                    if now == size or (size := now) == 0:
                        os.killpg(process.pid, 9)
                        process.wait()
                        return f"ran longer than {SECONDS_OF_A_TEST} s"

    def stored(self, file, wanted=None):
        """The outcomes of the last run."""
        store = self.folder / f"{file.replace('/', '.')}.json"
        found = json.loads(store.read_text())["outcomes"] if store.exists() else {}
        return {name: outcome for name, outcome in found.items() if wanted is None or name in set(wanted)}

    def count(self, file):
        """How many tests the file has."""
        store = self.folder / f"{file.replace('/', '.')}.json"
        return len(json.loads(store.read_text())["tests"]) if store.exists() else 0

    def outcomes(self, file, wanted=None):
        """{test: outcome} of the wanted tests, which are run. Without a list, of all that are taken: those are kept and not run again."""
        store = self.folder / f"{file.replace('/', '.')}.json"
        kept = json.loads(store.read_text()) if wanted is None and store.exists() else {"tests": [], "outcomes": {}}
        names, found = kept["tests"], kept["outcomes"]
        results, list_file = self.scratch / "results.jsonl", self.scratch / "wanted.json"
        while wanted is None and not names or any(name not in found for name in wanted or scope.taken(names)):
            results.unlink(missing_ok=True)
            list_file.write_text(json.dumps({"wanted": wanted, "found": list(found)}))
            ended = self.execute(file, results, list_file)
            lines, begun = lines_of(results), None
            for line in lines:
                names = line.get("tests", names)
                if "begins" in line:
                    begun = line["begins"]
                elif "ends" in line:
                    found[line.pop("ends")] = line
                    begun = None
            if any("done" in line for line in lines):
                for name in wanted or scope.taken(names):
                    found.setdefault(name, failure("did not run", "its class's fixtures fail, or the file has it not"))
            elif begun is not None:
                found[begun] = failure("crash" if ended.startswith("ended") else "too long", ended)
            else:
                why = next((line["file_fails"] for line in lines if "file_fails" in line), ended)
                if not wanted:
                    print(f"{file}: {why}")
                for name in wanted or ():
                    found.setdefault(name, failure("file", why))
                break
        store.write_text(json.dumps({"tests": names, "outcomes": found}, indent=0))
        return {name: found[name] for name in wanted or scope.taken(names) if name in found}, len(names)


def failure(kind, text):
    return {"outcome": "failed", "reason": {"class": kind, "text": text, "places": []}, "seconds": 0}


def kind_of(reason):
    """What a failure is: a word for the table, and the key by which failures are grouped."""
    text, kind = reason["text"], reason["class"]
    if kind in ("crash", "too long"):
        return kind, text
    if match := re.search(r"([\w.]+) is not in Tenon", text):
        return "missing", match[1]
    if kind == "NotImplementedError" or re.search(
        r"has no attribute|cannot import name|No module named|unexpected keyword|is not implemented|does not take", text
    ):
        return "missing", text.splitlines()[0][:120]
    if re.search(r"not close|not equal|not match|Mismatch|!=|is not true|is not false", text) and "Error" in kind:
        if "does not match" in text or "not raised" in text:
            return "message", text.splitlines()[0][:120]
        return "value", text.splitlines()[0][:120]
    if kind == "AssertionError":
        return ("message" if "not raised" in text else "value"), text.splitlines()[0][:120] if text else "assert"
    return "error", f"{kind}: {text.splitlines()[0][:120] if text else ''}"


def measure(pytorch, tenon, file, only_stored=False):
    """The tests in scope of a file with Tenon's outcomes, and how many were left out."""
    reference, all_tests = pytorch.outcomes(file) if not only_stored else (pytorch.stored(file), pytorch.count(file))
    in_scope = [name for name, outcome in reference.items() if outcome["outcome"] == "passed"]
    if tenon is None or not in_scope:
        return dict.fromkeys(in_scope), all_tests
    outcomes = tenon.stored(file, in_scope) if only_stored else tenon.outcomes(file, in_scope)[0]
    return {name: outcome for name, outcome in outcomes.items() if not stops_out_of_scope(outcome)}, all_tests


def stops_out_of_scope(outcome):
    reason = outcome["reason"]
    return outcome["outcome"] == "failed" and bool(scope.USES_OUT_OF_SCOPE.search(reason["text"][:300]))


def table(rows):
    head = ["| file | tests | in scope | pass | missing | value | message | error | crash |", "| --- |" + " ---: |" * 8]
    total = [sum(row[at] for row in rows) for at in range(1, len(rows[0]))]
    return "\n".join([*head, *("| " + " | ".join(map(str, row)) + " |" for row in [*rows, ("all", *total)])])


def row_of(file, outcomes, all_tests):
    kinds = collections.Counter()
    for outcome in outcomes.values():
        if outcome["outcome"] == "passed":
            kinds["passed"] += 1
        else:
            kinds[kind_of(outcome["reason"] or {"class": outcome["outcome"], "text": "", "places": []})[0]] += 1
    crashes = kinds["crash"] + kinds["too long"]
    counts = (kinds["passed"], kinds["missing"], kinds["value"], kinds["message"], kinds["error"], crashes)
    return (file, all_tests, len(outcomes), *counts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--sources", type=Path, default=os.environ.get("TENON_PYTORCH_SOURCES"))
    parser.add_argument("--reference", action="store_true", help="run only PyTorch's side")
    parser.add_argument("--table", action="store_true", help="run nothing: the table of the outcomes that are there")
    parser.add_argument("--verbose", action="store_true", help="say why each test does not pass")
    options = parser.parse_args()
    if options.sources is None or not (Path(options.sources) / "test/test_torch.py").exists():
        print(MISSING)
        return 0
    if not ORACLE.exists():
        print("PyTorch 2.15 is not here: ./tenon setup --oracle installs it")
        return 0
    if not (PACKAGES / "hypothesis").exists():
        requirements = ROOT / "tests/pytorch-requirements.txt"
        subprocess.run(
            [ORACLE, "-m", "pip", "install", "--no-deps", "--target", PACKAGES, "-r", requirements], check=True
        )
    sources = Path(options.sources).resolve()
    files = [file for file in options.files or FILES if (sources / "test" / f"{file}.py").exists()]
    if unknown := set(options.files) - set(files):
        parser.error(f"there is no test file {', '.join(sorted(unknown))}")
    pytorch, tenon = Library("pytorch", sources), None if options.reference else Library("tenon", sources)
    rows = []
    for file in files:
        outcomes, all_tests = measure(pytorch, tenon, file, options.table)
        if options.reference:
            print(f"{file:34} {len(outcomes):5} of {all_tests}", flush=True)
            continue
        rows.append(row_of(file, outcomes, all_tests))
        print(f"{file:34} {rows[-1][3]:5} / {rows[-1][2]}", flush=True)
        for name, outcome in outcomes.items():
            if options.verbose and outcome["outcome"] != "passed":
                print(f"    {name}: {outcome['reason']}")
    if rows:
        if not options.files:
            (WORK / "table.md").write_text(table(rows) + "\n")
        print(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
