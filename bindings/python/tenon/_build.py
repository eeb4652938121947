"""What load_operators() does: generates, compiles and loads operators, once for each text, compiler and processor."""

import contextlib
import fcntl
import hashlib
import importlib.util
import json
import os
import pathlib
import platform
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait

from tenon import _C
from tenon._ops import OperatorError


def _cache_folder():
    given = os.environ.get("TENON_CACHE_DIR")
    base = given or os.path.join(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "tenon")
    return pathlib.Path(os.path.expanduser(base)) / "operators"


def _stamp(path):
    status = os.stat(path)
    return f"{path} {status.st_size} {status.st_mtime_ns}"


def _digest(parts):
    digest = hashlib.sha256()
    for part in parts:
        digest.update((part if isinstance(part, bytes) else part.encode()) + b"\0")
    return digest.hexdigest()[:32]


def _key(texts, sources):
    """What the library depends on but for headers: the texts, the kernels, and what compiles them."""
    from tenon import _build_paths as paths

    parts = [*texts, _stamp(paths.TENONC), _stamp(paths.LIBRARY), *compiler_command(), _processor()]
    parts += [os.environ.get(name, "") for name in ("CPATH", "CPLUS_INCLUDE_PATH")]
    for source in sources:
        # Its folder is where it finds headers.
        parts += [source, pathlib.Path(source).read_bytes()]
    return _digest(parts)


def _key_of_headers(headers):
    parts = []
    for header in headers:
        with contextlib.suppress(OSError):
            parts += [header, pathlib.Path(header).read_bytes()]
    return _digest(parts)


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
    files = [paths.TENONC, paths.NATIVE_FUNCTIONS, paths.TAGS, paths.TEMPLATES, paths.COMPILE_NOTE]
    for path in [*files, *paths.INCLUDE, paths.LIBRARY]:
        if not os.path.exists(path):
            raise RuntimeError(f"load_operators() needs {path}, which is missing: install Tenon again")


class _Runner:
    """Runs commands, several at a time; leaving the block ends those that still run."""

    def __init__(self):
        self._lock = threading.Lock()
        self._running = set()
        self._ended = False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with self._lock:
            self._ended = True
            for process in self._running:
                # With what it has started: a compiler is several processes.
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)

    def run(self, command, what, error):
        with self._lock:
            if self._ended:
                return
            pipe = subprocess.PIPE
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True, start_new_session=True
            )
            self._running.add(process)
        output, errors = process.communicate()
        with self._lock:
            self._running.discard(process)
        if process.returncode != 0:
            raise error(f"{what}:\n{errors or output or _ending(command, process.returncode)}".rstrip())


def _ending(command, status):
    """How a command ended that said nothing."""
    if status < 0:
        return f"{command[0]} was ended by {signal.Signals(-status).name}"
    return f"{command[0]} ended with status {status} and no message"


def _run(*call):
    with _Runner() as runner:
        runner.run(*call)


def _run_all(calls):
    """Runs them at the same time; the first that fails ends the others."""
    with ThreadPoolExecutor(os.cpu_count()) as pool, _Runner() as runner:
        futures = [pool.submit(runner.run, *call) for call in calls]
        wait(futures, return_when=FIRST_EXCEPTION)
        for future in futures:
            if future.done():
                future.result()


def compile_source(source, include, library, who):
    """Makes a library of one C++ file that needs the headers of `include` alone, for `who`."""
    compiler = compiler_command()
    _check_compiler(compiler, who)
    flags = ["-std=c++20", "-O2", "-fPIC", "-shared", "-w", f"-I{include}"]
    _run([*compiler, *flags, str(source), "-o", str(library)], f"{source} does not compile", RuntimeError)
    return library


