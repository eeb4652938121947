#!/usr/bin/env python3
"""Compiles libtorch's tests of its C++ API with tenon/torch.h, runs them and prints how many pass.

    run.py --sources DIR [--verbose] [FILE...]

DIR is test/cpp/api of PyTorch 1.13: `apt-get source pytorch` on Debian 12 unpacks it. FILE is a test file's name, `any` or `module`;
without one, all files are taken. Tenon is the release build, `./tenon build release tenon_serialization tenonc tenon_schemas`.

A test passes if it compiles after its includes are replaced, and its assertions hold. A test that does not compile counts as one
failure: it is removed, and the rest of the file is compiled again. Tests of CUDA and of TorchScript are left out. The table is
also written to build/libtorch/table.md. A file is compiled and run anew only if something that it reads has changed.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
WORK = ROOT / "build/libtorch"
PARTS = ("tenon", "nn", "optim", "data", "serialization")
# Not tests of the API on the CPU.
LEFT_OUT = {"jit", "parallel_benchmark", "support", "tensor_cuda", "tensor_options_cuda"}
MISSING = "libtorch's tests are not here: `apt-get source pytorch` on Debian 12 unpacks PyTorch 1.13; give its folder test/cpp/api as --sources DIR"
INCLUDE = re.compile(r"^#include <(torch|ATen|c10|test)/.*$", re.M)
# Values that tests compare with, which lie beside them.
BASELINE = re.compile(r"^#include <test/cpp/api/(\w+_baseline\.h)>$", re.M)
TEST = re.compile(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", re.M)
SECONDS_OF_A_RUN = 900


def digest(*parts):
    whole = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else str(part).encode()
        whole.update(len(data).to_bytes(8, "little") + data)
    return whole.hexdigest()


def execute(command, **options):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", **options)


def required(command):
    done = execute(command)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(map(str, command))}\n{done.stderr}")
    return done


class Toolchain:
    """How a program is compiled and linked against the installed package, read from a CMake project that uses it."""

    def __init__(self, tree):
        prefix = WORK / "install"
        for part in PARTS:
            required(["cmake", "--install", tree, "--prefix", prefix, "--component", part])
        project = WORK / "project"
        required(
            ["cmake", "-S", HERE, "-B", project, "-G", "Unix Makefiles", "-DCMAKE_BUILD_TYPE=Debug"]
            + ["-DCMAKE_CXX_FLAGS_DEBUG=", f"-DCMAKE_PREFIX_PATH={prefix}"]
        )
        (entry,) = json.loads((project / "compile_commands.json").read_text())
        words = shlex.split(entry["command"])
        self.compile = words[: words.index("-o")]
        words = shlex.split((project / "CMakeFiles/program.dir/link.txt").read_text())
        self.link = [word for word in words if not word.endswith("program.cpp.o")]
        self.link[self.link.index("-o") + 1] = None
        self.project = project
        libraries = sorted(path for path in prefix.glob("lib*/*.so*") if not path.is_symlink())
        self.libraries = digest(*(path.read_bytes() for path in libraries))
        self.header, self.key = self.precompile()

    def precompile(self):
        """The header all tests begin with, and the digest of what it includes and how it is compiled."""
        header = WORK / "prefix.h"
        header.write_text('#include "support.h"\n')
        listed = required([*self.compile, "-M", header]).stdout.replace("\\\n", " ").split()[1:]
        key = digest(*self.compile, *(Path(name).read_bytes() for name in listed))
        stamp = WORK / "prefix.key"
        compiled = header.with_suffix(".h.gch")
        if not compiled.exists() or not stamp.exists() or stamp.read_text() != key:
            stamp.unlink(missing_ok=True)
            required([*self.compile, "-x", "c++-header", header, "-o", compiled])
            stamp.write_text(key)
        return header, key

    def object_of(self, source, target):
        command = [*self.compile, "-include", self.header, "-c", source, "-o", target]
        return execute(command, env={**os.environ, "LC_ALL": "C"})

    def program_of(self, target, program):
        command = [program if word is None else word for word in self.link]
        at = command.index("-o")
        return execute([*command[:at], target, *command[at:]], cwd=self.project)


class TestFile:
    """A test file as blocks that begin in column 0: tests, and what they share."""

    def __init__(self, path):
        self.name = path.stem
        text = BASELINE.sub(lambda match: (path.parent / match[1]).read_text(), path.read_text())
        text = INCLUDE.sub('#include "support.h"', text)
        # Here torch is tenon's names by a using-directive; what a test adds to libtorch's namespaces is added to tenon's.
        self.lines = re.sub(r"^namespace torch \{", "namespace tenon {", text, flags=re.M).split("\n")
        self.tests = [(m[1], m[2]) for m in TEST.finditer("\n".join(self.lines)) if counted(m[2])]
        self.block_of = []  # of each line, the line its block begins with
        start, inside = 0, False
        for number, line in enumerate(self.lines):
            if not inside and line and not line[0].isspace():
                start = number
                inside = not line.rstrip().endswith((";", "}")) and not line.startswith(("#", "//", "namespace", "}"))
            elif inside and line[:1] == "}":
                inside = False
            elif inside and re.match(r"^[^\s].*[;}]\s*$", line):
                inside = False
            self.block_of.append(start)

    def test_at(self, block):
        match = TEST.match("\n".join(self.lines[block : block + 3]))
        return (match[1], match[2]) if match else None

    def without(self, removed):
        """The text without these blocks; lines keep their numbers."""
        return "\n".join("" if self.block_of[n] in removed else line for n, line in enumerate(self.lines))


def counted(test_name):
    return not test_name.endswith(("_CUDA", "_MultiCUDA"))


def blocks_at_fault(test_file, source, output):
    """The blocks that a compiler's errors are about, each with its first message."""
    place = re.compile(rf"^{re.escape(str(source))}:(\d+):")
    found, context, open_error = {}, [], None
    for line in output.splitlines():
        match = place.match(line)
        at = test_file.block_of[int(match[1]) - 1] if match else None
        if "error: " in line:
            message = line.split("error: ", 1)[1]
            where = at if at is not None else (context[-1] if context else None)
            open_error = message if where is None else None
            context = []
            if where is not None:
                found.setdefault(where, message)
        elif at is not None:
            if open_error is not None:  # a note after an error inside a header: where its macro was written
                found.setdefault(at, open_error)
                open_error = None
            else:
                context.append(at)
        elif ": In " in line or line.startswith("In file"):
            context = []
    return found


