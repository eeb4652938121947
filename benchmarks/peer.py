"""Builds PyTorch's side of the benchmarks from the same sources, against the Python package `torch`."""

import concurrent.futures
import hashlib
import os
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent


def torch_package():
    """(folder, version, C++ ABI flag) of the installed package."""
    import torch

    return Path(torch.__file__).parent, torch.__version__, int(torch.compiled_with_cxx11_abi())


def compile_one(name, out, package, abi, compiler):
    binary = out / f"bench_{name}"
    lib = package / "lib"
    command = [
        compiler,
        "-std=c++20",
        "-O3",
        "-DNDEBUG",
        "-DBENCH_TORCH",
        f"-D_GLIBCXX_USE_CXX11_ABI={abi}",
        f"-I{ROOT}",
        "-isystem",
        str(package / "include"),
        "-isystem",
        str(package / "include/torch/csrc/api/include"),
        str(HERE / f"{name}.cpp"),
        "-o",
        str(binary),
        f"-L{lib}",
        "-ltorch",
        "-ltorch_cpu",
        "-lc10",
        f"-Wl,-rpath,{lib}",
        "-Wl,--allow-shlib-undefined",
    ]
    digest = hashlib.sha256("\0".join(command).encode())
    for source in [HERE / f"{name}.cpp", *sorted((HERE / "support").glob("*.h"))]:
        digest.update(source.read_bytes())
    stamp = out / f"{name}.sha256"
    if binary.exists() and stamp.exists() and stamp.read_text() == digest.hexdigest():
        return binary
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        raise SystemExit(f"run.py: {name}.cpp does not compile against torch:\n{result.stderr[-4000:]}")
    stamp.write_text(digest.hexdigest())
    return binary


def build(names, out):
    """Paths of the programs, by name. Compiles what changed."""
    package, version, abi = torch_package()
    out.mkdir(parents=True, exist_ok=True)
    compiler = os.environ.get("CXX", "g++")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = {n: pool.submit(compile_one, n, out, package, abi, compiler) for n in names}
        return {n: job.result() for n, job in jobs.items()}, version