class _Operators:
    """The texts and kernels of one call of load_operators()."""

    def __init__(self, yaml, derivatives, sources):
        self.given = os.fspath(yaml) if _is_path(yaml, "yaml") else "operators.yaml"
        self.name = pathlib.Path(self.given).name
        self.yaml = _text_of(yaml, "yaml")
        self.derivatives = None if derivatives is None else _text_of(derivatives, "derivatives")
        sources = [sources] if isinstance(sources, (str, os.PathLike)) else sources
        if not isinstance(sources, (list, tuple)) or not all(isinstance(s, (str, os.PathLike)) for s in sources):
            raise TypeError(f"load_operators(): argument 'sources' must be a path or a list of paths, got {sources!r}")
        self.sources = [os.path.abspath(s) for s in sources]
        if not self.yaml.strip():
            raise OperatorError("there are no operators: the text is empty")

    def key(self, *more):
        return _key([self.yaml, self.derivatives or "", *more], self.sources)

    def arguments(self, folder):
        """Of tenonc's commands, for the texts as files of the folder."""
        from tenon import _build_paths as paths

        def written(part, name, text):
            path = folder / part / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
            return str(path)

        arguments = [
            "--native",
            written("native", self.name, self.yaml),
            "--base",
            paths.NATIVE_FUNCTIONS,
            "--tags",
            paths.TAGS,
        ]
        if self.derivatives is not None:
            arguments += ["--derivatives", written("derivatives", "derivatives.yaml", self.derivatives)]
        for source in self.sources:
            arguments += ["--kernels", source]
        return arguments

    def run(self, verb, folder, options, what):
        """tenonc; OperatorError for mistakes, at their places in what was given."""
        from tenon import _build_paths as paths

        _run(
            [paths.TENONC, verb, *self.arguments(folder), *options],
            what,
            lambda text: OperatorError(self._at_what_was_given(folder, text)),
        )

    def _at_what_was_given(self, folder, text):
        """A message with the names of the files that were given, not of their copies."""
        return text.replace(f"{folder}/native/{self.name}", self.given).replace(f"{folder}/derivatives/", "")

    def check_kernels(self, folder):
        """OperatorError for kernels that the entries name and no source defines."""
        self.run("check-kernels", folder, [], "kernels are missing (sources names their files)")

    def generate(self, folder):
        """Writes folder/gen; gives the first entry's namespace and the files to compile."""
        from tenon import _build_paths as paths

        generated = folder / "gen"
        options = ["--templates", paths.TEMPLATES, "--python", paths.RENDER_PYTHON, "--out", str(generated)]
        self.run("gen", folder, options, "the operators have mistakes")
        namespace = _first_namespace((generated / "index.txt").read_text())
        if not self.sources:
            # With sources, a macro or a header of theirs may define what this does not find.
            self.check_kernels(folder)
        listing = (generated / "sources.cmake").read_text()
        own = re.search(r"set\(TENON_GEN_CPU_SOURCES\n(.*?)\)", listing, re.S)
        return namespace, re.findall(r'"([^"]+)"', own.group(1)) + self.sources

    def build(self, folder):
        """Makes folder/operators.so; gives the first entry's namespace and the headers of the kernels."""
        from tenon import _build_paths as paths

        def error(text):
            return RuntimeError(self._at_what_was_given(folder, text))

        compiler = compiler_command()
        _check_tools(compiler)
        namespace, files = self.generate(folder)
        # For the processor that runs it alone: a kernel for each instruction set would take several times as long.
        flags = [*_kernel_flags(folder / "gen"), "-MMD", *_own_variables(compiler)]
        objects = [str(folder / f"{number}.o") for number in range(len(files))]
        # Notes name the entry that asks for a kernel, and the signature that it must have.
        noting = ["sh", paths.COMPILE_NOTE, str(folder / "gen" / "index.txt")]
        commands = [[*noting, *compiler, *flags, "-c", file, "-o", made] for file, made in zip(files, objects)]
        _run_all([(command, f"{file} does not compile", error) for command, file in zip(commands, files)])
        linking = [
            "-shared",
            *objects,
            "-o",
            str(folder / "operators.so"),
            paths.LIBRARY,
            f"-Wl,-rpath,{os.path.dirname(paths.LIBRARY)}",
        ]
        _run([*compiler, *linking], "the operators cannot be linked", RuntimeError)
        headers = set()
        for made in objects[len(objects) - len(self.sources) :]:
            headers.update(_dependencies(pathlib.Path(made).with_suffix(".d").read_text()))
        return namespace, sorted(h for h in headers if folder not in pathlib.Path(h).parents and h not in self.sources)


