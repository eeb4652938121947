#!/usr/bin/env python3
"""run.py BUILD [COUNT] [FIRST]: compiles COUNT random row operators (60) from seed FIRST (0) against a build folder of
Tenon and runs their kernels beside their definitions. What it makes stays in BUILD/random_rows. Takes minutes."""

import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[3]
ROWS = ROOT / "tests/codegen/rows"


def main():
    build = Path(sys.argv[1]).resolve()
    count, first = (sys.argv[2:] + ["60", "0"][len(sys.argv) - 2 :])[:2]
    folder = build / "random_rows"
    folder.mkdir(exist_ok=True)
    printer = folder / "entries"
    subprocess.run(
        ["c++", "-std=c++20", f"-I{ROOT}", HERE / "entries.cpp", ROWS / "random_entry.cpp", "-o", printer], check=True
    )
    text = subprocess.run([printer, first, count], check=True, capture_output=True, text=True).stdout
    entries = re.split(r"(?m)^(?=- func)", text)[1:]
    file = folder / "random.yaml"
    # Entries whose constants fold until no elements are left are refused, and rightly.
    while True:
        file.write_text("".join(entries))
        checked = subprocess.run(
            [build / "codegen/tenonc", "check", "--native", file, "--base", ROOT / "native_functions.yaml"],
            capture_output=True,
            text=True,
        )
        places = {int(line) for line in re.findall(r"random\.yaml:(\d+):\d+: error", checked.stdout + checked.stderr)}
        if checked.returncode == 0:
            break
        if not places:
            raise SystemExit(f"run.py: tenonc fails:\n{checked.stdout}{checked.stderr}")
        kept, line = [], 1
        for entry in entries:
            after = line + entry.count("\n")
            if not any(line <= place < after for place in places):
                kept.append(entry)
            line = after
        print(f"{len(entries) - len(kept)} entries refused")
        entries = kept
    configure = [
        "cmake",
        "-S",
        HERE,
        "-B",
        folder / "build",
        "-G",
        "Ninja",
        f"-DTENON_BUILD={build}",
        f"-DENTRIES={file}",
        # One instruction set: that of this machine.
        "-DCMAKE_BUILD_TYPE=Release",
        "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -march=native -DHWY_COMPILE_ONLY_STATIC",
    ]
    subprocess.run(configure, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", folder / "build", "-j2"], check=True)
    if not entries:
        raise SystemExit("run.py: no entry was accepted")
    seeds = re.findall(r"randomrows::f(\d+)\(", "".join(entries))
    sys.exit(subprocess.run([folder / "build/random_rows", *seeds]).returncode)


if __name__ == "__main__":
    main()
