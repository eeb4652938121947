"""Writes tenon/as_torch/_torch_names.py: which modules PyTorch has, and which names are in them.

    build/venv-oracle/bin/python bindings/python/torch_names.py

These are names alone. tenon.as_torch answers with them whether PyTorch has something that Tenon lacks.
"""

import importlib
import inspect
import pkgutil
import sys
import textwrap
import types
import typing
import warnings
from pathlib import Path

import torch

TARGET = Path(__file__).parent / "tenon/as_torch/_torch_names.py"

# Packages of which any name may be mentioned, and private modules but these: programs subclass and annotate with little of them.
OPAQUE = """
ao bin contrib cpu.amp cuda.tunable distributed.autograd distributed.checkpoint distributed.debug distributed.elastic distributed.examples
distributed.flight_recorder distributed.fsdp distributed.launcher distributed.nn distributed.optim distributed.pipelining distributed.rpc
distributed.tensor export functorch fx.annotate fx.config fx.experimental fx.passes include jit.mobile lib masked.maskedtensor monitor mtia nativert nested nn.attention.experimental
nn.intrinsic nn.qat nn.quantizable nn.quantized numa onnx package profiler.python_tracer quantization share sparse test testing.internal
utils.backcompat utils.benchmark utils.bottleneck utils.data.datapipes utils.data.graph utils.data.graph_settings utils.hipify utils.jit
utils.serialization utils.tensorboard utils.viz utils.model_dump xpu
""".split()
LISTED = {"_C", "_utils", "_tensor", "_ops", "_tensor_str", "_six", "_storage_docs", "_namedtensor_internals", "_VF", "_classes"} | {
    "fx._compatibility", "fx._pytree", "fx._symbolic_trace", "utils._pytree", "utils._foreach_utils", "utils._python_dispatch", "utils.data._utils", "nn._reduction", "nn.parallel._functions"
}  # fmt: skip


# Modules besides *.exc and *.errors that have exceptions.
EXCEPTIONS_IN = {
    "torch.distributed.elastic.multiprocessing.errors", "torch.export", "torch.fx.experimental.symbolic_shapes", "torch.onnx", "torch.package"
}  # fmt: skip

IGNORED = {"TYPE_CHECKING", "annotations", "log", "logger"}


def is_opaque(name):
    short = name.removeprefix("torch.")
    if any(short == opaque or short.startswith(opaque + ".") for opaque in OPAQUE):
        return True
    private = any(part.startswith("_") for part in short.split("."))
    return private and not any(short == listed or short.startswith(listed + ".") for listed in LISTED)


def modules():
    """Names of the modules that are not below opaque ones."""
    names, opaque = ["torch"], set()
    for found in pkgutil.iter_modules(torch.__path__, "torch."):
        stack = [found]
        while stack:
            module = stack.pop()
            if is_opaque(module.name):
                opaque.add(module.name)
                if module.ispkg and not any(part.startswith("_") for part in module.name.split(".")):
                    path = [str(Path(torch.__file__).parent.joinpath(*module.name.split(".")[1:]))]
                    opaque.update(child.name for child in pkgutil.iter_modules(path, module.name + "."))
                continue
            names.append(module.name)
            if module.ispkg:
                path = [str(Path(torch.__file__).parent.joinpath(*module.name.split(".")[1:]))]
                stack.extend(pkgutil.iter_modules(path, module.name + "."))
    # Modules of torch._C, which are in no file.
    opaque.update(name for name in sys.modules if name.startswith("torch._C."))
    return names, opaque


def spelled(name, value):
    """A value, which cannot be called, ends with `=`."""
    return name if callable(value) else name + "="


def names_of(module):
    """{name: the module that defines it} of the classes, functions and values of a module."""
    found = {}
    for name, value in vars(module).items():
        if (
            name.startswith("__")
            or name in IGNORED
            or isinstance(value, (types.ModuleType, typing.TypeVar, typing.ParamSpec))
        ):
            continue
        home = getattr(value, "__module__", None)
        if isinstance(home, str) and not home.startswith("torch"):
            if name in (getattr(value, "__name__", None), getattr(value, "_name", None)):
                continue  # imported from elsewhere
            home = None
        is_own = not isinstance(value, (type, types.FunctionType)) or getattr(value, "__name__", None) != name
        found[spelled(name, value)] = module.__name__ if is_own or home is None or home.startswith("torch._C") else home
    return found


def exceptions():
    """{name: the builtin class that it derives from} of exceptions and warnings of all modules that load."""
    names = [found.name for found in pkgutil.walk_packages(torch.__path__, "torch.", onerror=lambda name: None)]
    found = {}
    for name in (name for name in names if name.endswith((".exc", ".errors")) or name in EXCEPTIONS_IN):
        try:
            importlib.import_module(name)
        except Exception as error:  # what needs something that is not installed
            print(f"{name}: {type(error).__name__}: {error}")
    for name, module in sorted(sys.modules.items()):
        for cls in vars(module).values() if name.partition(".")[0] == "torch" else ():
            if isinstance(cls, type) and issubclass(cls, BaseException) and cls.__module__.startswith("torch"):
                found[cls.__name__] = next(base.__name__ for base in cls.__mro__ if base.__module__ == "builtins")
    return found


def text_of(module, names):
    by_home = {}
    for name, home in sorted(names.items()):
        by_home.setdefault(home, []).append(name)
    lines = [module]
    for home, group in sorted(by_home.items(), key=lambda item: (item[0] != module, item[0])):
        start = " " if home == module else f" {home}: "
        lines += textwrap.wrap(start + " ".join(group), 118, subsequent_indent="  ", drop_whitespace=True,
                               break_long_words=False, break_on_hyphens=False)  # fmt: skip
    return "\n".join(lines)


def main():
    warnings.simplefilter("ignore")
    names, opaque = modules()
    rows = []
    for name in sorted(names):
        try:
            module = importlib.import_module(name)
        except Exception as error:  # what needs something that is not installed
            print(f"{name}: {type(error).__name__}: {error}")
            rows.append(name)
            continue
        rows.append(text_of(name, names_of(module)))
    members = {n: inspect.getattr_static(torch.Tensor, n) for n in dir(torch.Tensor) if not n.startswith("__")}
    tensor = " ".join(sorted(spelled(n, getattr(v, "__func__", v)) for n, v in members.items()))
    rows.append("\n".join(["torch.Tensor", *textwrap.wrap(" " + tensor, 118, subsequent_indent="  ")]))
    opaque_text = "\n".join(textwrap.wrap(" ".join(sorted(opaque)), 118, break_on_hyphens=False))
    by_base = {}
    for name, base in sorted(exceptions().items()):
        by_base.setdefault(base, []).append(name)
    bases = "\n".join(
        textwrap.fill(f"{base}: {' '.join(group)}", 118, subsequent_indent="  ", break_on_hyphens=False)
        for base, group in sorted(by_base.items())
    )
    TARGET.write_text(
        f'"""The modules of PyTorch {torch.__version__.partition("+")[0]} and the names in them, written by bindings/python/torch_names.py.\n\n'
        "A module's name begins a line. Below it are the names that it defines, and after `module:` those that it has from there.\n"
        "A name of a value, which is neither a class nor a function, ends with `=`.\n"
        '"""\n\n# Packages whose names are not listed.\n'
        f'OPAQUE = """\n{opaque_text}\n"""\n\n# The builtin classes that exceptions and warnings derive from.\n'
        f'EXCEPTIONS = """\n{bases}\n"""\n\nNAMES = """\n' + "\n".join(rows) + '\n"""\n'
    )


if __name__ == "__main__":
    main()