def _kernel_flags(generated):
    """For the processor that runs it alone: a kernel for each instruction set would take several times as long."""
    from tenon import _build_paths as paths

    flags = [
        "-std=c++20",
        "-O2",
        "-fPIC",
        "-march=native",
        "-ffp-contract=off",
        "-DHWY_COMPILE_ONLY_STATIC",
        "-DNDEBUG",
    ]
    flags += ["-fno-math-errno", "-fno-trapping-math", "-w"]
    return flags + [f"-I{path}" for path in [generated, *paths.INCLUDE]]


def build_extension(yaml, target, flags, linked, nvcc=()):
    """The library of the kernels that `tenonc gen --target` writes, and the first entry's namespace. nvcc: the command that
    compiles CUDA kernels, if they are wanted."""
    from tenon import _build_paths as paths

    operators = _Operators(yaml, None, ())
    library = _cache_folder() / f"{operators.key(target, *flags, *linked, *nvcc)}.so"
    namespace = library.with_suffix(".namespace")
    if not (library.exists() and namespace.exists()):
        compiler = compiler_command()
        _check_tools(compiler)
        with _folder_to_build_in() as folder:
            generated = folder / "gen"
            options = ["--target", target, "--templates", paths.TEMPLATES, "--python", paths.RENDER_PYTHON]
            options += ["--backends", "CPU,CUDA"] if nvcc else []
            operators.run("gen", folder, [*options, "--out", str(generated)], "the operators have mistakes")
            source = generated / pathlib.Path(operators.name).with_suffix(".cpp")
            command = [*compiler, *_kernel_flags(generated), "-fvisibility=hidden", *flags, "-shared", str(source)]
            made = folder / "extension.so"
            for kernels in generated.glob("*_cuda.cu"):
                include = [f"-I{path}" for path in [generated, *paths.INCLUDE]]
                _run(
                    [*nvcc, *include, "-c", str(kernels), "-o", f"{kernels}.o"],
                    f"{kernels.name} does not compile",
                    RuntimeError,
                )
                command.append(f"{kernels}.o")
            _run([*command, "-o", str(made), *linked], f"{source.name} does not compile", RuntimeError)
            (folder / "namespace").write_text(_first_namespace((generated / "index.txt").read_text()))
            os.replace(folder / "namespace", namespace)
            os.replace(made, library)
    return str(library), namespace.read_text()


def _own_variables(compiler):
    """The option with which an edited kernel does not share static variables of templates with the one before."""
    option = "-fno-gnu-unique"
    done = subprocess.run([*compiler, option, "-fsyntax-only", "-x", "c++", os.devnull], capture_output=True)
    return [option] if done.returncode == 0 else []


def _first_namespace(index):
    """That of the first entry which has one, of the generator's index: `operator`, name, file:line."""
    entries = [line.split("\t") for line in index.splitlines() if line.startswith("operator\t")]
    if not entries:
        raise OperatorError("there are no operators in the text")
    entries.sort(key=lambda fields: int(fields[2].rpartition(":")[2]))
    for fields in entries:
        namespace, colons, _ = fields[1].partition("::")
        if colons:
            return namespace
    _, name, place = entries[0][:3]
    place = f"{os.path.basename(place.rpartition(':')[0])}:{place.rpartition(':')[2]}"
    raise OperatorError(f"{place}: error: `{name}` needs a namespace of its own: write `func: mine::{name}(...)`")


