"""PyTorch 1.13's helpers of its tests, torch.testing._internal and a few files beside it, for whichever library is imported as torch.

They are read from PyTorch's source package. Names that they ask for and that PyTorch 2.15 has no more are given here, the same ones to
both libraries. What they change in TorchScript is given to a stand-in if the library has no TorchScript.
"""

import importlib.machinery
import importlib.util
import sys
import types
from pathlib import Path

# Files of PyTorch 1.13 that its tests use and that are not what is tested.
HELPERS = ("torch._six", "torch.testing._comparison", "torch.testing._creation", "torch.testing._legacy")
INTERNAL = "torch.testing._internal"


def is_helper(name):
    return name in HELPERS or name == INTERNAL or name.startswith(INTERNAL + ".")


def _operator_or_stand_in(find):
    """The helpers' table of operators has some that a library may lack: their tests fail, not the table."""

    def found(obj, name, *default):
        try:
            return find(obj, name, *default)
        except AttributeError:
            return _lacking(name.rpartition(".")[2])

    return found


class _Loader(importlib.machinery.SourceFileLoader):
    def exec_module(self, module):
        super().exec_module(module)
        if module.__name__ == INTERNAL + ".opinfo.core":
            module._getattr_qual = _operator_or_stand_in(module._getattr_qual)
        if (
            module.__name__ == INTERNAL + ".common_modules"
        ):  # tests are named after modules, of which torch.nn.modules is tenon.nn.modules
            names = module.MODULE_CLASS_NAMES
            names.update({cls: name.removeprefix("tenon.") for cls, name in names.items()})


class Finder:
    def __init__(self, sources):
        self.sources = Path(sources)

    def find_spec(self, name, path=None, target=None):
        if not is_helper(name) and name.partition(".")[0] != "torchgen":
            return None
        place = self.sources.joinpath(*name.split("."))
        if (place / "__init__.py").exists():
            file = place / "__init__.py"
            loader = _Loader(name, str(file))
            return importlib.util.spec_from_file_location(
                name, file, loader=loader, submodule_search_locations=[str(place)]
            )
        if place.is_dir():
            spec = importlib.machinery.ModuleSpec(name, None, is_package=True)
            spec.submodule_search_locations = [str(place)]
            return spec
        file = place.with_suffix(".py")
        return (
            importlib.util.spec_from_file_location(name, file, loader=_Loader(name, str(file)))
            if file.exists()
            else None
        )


def _stand_in(name):
    """A class in the place of one of TorchScript's: the helpers only set its attributes."""

    def __call__(self, *args, **kwargs):
        raise NotImplementedError(name)

    return type(name, (), {"__call__": __call__})


def _give(module, **names):
    """Sets the names that the library has not."""
    for name, value in names.items():
        try:
            found = getattr(module, name)
        except AttributeError:
            found = None
        if found is None or hasattr(found, "_torch_name"):  # a placeholder of tenon.as_torch
            setattr(module, name, value)


class _Dtype:
    """A dtype that the library lacks: the helpers' tables name it. Every call with it fails."""

    def __init__(self, name, is_complex=False):
        self.name, self.is_complex, self.is_floating_point = name, is_complex, False

    @property
    def __class__(self):
        import torch

        return torch.dtype

    def __repr__(self):
        return f"torch.{self.name}"


def _dtypes():
    half = _Dtype("complex32", is_complex=True)
    return {
        "complex32": half,
        "chalf": half,
        **{name: _Dtype(name) for name in ("qint8", "quint8", "qint32", "quint4x2")},
    }


def _lacking(name):
    def lacking(*args, **kwargs):
        raise NotImplementedError(name)

    lacking.__name__ = name
    return lacking


def _names_of_the_past():
    """What tests of PyTorch 1.13 import and PyTorch 2.15, or NumPy 2, has in another place or not at all."""
    import numpy
    import torch
    import torch.nn.utils.stateless
    import torch.testing
    import torch.utils.data

    _give(torch.utils.data, DataLoader2=_stand_in("DataLoader2"), communication=_stand_in("communication"))
    sys.modules["torch.nn.utils._stateless"] = torch.nn.utils._stateless = torch.nn.utils.stateless
    _give(
        importlib.import_module("torch.autograd._functions.utils"),
        check_onnx_broadcast=_lacking("check_onnx_broadcast"),
    )
    dtypes = importlib.import_module(INTERNAL + ".common_dtype")
    _give(torch.testing, **{name: value for name, value in vars(dtypes).items() if "types" in name})
    for name, value in {"float_": "float64", "product": "prod", "alltrue": "all", "in1d": "isin"}.items():
        if not hasattr(numpy, name):
            setattr(numpy, name, getattr(numpy, value))


def _names_out_of_scope():
    """Names of ONNX, TorchScript, quantization and kernels that are compiled for a GPU, which the helpers ask for when they are loaded."""
    import torch
    import torch.cuda.jiterator
    import torch.onnx

    symbolic = {name: _stand_in(name) for name in ("register_custom_op_symbolic", "unregister_custom_op_symbolic")}
    _give(torch.onnx, _CAFFE2_ATEN_FALLBACK=False, producer_version="", **symbolic)
    script = ("ScriptDict", "ScriptList", "ScriptFunction", "ScriptMethod", "ScriptModule", "Future", "FileCheck")
    _give(torch._C, **{name: _stand_in(name) for name in script})
    _give(
        torch._C,
        _jit_set_profiling_executor=lambda mode: mode,
        _get_graph_executor_optimize=lambda mode=True: mode,
        _jit_set_num_profiled_runs=lambda runs: runs,
    )
    _give(torch, **_dtypes())
    for name in ("nn.qat", "ao.nn.qat", "nn.quantizable", "nn.quantized", "ao.nn.quantized"):
        module = importlib.import_module(f"torch.{name}.modules")
        if not hasattr(module, "__all__"):
            module.__all__ = []
    torch.backends.quantized = types.SimpleNamespace(supported_engines=["none"], engine="none")
    compiling = ("_create_jit_fn", "_create_multi_output_jit_fn")
    _give(torch.cuda.jiterator, **{name: lambda *args, **kwargs: _lacking("jiterator") for name in compiling})


def names_of_graphs():
    """What test_ops imports, through test_proxy_tensor, of PyTorch's recorder of programs."""
    names = ("has_proxy", "get_isolated_graphmodule", "DecompositionInterpreter")
    _give(importlib.import_module("torch.fx.experimental.proxy_tensor"), **{name: _lacking(name) for name in names})


def install(sources):
    """Has torch.testing._internal come from the source package from now on."""
    import torch
    import torch.testing

    for name in [name for name in sys.modules if is_helper(name)]:
        del sys.modules[name]
    vars(torch.testing).pop("_internal", None)
    sys.meta_path.insert(0, Finder(sources))
    _give(torch._C, has_lapack=True, has_mkl=False, has_mkldnn=False, has_spectral=True)
    _give(torch.backends, disable_global_flags=lambda: None)
    _names_out_of_scope()
    _names_of_the_past()