def tests_of_link_errors(test_file, output):
    blamed = {}
    for suite, name in test_file.tests:
        if f"{suite}_{name}_Test" in output:
            line = next(line for line in output.splitlines() if "undefined" in line)
            blamed[(suite, name)] = line.strip()
    return blamed


def run_tests(program, names):
    """The outcome of each test: None if it passed, otherwise the reason. A test that ends the program is a failure."""
    outcome = {}
    report = program.with_suffix(".json")
    while left := [name for name in names if name not in outcome]:
        report.unlink(missing_ok=True)
        command = [
            program,
            f"--gtest_filter={':'.join('.'.join(name) for name in left)}",
            f"--gtest_output=json:{report}",
        ]
        try:
            done = execute(command, cwd=WORK, timeout=SECONDS_OF_A_RUN)
            text, reason = done.stdout, f"ended the program with status {done.returncode}"
        except subprocess.TimeoutExpired as expired:
            text, reason = (expired.stdout or b"").decode(errors="replace"), "took too long"
        if report.exists():
            for suite in json.loads(report.read_text())["testsuites"]:
                for test in suite["testsuite"]:
                    failures = [failure["failure"] for failure in test.get("failures", [])]
                    if test["result"] == "SKIPPED":
                        failures = ["skipped"]
                    outcome[(suite["name"], test["name"])] = failures[0] if failures else None
            for name in left:
                outcome.setdefault(name, "is not in the program")
            break
        finished = re.findall(r"^\[ +(OK|FAILED) +\] (\w+)\.(\w+)", text, re.M)
        for state, suite, name in finished:
            outcome[(suite, name)] = None if state == "OK" else "failed, and a later test ended the program"
        begun = re.findall(r"^\[ RUN +\] (\w+)\.(\w+)", text, re.M)
        stopped = next((name for name in begun if name not in outcome), None)
        if stopped is None:
            return {name: outcome.get(name, reason) for name in names}
        outcome[stopped] = reason
    return {name: outcome[name] for name in names}