def _dependencies(rule):
    """The absolute paths of the files that a rule of make names after its target."""
    names = re.findall(r"(?:\\.|[^\s\\])+", rule.replace("\\\n", " ").partition(": ")[2])
    return [os.path.abspath(re.sub(r"\\(.)", r"\1", name).replace("$$", "$")) for name in names]


@contextlib.contextmanager
def _locked(folder):
    """Holds the lock of a folder, which goes with the process that has it."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


def _remove_abandoned(cache):
    """Removes the folders of builds whose process has been killed."""
    for folder in cache.glob("tmp*/"):
        with contextlib.suppress(OSError):
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(descriptor)


@contextlib.contextmanager
def _naming_the_cache(cache):
    try:
        yield
    except OSError as error:
        text = f"{error.strerror}: what load_operators() builds is kept there (TENON_CACHE_DIR names another folder)"
        raise type(error)(error.errno, text, str(cache)) from None


@contextlib.contextmanager
def _folder_to_build_in():
    """A folder of the cache, removed at the end; locked, so that others see that it is in use."""
    cache = _cache_folder()
    with _naming_the_cache(cache):
        cache.mkdir(parents=True, exist_ok=True)
        # Nobody takes a folder for abandoned before it is locked.
        with _locked(cache):
            _remove_abandoned(cache)
            folder = pathlib.Path(tempfile.mkdtemp(dir=cache))
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)


def cached(key, build):
    """The library that the cache has under `key`; where it is not, that which build(folder) has made in a folder."""
    library = _cache_folder() / f"{key}.so"
    if not library.exists():
        with _folder_to_build_in() as folder:
            # Under its name it is complete, whoever else builds it meanwhile.
            os.replace(build(folder), library)
    return library


def _find(key):
    """The library under `key`, of the headers as they are now, and its namespace; None if the cache has none."""
    cache = _cache_folder()
    try:
        with _naming_the_cache(cache):
            known = json.loads((cache / f"{key}.json").read_text())
    except (FileNotFoundError, NotADirectoryError, ValueError):  # the last: it was damaged
        return None
    library = cache / f"{key}-{_key_of_headers(known['headers'])}.so"
    return (library, known["namespace"]) if library.exists() else None


def _make(operators, key):
    with _folder_to_build_in() as folder:
        namespace, headers = operators.build(folder)
        library = folder.parent / f"{key}-{_key_of_headers(headers)}.so"
        os.replace(folder / "operators.so", library)
        (folder / "known.json").write_text(json.dumps({"namespace": namespace, "headers": headers}))
        os.replace(folder / "known.json", folder.parent / f"{key}.json")
    return library, namespace


def load(yaml, sources, derivatives):
    """The namespace of the operators and their names, "mine::swiglu"; see load_operators()."""
    operators = _Operators(yaml, derivatives, sources)
    key = operators.key()
    library, namespace = _find(key) or _make(operators, key)
    try:
        return namespace, _C._load_library(str(library), True)
    except RuntimeError:
        # It is not kept: the next call builds it again.
        library.unlink(missing_ok=True)
        with _folder_to_build_in() as folder:
            operators.check_kernels(folder)
        raise


def _is_path(text, argument):
    if isinstance(text, os.PathLike):
        return True
    if not isinstance(text, str):
        raise TypeError(f"load_operators(): argument '{argument}' must be a path or a text, got {type(text).__name__}")
    # YAML's entries in one line look like nothing that a path does, unless there is such a file.
    looks_like_yaml = re.match(r"\s*(-\s|[\[{#%]|$)|.*:(\s|$)", text)
    return "\n" not in text and (os.path.isfile(text) or not looks_like_yaml)


def _text_of(text, argument):
    return pathlib.Path(text).read_text() if _is_path(text, argument) else text
