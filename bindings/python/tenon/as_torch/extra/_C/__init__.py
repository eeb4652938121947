"""Private names of torch._C that programs use."""

import inspect

import tenon
from tenon import _C
from tenon.as_torch.extra._C import _functions as _functions
from tenon.as_torch.extra._decorators import answer

_log_api_usage_once = answer("_log_api_usage_once", None, "Nothing is logged.")
_get_tracing_state = answer("_get_tracing_state", None, "None: nothing is traced.")
_is_tracing = answer("_is_tracing", False, "False: nothing is traced.")
_get_cudnn_enabled = answer("_get_cudnn_enabled", False, "False: Tenon does not use cuDNN.")
_jit_set_profiling_executor = answer("_jit_set_profiling_executor", False, "No effect: nothing is compiled.")
_jit_set_profiling_mode = answer("_jit_set_profiling_mode", False, "No effect: nothing is compiled.")
_get_privateuse1_backend_name = answer("_get_privateuse1_backend_name", "privateuseone", "No other devices.")
_cuda_getDeviceCount = answer("_cuda_getDeviceCount", 0, "Asked of tenon.cuda.")
_GLIBCXX_USE_CXX11_ABI = True
has_cuda = _C._has["cuda"]
has_openmp = _C._has["openmp"]
_has_cuda = has_cuda


def _infer_size(a, b):
    """The size that two sizes broadcast to."""
    return tenon.broadcast_shapes(a, b)


TensorBase = _TensorBase = tenon.Tensor
_TensorMeta = type(tenon.Tensor)
DisableTorchFunctionSubclass = _C._DisableTorchFunctionSubclass
DisableTorchFunction = _C._DisableTorchFunction


def _dispatch_isTensorSubclassLike(tensor):
    """Whether functions, and not a kernel, compute with the tensor: a class with __torch_dispatch__, or vmap."""
    return _C._takes_calls(tensor) or _C._func.is_batched(tensor)


def _get_default_device():
    """The name of the device that tensors are made on."""
    return str(tenon.get_default_device())


def _get_deterministic_algorithms():
    """Whether deterministic algorithms are asked for."""
    return tenon.are_deterministic_algorithms_enabled()


def _parse_to(*args, **kwargs):
    """The arguments of to(): (device, dtype, non_blocking, memory_format)."""
    names = {"device": None, "dtype": None, "non_blocking": False, "memory_format": None, "copy": False}
    flags = ["non_blocking", "copy"]
    for value in args:
        if isinstance(value, tenon.Tensor):
            names["device"], names["dtype"] = value.device, value.dtype
        elif isinstance(value, tenon.dtype):
            names["dtype"] = value
        elif isinstance(value, tenon.memory_format):
            names["memory_format"] = value
        elif isinstance(value, bool):
            names[flags.pop(0)] = value
        elif value is not None:
            names["device"] = tenon.device(value)
    for name, value in kwargs.items():
        if name not in names and name != "tensor":
            raise TypeError(f"to() got an unexpected keyword argument '{name}'")
        if name == "tensor":
            names["device"], names["dtype"] = value.device, value.dtype
        else:
            names[name] = tenon.device(value) if name == "device" and value is not None else value
    return names["device"], names["dtype"], names["non_blocking"], names["memory_format"]


class _Keys(type):
    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        key = cls(name)
        setattr(cls, name, key)
        return key


class DispatchKey(metaclass=_Keys):
    """The name of a way in which PyTorch dispatches. Tenon's operators heed none: see autograd, autocast, devices."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"DispatchKey.{self.name}"


class DispatchKeySet:
    """A set of such names."""

    def __init__(self, *keys):
        self._keys = frozenset(keys)

    def __or__(self, other):
        return DispatchKeySet(*self._keys, *other._keys)

    def __and__(self, other):
        return DispatchKeySet(*(self._keys & other._keys))

    def __sub__(self, other):
        return DispatchKeySet(*(self._keys - other._keys))

    def has(self, key):
        return key in self._keys

    def add(self, key):
        return DispatchKeySet(*self._keys, key)

    def remove(self, key):
        return DispatchKeySet(*(self._keys - {key}))

    def __eq__(self, other):
        return isinstance(other, DispatchKeySet) and self._keys == other._keys

    def __hash__(self):
        return hash(self._keys)


_are_functorch_transforms_active = answer(
    "_are_functorch_transforms_active", False, "False: there are no such transforms."
)


class _DisableFuncTorch:
    """Outside of vmap() and the like there is nothing to disable; within it NotImplementedError."""

    def __init__(self):
        if _C._func.current_level() is not None and _C._func.current_level() > 0:
            raise NotImplementedError("torch._C._DisableFuncTorch: transforms cannot be left out within vmap()")


class _Functions:
    """The functions of operators, which PyTorch has in a class."""

    def __getattr__(self, name):
        value = vars(tenon).get(name)
        if name.startswith("__") or not inspect.isbuiltin(value):
            raise AttributeError(f"type object 'torch._C._VariableFunctionsClass' has no attribute '{name}'")
        return value

    def __dir__(self):
        return sorted(name for name, value in vars(tenon).items() if inspect.isbuiltin(value))


_VariableFunctions = _Functions()
