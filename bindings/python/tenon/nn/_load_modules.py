"""Modules of one's own, from entries of modules.yaml's form."""

import importlib
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import types

__all__ = ["load_modules"]


def load_modules(path, operators=()):
    """The classes that the file declares, as a module of its name: docs/modules.md.

        mine = tenon.nn.load_modules("mine.yaml")
        layer = mine.ScaledLinear(3, 4)

    operators: YAML files of operators of one's own that the classes call; load them with load_operators() first. The classes are
    written to $TENON_CACHE_DIR, or ~/.cache/tenon, to be read. Those of a file that is loaded again are replaced. ValueError for
    mistakes in the file; RuntimeError on a machine without Jinja2.
    """
    from tenon import _build, _build_paths as paths

    path = pathlib.Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"load_modules(): there is no file {path}")
    if paths.RENDER_PYTHON == sys.executable and importlib.util.find_spec("jinja2") is None:
        raise RuntimeError(f"load_modules() needs Jinja2: {sys.executable} -m pip install Jinja2")
    share = pathlib.Path(paths.NATIVE_FUNCTIONS).parent
    native = [part for file in (paths.NATIVE_FUNCTIONS, *operators) for part in ("--native", str(file))]
    texts = [pathlib.Path(file).read_bytes() for file in (path, share / "modules.yaml", *operators)]
    folder = _build._cache_folder() / "modules" / f"{path.stem}-{_build._digest([paths.TENONC, *texts])}"
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as made:
            command = [paths.TENONC, "modules", str(path), "--modules", str(share / "modules.yaml"), *native]
            command += ["--templates", str(pathlib.Path(paths.TEMPLATES).parent / "module_templates"), "--out", made]
            done = subprocess.run([*command, "--python", paths.RENDER_PYTHON], capture_output=True, text=True)
            if done.returncode:
                raise ValueError(f"load_modules(): {path} has mistakes\n{(done.stderr or done.stdout).strip()}")
            try:
                os.rename(pathlib.Path(made) / "python" / path.stem, folder)
            except OSError:
                if not folder.is_dir():  # another process has written the same
                    raise
    return _import(path.stem, folder)


def _import(name, folder):
    package = types.ModuleType(f"tenon_modules_{name}", f"Modules of {name}.yaml.")
    package.__path__ = [str(folder)]
    for loaded in [one for one in sys.modules if one.startswith(f"{package.__name__}.")]:
        del sys.modules[loaded]
    sys.modules[package.__name__] = package
    for file in sorted(folder.glob("*.py")):
        module = importlib.import_module(f"{package.__name__}.{file.stem}")
        for one in module.__all__:
            setattr(package, one, getattr(module, one))
    return package