def measure(tools, path):
    """[(test, None or the reason it does not pass)] of a test file."""
    test_file = TestFile(path)
    folder = WORK / "files" / test_file.name
    folder.mkdir(parents=True, exist_ok=True)
    key = digest("1", test_file.without(()), tools.key, tools.libraries, Path(__file__).read_bytes())
    stored = folder / "result.json"
    if stored.exists():
        result = json.loads(stored.read_text())
        if result["key"] == key:
            return [((suite, name), reason) for suite, name, reason in result["tests"]]

    source, target, program = folder / f"{test_file.name}.cpp", folder / f"{test_file.name}.o", folder / test_file.name
    removed, failed = set(), {}
    while True:
        source.write_text(test_file.without(removed))
        done = tools.object_of(source, target)
        if done.returncode == 0:
            done = tools.program_of(target, program)
            if done.returncode == 0:
                break
            blamed = tests_of_link_errors(test_file, done.stderr)
            faults = {
                block: blamed[name] for block in set(test_file.block_of) if (name := test_file.test_at(block)) in blamed
            }
        else:
            faults = blocks_at_fault(test_file, source, done.stderr)
        (folder / "errors.txt").write_text(done.stderr)
        faults = {block: reason for block, reason in faults.items() if block not in removed}
        if not faults:
            reason = next(
                (line for line in done.stderr.splitlines() if "error" in line or "undefined" in line), done.stderr[:200]
            )
            failed.update((name, reason) for name in test_file.tests if name not in failed)
            break
        # A helper that does not compile makes errors in the tests that use it: those are removed only if they need it.
        helpers = {block for block in faults if test_file.test_at(block) is None}
        for block in helpers or faults:
            removed.add(block)
            if (name := test_file.test_at(block)) is not None:
                failed[name] = faults[block]
    to_run = [name for name in test_file.tests if name not in failed]
    outcome = {**failed, **(run_tests(program, to_run) if to_run else {})}
    result = [(name, outcome[name]) for name in test_file.tests]
    stored.write_text(json.dumps({"key": key, "tests": [(*name, reason) for name, reason in result]}))
    return result


def table(results):
    rows = [(name, sum(reason is None for _, reason in tests), len(tests)) for name, tests in results.items()]
    rows.append(("all", sum(row[1] for row in rows), sum(row[2] for row in rows)))
    return "\n".join(
        ["| file | passed | tests |", "| --- | ---: | ---: |", *(f"| {n} | {p} | {a} |" for n, p, a in rows)]
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--sources", type=Path, default=os.environ.get("TENON_LIBTORCH_TESTS"))
    parser.add_argument("--tree", type=Path, default=ROOT / "build/release")
    parser.add_argument("--jobs", type=int, default=2, choices=(1, 2))
    parser.add_argument("--verbose", action="store_true", help="say why each test does not pass")
    options = parser.parse_args()
    if options.sources is None or not (Path(options.sources) / "any.cpp").exists():
        print(MISSING)
        return 0
    paths = [path for path in sorted(Path(options.sources).glob("*.cpp")) if path.stem not in LEFT_OUT]
    if unknown := set(options.files) - {path.stem for path in paths}:
        parser.error(
            f"there is no test file {', '.join(sorted(unknown))}; there are {', '.join(p.stem for p in paths)}"
        )
    paths = [path for path in paths if not options.files or path.stem in options.files]

    WORK.mkdir(parents=True, exist_ok=True)
    tools = Toolchain(options.tree)
    results = {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for path, tests in zip(paths, pool.map(lambda path: measure(tools, path), paths)):
            results[path.stem] = tests
            passed = sum(reason is None for _, reason in tests)
            print(f"{path.stem:16} {passed:4} / {len(tests)}", flush=True)
            for (suite, name), reason in tests:
                if options.verbose and reason is not None:
                    print(f"    {suite}.{name}: {' '.join(reason.split())[:300]}")
    if not options.files:
        (WORK / "table.md").write_text(table(results) + "\n")
    print(table(results).splitlines()[-1].replace("|", " ").strip())
    return 0


if __name__ == "__main__":
    sys.exit(main())
