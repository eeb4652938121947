"""Names of the module `torch` itself."""

import sys
import warnings

import tenon
from tenon import _C
from tenon.as_torch.extra._decorators import answer
from tenon.as_torch.extra._ops import ops as ops
from tenon.as_torch.extra.torch_version import __version__ as __version__

# ---- compiling ----

_said = []


def compile(
    model=None, *, fullgraph=False, dynamic=None, backend=None, mode=None, options=None, name=None, disable=False,
    recompile_limit=None, isolate_recompiles=False, dynamic_shapes=None,
):  # fmt: skip
    """The function or module as it is, or a decorator that gives it back. A line says so the first time."""
    if not _said and not disable:
        _said.append(True)
        print("torch.compile: Tenon runs the function as it is written; nothing is compiled.", file=sys.stderr)
    return (lambda model: model) if model is None else model


def compiled_with_cxx11_abi():
    """True."""
    return True


# ---- checks ----


def _failed(kind, condition, message):
    if not isinstance(condition, bool):
        raise TypeError(f"cond must be a bool, but got {type(condition)}")
    if not condition:
        raise kind("Expected cond to be True, but got False" if message is None else str(message()))


def _check(cond, message=None):
    """RuntimeError with the text that message() gives, unless cond."""
    _failed(RuntimeError, cond, message)


def _check_index(cond, message=None):
    """IndexError unless cond."""
    _failed(IndexError, cond, message)


def _check_value(cond, message=None):
    """ValueError unless cond."""
    _failed(ValueError, cond, message)


def _check_type(cond, message=None):
    """TypeError unless cond."""
    _failed(TypeError, cond, message)


def _check_not_implemented(cond, message=None):
    """NotImplementedError unless cond."""
    _failed(NotImplementedError, cond, message)


def _check_is_size(i, message=None, *, max=None):
    """RuntimeError unless i is a size."""
    _check(i >= 0 and (max is None or i <= max), message)


# ---- numbers that are known only when a program runs: Python's ----


def sym_int(a):
    """int(a)"""
    return int(a)


def sym_float(a):
    """float(a)"""
    return float(a)


def sym_not(a):
    """not a"""
    return not a


def sym_max(a, b):
    """max(a, b)"""
    return max(a, b)


def sym_min(a, b):
    """min(a, b)"""
    return min(a, b)


def sym_ite(b, t, f):
    """t if b, otherwise f"""
    return t if b else f


# ---- what there is not ----

_is_functional_tensor = answer("_is_functional_tensor", False, "False: no tensor is one of functorch's.")
_has_mkldnn = has_mkldnn = _C._has["onednn"]
has_mkl = False
has_lapack = True
has_spectral = True
has_openmp = _C._has["openmp"]

_nnpack_available = answer("_nnpack_available", False, "False.")
is_vulkan_available = answer("is_vulkan_available", False, "False.")
is_distributed = answer("is_distributed", False, "False: no tensor is spread over processes.")
init_num_threads = answer("init_num_threads", None, "No effect.")

# ---- private names ----


def _assert_tensor_metadata(a, size=None, stride=None, dtype=None, *, device=None, layout=None):
    """RuntimeError unless the tensor has these, of those that are given."""
    for what, wanted in (
        ("sizes", size),
        ("strides", stride),
        ("dtype", dtype),
        ("device", device),
        ("layout", layout),
    ):
        if wanted is None:
            continue
        if what in ("sizes", "strides"):
            found, wanted = list(a.size() if what == "sizes" else a.stride()), list(wanted)
        else:
            found = getattr(a, what)
        if found != (tenon.device(wanted) if what == "device" else wanted):
            raise RuntimeError(f"Tensor {what} mismatch! Expected: {wanted}, Got: {found}")


def _grouped_mm(self, mat2, offs=None, bias=None, out_dtype=None):
    """nn.functional.grouped_mm()"""
    return tenon.nn.functional.grouped_mm(self, mat2, offs=offs, bias=bias, out_dtype=out_dtype)


# ---- functions that PyTorch removed, which say so ----


def _removed(name, other):
    def removed(*args, **kwargs):
        raise RuntimeError(
            f"This function was deprecated since version 1.9 and is now removed. Use torch.linalg.{other}, whose arguments and "
            f"results are others, instead of torch.{name}."
        )

    removed.__name__ = removed.__qualname__ = name
    removed.__doc__ = f"RuntimeError: linalg.{other} has its place."
    return removed


eig = _removed("eig", "eig")
lstsq = _removed("lstsq", "lstsq")
matrix_rank = _removed("matrix_rank", "matrix_rank")
solve = _removed("solve", "solve")
symeig = _removed("symeig", "eigh")
for _name, _function in {"eig": eig, "lstsq": lstsq, "solve": solve, "symeig": symeig}.items():
    setattr(tenon.Tensor, _name, _function)

# ---- old names ----

Storage = tenon.FloatStorage
set_anomaly_enabled = tenon.autograd.set_detect_anomaly


def is_autocast_cpu_enabled():
    """Whether autocast is on for the CPU."""
    return _C.is_autocast_enabled("cpu")


def get_autocast_cpu_dtype():
    """The dtype of autocast for the CPU."""
    return _C.get_autocast_dtype("cpu")


def get_autocast_gpu_dtype():
    """The dtype of autocast for GPUs."""
    return _C.get_autocast_dtype("cuda")


def get_device_module(device=None):
    """The module of a kind of device, `torch.cpu` or `torch.cuda`; without an argument that of the GPU, or of the CPU."""
    if device is None:
        kind = "cuda" if tenon.cuda.is_available() else "cpu"
    else:
        kind = tenon.device(device).type
    return getattr(sys.modules["torch"], kind)


def range(start, end=None, step=1, *, out=None, **options):
    """The deprecated arange() whose end belongs to it."""
    warnings.warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with "
        "Python's range builtin. Instead, use torch.arange, which produces values in [start, end).",
        stacklevel=2,
    )
    start, end = (0, start) if end is None else (start, end)
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    options.setdefault("dtype", tenon.get_default_dtype() if out is None else out.dtype)
    values = tenon.arange(0, int((end - start) / step) + 1, **options) * step + start
    return values if out is None else out.resize_(values.shape).copy_(values)


class _VariableFunctions:
    """The functions of operators, under the name of a class."""

    def __getattr__(self, name):
        return getattr(_C, name)


_VariableFunctions = _VF = _VariableFunctions()
