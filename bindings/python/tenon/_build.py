"""What load_operators() does: generates, compiles and loads operators, once for each text, compiler and processor."""

import hashlib
import importlib.util
import os
import pathlib
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from tenon import _C
from tenon._ops import OperatorError


def _cache_folder():
    given = os.environ.get("TENON_CACHE_DIR")
    base = given or os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "tenon")
    return pathlib.Path(base) / "operators"


def _stamp(path):
    status = os.stat(path)
    return f"{path} {status.st_size} {status.st_mtime_ns}"


def _key(texts, sources):
    """What the library depends on: the texts, the kernels, and what compiles them."""
    from tenon import _build_paths as paths

    digest = hashlib.sha256()
    for part in [*texts, _stamp(paths.TENONC), _stamp(paths.LIBRARY), *compiler_command(), _processor()]:
        digest.update(part.encode() + b"\0")
    for source in sources:
        digest.update(pathlib.Path(source).read_bytes() + b"\0")
    return digest.hexdigest()[:32]


def _processor():
    # Kernels are compiled for this processor: another one does not load them.
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("flags"):
                    return line
    except OSError:
        pass
    return platform.processor() + platform.machine()


def compiler_command():
    """The command that compiles C++: $CXX, else the one that built Tenon, else the system's."""
    from tenon import _build_paths as paths

    given = os.environ.get("CXX")
    if given:
        return shlex.split(given)
    return [paths.COMPILER if os.path.exists(paths.COMPILER) else shutil.which("c++") or "c++"]


def _check_compiler(compiler, who):
    if shutil.which(compiler[0]) is None:
        raise RuntimeError(f"{who} needs a C++20 compiler: there is no {compiler[0]} (CXX names another one)")


def _check_tools(compiler):
    """RuntimeError for what is missing on this machine to build operators."""
    from tenon import _build_paths as paths

    _check_compiler(compiler, "load_operators()")
    if paths.RENDER_PYTHON == sys.executable and importlib.util.find_spec("jinja2") is None:
        raise RuntimeError(f"load_operators() needs Jinja2: {sys.executable} -m pip install Jinja2")
    for path in [paths.TENONC, paths.NATIVE_FUNCTIONS, paths.TAGS, paths.TEMPLATES, *paths.INCLUDE, paths.LIBRARY]:
        if not os.path.exists(path):
            raise RuntimeError(f"load_operators() needs {path}, which is missing: install Tenon again")


def _run(command, what, error):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise error(f"{what}:\n{done.stderr or done.stdout}".rstrip())


def compile_source(source, include, library, who):
    """Makes a library of one C++ file that needs the headers of `include` alone, for `who`."""
    compiler = compiler_command()
    _check_compiler(compiler, who)
    flags = ["-std=c++20", "-O2", "-fPIC", "-shared", "-w", f"-I{include}"]
    _run([*compiler, *flags, str(source), "-o", str(library)], f"{source} does not compile", RuntimeError)
    return library


def _build(folder, yaml, derivatives, sources):
    from tenon import _build_paths as paths

    compiler = compiler_command()
    _check_tools(compiler)
    generated = folder / "gen"
    command = [paths.TENONC, "gen", "--native", str(yaml), "--base", paths.NATIVE_FUNCTIONS, "--tags", paths.TAGS]
    if derivatives is not None:
        command += ["--derivatives", str(derivatives)]
    for source in sources:
        command += ["--kernels", str(source)]
    command += ["--templates", paths.TEMPLATES, "--python", paths.RENDER_PYTHON, "--out", str(generated)]
    _run(command, "the operators have mistakes", OperatorError)
    listing = (generated / "sources.cmake").read_text()
    own = re.search(r"set\(TENON_GEN_CPU_SOURCES\n(.*?)\)", listing, re.S)
    files = re.findall(r'"([^"]+)"', own.group(1)) + [str(s) for s in sources]
    # For the processor that runs it alone: a kernel for each instruction set would take several times as long.
    flags = ["-std=c++20", "-O2", "-fPIC", "-march=native", "-ffp-contract=off", "-DHWY_COMPILE_ONLY_STATIC", "-DNDEBUG"]
    flags += ["-fno-math-errno", "-fno-trapping-math", "-w"]
    flags += [f"-I{path}" for path in [generated, *paths.INCLUDE]]

    def compile_one(numbered):
        number, file = numbered
        result = folder / f"{number}.o"
        _run([*compiler, *flags, "-c", file, "-o", str(result)], f"{file} does not compile", RuntimeError)
        return str(result)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(compile_one, enumerate(files)))
    library = folder / "operators.so"
    linking = ["-shared", *objects, "-o", str(library), paths.LIBRARY, f"-Wl,-rpath,{os.path.dirname(paths.LIBRARY)}"]
    _run([*compiler, *linking], "the operators cannot be linked", RuntimeError)
    return library


def cached(key, build):
    """The library that the cache has under `key`; where it is not, that which build(folder) has made in a folder."""
    library = _cache_folder() / f"{key}.so"
    if not library.exists():
        library.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=library.parent) as folder:
            folder = pathlib.Path(folder)
            built = build(folder)
            # Under its name it is complete, whoever else builds it meanwhile.
            shutil.copy(built, folder / "done.so")
            os.replace(folder / "done.so", library)
    return library


_loaded = {}


def load(yaml, sources, derivatives):
    """The namespace of the operators, which then are in tenon.ops; see load_operators()."""
    yaml_text = _text_of(yaml)
    derivatives_text = None if derivatives is None else _text_of(derivatives)
    sources = [os.path.abspath(s) for s in ([sources] if isinstance(sources, (str, os.PathLike)) else sources)]
    namespace = re.search(r"func:\s*([A-Za-z_]\w*)::", yaml_text)
    if namespace is None:
        raise OperatorError("the operators need a namespace of their own: write `func: mine::name(...)`")
    key = _key([yaml_text, derivatives_text or ""], sources)
    if key not in _loaded:

        def build(folder):
            path = folder / (pathlib.Path(yaml).name if _is_path(yaml) else "operators.yaml")
            path.write_text(yaml_text)
            second = None
            if derivatives_text is not None:
                second = folder / "derivatives.yaml"
                second.write_text(derivatives_text)
            return _build(folder, path, second, sources)

        _loaded[key] = _C._load_library(str(cached(key, build)))
    return namespace.group(1)


def _is_path(text):
    return isinstance(text, os.PathLike) or "\n" not in text and "func:" not in text


def _text_of(text):
    return pathlib.Path(text).read_text() if _is_path(text) else text
