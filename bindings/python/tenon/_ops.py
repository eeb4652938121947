"""tenon.ops: operators of all libraries by name; load_operators(): operators of one's own from YAML."""

import ctypes
import hashlib
import os
import pathlib
import platform
import re
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

from tenon import _C


class OperatorError(ValueError):
    """The YAML of operators has mistakes: the text gives for each its place, the line, a caret, and what to write."""


class _Namespace:
    """The operators of one namespace of schemas, as functions."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        function = _C._find_operator(f"{self._name}::{name}")
        if function is None:
            raise AttributeError(f"there is no operator '{self._name}::{name}'")
        setattr(self, name, function)
        return function

    def __dir__(self):
        prefix = f"{self._name}::"
        return sorted({name.removeprefix(prefix) for name, _ in _C._operator_schemas(prefix)})

    def __repr__(self):
        return f"<operators of {self._name}: {', '.join(dir(self))}>"


class _Operators:
    """tenon.ops.NAMESPACE.NAME"""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        namespace = _Namespace(name)
        setattr(self, name, namespace)
        return namespace


ops = _Operators()


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
    for part in [*texts, _stamp(paths.TENONC), _stamp(paths.LIBRARY), paths.COMPILER, _processor()]:
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


def _run(command, what, error):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise error(f"{what}:\n{done.stderr or done.stdout}".rstrip())


def _build(folder, yaml, derivatives, sources):
    from tenon import _build_paths as paths

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
        _run([paths.COMPILER, *flags, "-c", file, "-o", str(result)], f"{file} does not compile", RuntimeError)
        return str(result)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(compile_one, enumerate(files)))
    library = folder / "operators.so"
    linking = ["-shared", *objects, "-o", str(library), paths.LIBRARY, f"-Wl,-rpath,{os.path.dirname(paths.LIBRARY)}"]
    _run([paths.COMPILER, *linking], "the operators cannot be linked", RuntimeError)
    return library


_loaded = {}


def load_operators(yaml, sources=(), derivatives=None):
    """Operators of one's own, from entries of native_functions.yaml's form: generated, compiled, loaded.

        ops = tenon.load_operators('''
        - func: mine::swiglu(Tensor self, Tensor gate) -> Tensor
          pointwise: self * gate * sigmoid(gate)
        ''')
        y = ops.swiglu(x, g)        # with dispatch, a vectorised kernel and the derivative

    yaml: a path, or the text itself. sources: C++ files with the kernels that entries name.
    derivatives: a path to, or the text of, entries of derivatives.yaml's form.
    The library is kept in $TENON_CACHE_DIR, or ~/.cache/tenon, under a name made of all it depends on: the same
    operators are built once. The result has the operators of the first entry's namespace; tenon.ops has all.
    OperatorError for mistakes in YAML, RuntimeError for a kernel that does not compile.
    """
    yaml_text = _text_of(yaml)
    derivatives_text = None if derivatives is None else _text_of(derivatives)
    sources = [os.path.abspath(s) for s in ([sources] if isinstance(sources, (str, os.PathLike)) else sources)]
    namespace = re.search(r"func:\s*([A-Za-z_]\w*)::", yaml_text)
    if namespace is None:
        raise OperatorError("the operators need a namespace of their own: write `func: mine::name(...)`")
    key = _key([yaml_text, derivatives_text or ""], sources)
    if key not in _loaded:
        library = _cache_folder() / f"{key}.so"
        if not library.exists():
            library.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=library.parent) as folder:
                folder = pathlib.Path(folder)
                path = folder / (pathlib.Path(yaml).name if _is_path(yaml) else "operators.yaml")
                path.write_text(yaml_text)
                second = None
                if derivatives_text is not None:
                    second = folder / "derivatives.yaml"
                    second.write_text(derivatives_text)
                built = _build(folder, path, second, sources)
                # Under its name it is complete, whoever else builds it meanwhile.
                shutil.copy(built, folder / "done.so")
                os.replace(folder / "done.so", library)
        _loaded[key] = ctypes.CDLL(str(library))
    return getattr(ops, namespace.group(1))


def _is_path(text):
    return isinstance(text, os.PathLike) or "\n" not in text and "func:" not in text


def _text_of(text):
    return pathlib.Path(text).read_text() if _is_path(text) else text
