"""Runs programs of clients in an environment of their own, under tenon.as_torch, and says which print PyTorch's numbers.

    ./tenon clients [names] [--share K/N] [--seconds S] [--beside-pytorch] [--time ROUNDS]

packages.txt has each program's packages. requirements.txt has their versions and what each requires; nothing else is installed,
and no PyTorch. Outputs are compared with those in expected/clients, which --beside-pytorch
writes again.

    clients.py --lock   writes requirements.txt from the environment, after a package was installed there by hand
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.append(str(HERE))
import compare  # noqa: E402
import times  # noqa: E402

ENVIRONMENT = ROOT / "build/venv-clients"
MODULE = ROOT / "build/release/python"
ORACLE = ROOT / "build/venv-oracle"
OVER = "did not end in the time that was left"
EXPECTED = HERE / "expected/clients"
# What PyTorch itself requires: packages count on it.
OF_PYTORCH = ["filelock", "fsspec", "jinja2", "networkx", "sympy", "typing-extensions"]
# What pip says if the index cannot be reached, and not if a package is missing there.
UNREACHABLE = re.compile(
    r"NewConnectionError|NameResolutionError|ConnectTimeout|Read timed out|Max retries exceeded|ProxyError"
)


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def programs():
    """{program: its packages}"""
    lines = (HERE / "packages.txt").read_text().splitlines()
    return {
        name: packages.split()
        for name, _, packages in (line.partition(": ") for line in lines if line and line[0] != "#")
    }


def pins():
    """{package: (name==version, what it requires)}"""
    found = {}
    for line in (HERE / "requirements.txt").read_text().splitlines():
        pin, _, required = line.partition("  # ")
        if pin and not pin.startswith("#"):
            found[canonical(pin.partition("==")[0])] = pin, required.split()
    return found


def closure(packages, known):
    """The pins of packages and of all that they require."""
    found, stack = {}, [canonical(name) for name in [*packages, *OF_PYTORCH]]
    while stack:
        name = stack.pop()
        if name not in found:
            found[name], required = known[name]
            stack += required
    return set(found.values())


def chosen(options):
    """The programs to run: those named, or a share of all, those with fewer packages first."""
    wanted, known = programs(), pins()
    unknown = [name for name in options.names if name not in wanted]
    if unknown:
        sys.exit(f"clients: packages.txt has no program {', '.join(unknown)}")
    names = sorted(options.names or wanted, key=lambda name: (len(closure(wanted[name], known)), name))
    if not options.share:
        return names
    part, _, parts = options.share.partition("/")
    if part == "commit":
        part = subprocess.run(
            ["git", "rev-list", "--count", "HEAD"], capture_output=True, text=True, check=True, cwd=ROOT
        ).stdout
    return names[int(part) % int(parts) :: int(parts)]


def environment():
    """The environment's interpreter."""
    python = ENVIRONMENT / "bin/python"
    if not python.exists():
        base = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable
        subprocess.run([base, "-m", "venv", str(ENVIRONMENT)], check=True)
    return python


