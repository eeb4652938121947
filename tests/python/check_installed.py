"""Installs Tenon for Python into a fresh environment outside the tree and runs installed.py there.

check_installed.py --build FOLDER    what `cmake --install` makes of a built tree, which compiles nothing again
check_installed.py --wheel FILE      a wheel, with what it depends on from the package index
"""

import argparse
import importlib.util
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import venv
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
MAX_WHEEL_MB = 40


def run(command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def install_tree(build, folder, site):
    """The package in a prefix, in reach of the environment; Jinja2 from the environment that runs this."""
    prefix = folder / "prefix"
    for component in ([], ["--component", "python"]):
        run(["cmake", "--install", build, "--prefix", prefix, *component])
    for name in ("jinja2", "markupsafe"):
        shutil.copytree(pathlib.Path(importlib.util.find_spec(name).origin).parent, site / name)
    package = next(prefix.glob("lib*/python/tenon")).parent
    # Moved: nothing may depend on where it was installed.
    moved = prefix.rename(folder / "moved prefix")
    (site / "tenon.pth").write_text(f"{moved / package.relative_to(prefix)}\n")


def install_wheel(wheel, python):
    size = wheel.stat().st_size / 2**20
    print(f"{wheel.name}: {size:.1f} MB")
    assert size < MAX_WHEEL_MB, f"the wheel has {size:.1f} MB, it may have {MAX_WHEEL_MB}"
    with zipfile.ZipFile(wheel) as files:
        names = files.namelist()
    assert any(n.startswith("tenon/_C.") for n in names) and "tenon/bin/tenonc" in names, names
    if shutil.which("dpkg-query"):
        for name in names:
            library = re.match(r"tenon/lib/(lib[a-z-]+)[^/]*\.so", name)
            if library and not library[1].startswith("libtenon"):
                assert any(n.startswith(f"tenon/licenses/{library[1]}") for n in names), (
                    f"the wheel has {name} without its licence"
                )
    run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel])


def import_time(python, folder):
    """Milliseconds that `import tenon` adds to the interpreter's start: the median of ten."""
    measure = "import time; a = time.perf_counter(); import tenon; print((time.perf_counter() - a) * 1e3)"
    return statistics.median(float(run([python, "-c", measure], cwd=folder)) for _ in range(11))


def main():
    parser = argparse.ArgumentParser()
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--build", type=pathlib.Path)
    what.add_argument("--wheel", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder).resolve()
        venv.create(folder / "venv", with_pip=options.wheel is not None)
        python = folder / "venv" / "bin" / "python"
        if options.build:
            install_tree(options.build, folder, next((folder / "venv" / "lib").glob("python3*/site-packages")))
        else:
            install_wheel(options.wheel.resolve(), python)
        example = shutil.copytree(HERE.parents[1] / "examples" / "python_module", folder / "example")
        shutil.copy(HERE / "installed.py", folder)
        environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "LD_LIBRARY_PATH")}
        environment |= {"TENON_CACHE_DIR": str(folder / "cache"), "OMP_NUM_THREADS": "1"}
        (folder / "files").mkdir()
        print(run([python, folder / "installed.py", example, folder / "files"], cwd=folder, env=environment), end="")
        print(f"import tenon: {import_time(python, folder):.0f} ms")


main()