def installed(python):
    lines = subprocess.run(
        [python, "-m", "pip", "list", "--format=freeze", "--disable-pip-version-check"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    return {canonical(name): version for name, _, version in (line.partition("==") for line in lines)}


def install(python, name, there, seconds):
    """Installs what the program needs; `there` are the packages that are installed. Gives a text if that was not possible."""
    needed = closure(programs()[name], pins())
    missing = sorted(pin for pin in needed if there.get(canonical(pin.partition("==")[0])) != pin.partition("==")[2])
    if not missing:
        return None
    command = [python, "-m", "pip", "install", "--no-deps", "--no-input", "--no-compile", "--quiet"]
    command += ["--disable-pip-version-check", "--timeout", "15", "--retries", "1", *missing]
    start = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return f"its {len(missing)} packages were not there within {seconds:.0f} s"
    if done.returncode != 0:
        said = done.stdout + done.stderr
        if UNREACHABLE.search(said):
            return "the package index is not reachable"
        sys.exit("clients: pip failed:\n" + "\n".join(said.strip().splitlines()[-8:]))
    there.update((canonical(pin.partition("==")[0]), pin.partition("==")[2]) for pin in missing)
    print(f"  {len(missing)} packages were installed in {time.monotonic() - start:.0f} s", flush=True)
    return None


def size(folder):
    """Megabytes of the files in a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file() and not file.is_symlink()) // 1000000


def pytorch():
    """The folder with PyTorch."""
    packages = next(ORACLE.glob("lib/python*/site-packages"), None)
    if packages is None:
        sys.exit("clients: --beside-pytorch and --time need PyTorch: ./tenon setup --oracle")
    return str(packages)


def with_pytorch(python, name, seconds):
    """What the program prints with PyTorch; also written to the expected outputs."""
    output, error, _ = compare.run([str(python), str(HERE / f"{name}.py")], [pytorch()], seconds)
    if output is None:
        return None, f"stops with PyTorch: {last_line(error)}"
    EXPECTED.mkdir(parents=True, exist_ok=True)
    (EXPECTED / f"{name}.txt").write_text(output)
    return output, ""


def last_line(text):
    return (text.strip().splitlines() or ["nothing was said"])[-1]


def timed(python, name, options, seconds_left, found):
    """Runs the program with PyTorch and with Tenon, in turns. Puts its times into `found`."""
    program = [str(HERE / "times.py"), str(HERE / f"{name}.py")]
    start = time.monotonic()
    output, error, seen = times.in_turns(
        ([str(python), *program], [pytorch()]),
        ([str(python), "-m", "tenon.as_torch", *program], [str(MODULE)]),
        options.time,
        seconds_left,
    )
    if output is not None:
        found[name] = seen
        parts = (f"{part} {a:.1f} and {b:.1f} s, {b / a:.2f}" for part, (a, b) in seen.items())
        print(f"  {name}: {'; '.join(parts)}", flush=True)
    return output, error, time.monotonic() - start


def outcome(python, name, options, seconds_left, found):
    """(what became of a program, seconds)"""
    expected = EXPECTED / f"{name}.txt"
    if options.beside_pytorch:
        theirs, said = with_pytorch(python, name, 600)
        if theirs is None:
            return said, 0.0
    elif not expected.exists():
        return "has no expected output: --beside-pytorch writes it", 0.0
    command = [str(python), "-m", "tenon.as_torch", str(HERE / f"{name}.py")]
    if options.time:
        ours, error, seconds = timed(python, name, options, seconds_left, found)
    else:
        ours, error, seconds = compare.run(command, [str(MODULE)], seconds_left)
    if ours is None and seconds >= seconds_left:
        return OVER, seconds
    if ours is None:
        return f"stops: {last_line(error)}", seconds
    differences = compare.differences(ours, expected.read_text())
    return ("the same numbers" if not differences else f"differs: {differences[0]}"), seconds


def lock(python):
    """Writes requirements.txt: the packages of the environment that programs need, with what each requires."""
    code = (
        "import importlib.metadata as m, json\n"
        "from pip._vendor.packaging.requirements import Requirement as R\n"
        "out = {}\n"
        "for d in (d for d in m.distributions() if d.metadata['Name']):\n"
        "    reqs = [R(r) for r in d.requires or []]\n"
        "    out[d.metadata['Name']] = d.version, [[r.name, sorted(r.extras)] for r in reqs if r.marker is None or r.marker.evaluate({'extra': ''})], "
        "{e: [r.name for r in reqs if r.marker and r.marker.evaluate({'extra': e}) and not r.marker.evaluate({'extra': ''})] "
        "for e in d.metadata.get_all('Provides-Extra') or []}\n"
        "print(json.dumps(out))\n"
    )
    import json

    there = json.loads(subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout)
    there = {canonical(name): (name, *rest) for name, rest in there.items()}

    def required(name):
        """What it requires that is installed; extras that another package asks for are the other's."""
        names = []
        for other, extras in there[name][2]:
            names.append(canonical(other))
            names += [
                canonical(more)
                for extra in extras
                for more in there.get(canonical(other), ("", "", "", {}))[3].get(extra, ())
            ]
        return sorted({other for other in names if other in there} - {"torch", name})

    found, stack = {}, [canonical(package) for packages in [OF_PYTORCH, *programs().values()] for package in packages]
    while stack:
        name = stack.pop()
        if name not in found:
            found[name] = required(name)
            stack += found[name]
    lines = [
        "# Written by clients.py --lock: the packages of programs, and what each requires. PyTorch is not among them."
    ]
    for name in sorted(found):
        others = f"  # {' '.join(found[name])}" if found[name] else ""
        lines.append(f"{there[name][0]}=={there[name][1]}{others}")
    (HERE / "requirements.txt").write_text("\n".join(lines) + "\n")
    print(f"clients: {len(found)} packages in requirements.txt")


def main():
    parser = argparse.ArgumentParser(
        prog="tenon clients", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*")
    parser.add_argument("--share", help="K/N: one of N parts of the programs; commit/N takes another with each commit")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="ends after this time, whatever is left")
    parser.add_argument(
        "--beside-pytorch", action="store_true", help="run with PyTorch as well, and write what it prints"
    )
    parser.add_argument(
        "--time",
        type=int,
        metavar="ROUNDS",
        help="run with PyTorch and with Tenon in turns, twice or more: the first run writes bytecode; the least CPU times",
    )
    parser.add_argument("--lock", action="store_true")
    options = parser.parse_args()
    if options.time is not None and options.time < 2:
        parser.error("--time takes at least 2 rounds: the first may write the bytecode of packages")
    if options.time:
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # a user's second start finds the bytecode of packages
    start = time.monotonic()
    if options.lock:
        return lock(environment())
    names, python = chosen(options), environment()
    there, same, other, found = installed(python), [], [], {}
    for number, name in enumerate(names, 1):
        left = min(600.0, options.seconds - (time.monotonic() - start))
        stopped = install(python, name, there, left) if left > 1 else f"{options.seconds:.0f} s are over"
        if stopped:
            print(f"clients: SKIPPED {len(names) - number + 1} programs: {stopped}")
            break
        said, seconds = outcome(python, name, options, min(600.0, options.seconds - (time.monotonic() - start)), found)
        if said != OVER:
            (same if said == "the same numbers" else other).append(name)
        print(f"  [{number}/{len(names)}] {name:32} {seconds:6.1f} s  {said}", flush=True)
    print(f"clients: {len(same)} of {len(same) + len(other)} programs print PyTorch's numbers", end="; ")
    print(f"{ENVIRONMENT.relative_to(ROOT)} has {size(ENVIRONMENT)} MB")
    for line in times.report(found) if found else ():
        print(f"clients: {line}")
    for name in other:
        print(f"clients: FAILED {name}")
    return bool(other)


def in_a_folder_of_its_own(call):
    """What the call gives; the files that programs write go with the folder."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            return call()
        finally:
            os.chdir(ROOT)


if __name__ == "__main__":
    sys.exit(in_a_folder_of_its_own(main))
