"""What of Tensor, and of the functions around it, is written in Python."""

import functools
import warnings

from tenon import _C

Tensor = _C.Tensor


def _list(values):
    """A tensor, a place in the graph, or several of both."""
    if values is None:
        return []
    return [values] if isinstance(values, (Tensor, GradientEdge)) else list(values)


class GradientEdge(tuple):
    """A place in the graph: a node, and which of its gradients."""

    node = property(lambda self: self[0])
    output_nr = property(lambda self: self[1])


def _edge(value):
    return value if isinstance(value, GradientEdge) else _C._gradient_edge(value)


def _run_backward(tensors, grads, retain_graph, create_graph, inputs):
    if inputs is not None and not _list(inputs):
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    tensors, grads, inputs = _list(tensors), _list(grads), _list(inputs)
    if create_graph:
        warnings.warn(
            "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient "
            "which can cause a memory leak: use autograd.grad(), or set `grad` to None when it is no longer needed.",
            stacklevel=3,
        )
    if not any(isinstance(value, GradientEdge) for value in (*tensors, *inputs)):
        return _C._backward(tensors, grads, retain_graph, create_graph, inputs)
    outputs, places = [_edge(t) for t in tensors], [_edge(i) for i in inputs]
    for value in inputs:
        if isinstance(value, Tensor):
            value.retain_grad()
    _C._backward_of_edges(outputs, grads, retain_graph, create_graph, places)


def _method(function):
    """Makes the function a method of Tensor; one with a name of the public API can be overridden."""
    method = function
    if not function.__name__.startswith("_"):
        name = f"Tensor.{function.__name__}"

        @functools.wraps(function)
        def method(self, *args, **kwargs):
            if self.__class__ is not Tensor and _C._has_torch_function((self,)):
                return _C._call_override(method, (self,), (self, *args), kwargs, name)
            return function(self, *args, **kwargs)

    setattr(Tensor, function.__name__, method)
    return method


# ---- subclasses ----


def _as_class(cls, result):
    if isinstance(result, Tensor) and not isinstance(result, cls):
        return _C._as_subclass(cls, result)
    if isinstance(result, (tuple, list)):
        converted = [_as_class(cls, one) for one in result]
        return result.__class__(converted)  # also a named tuple of results
    return result


def _torch_function(cls, func, types, args=(), kwargs=None):
    """What a subclass does with a call unless it says otherwise: it computes, and tensors among the results become its own."""
    # A Tensor itself comes here only from another library with this protocol, whose functions are not for our tensors.
    if cls is Tensor or not all(issubclass(cls, t) for t in types):
        return NotImplemented
    with _C._DisableTorchFunctionSubclass():
        result = func(*args, **({} if kwargs is None else kwargs))
        return result if func in _nowrap else _as_class(cls, result)


Tensor.__torch_function__ = classmethod(_torch_function)
_nowrap = {Tensor._base.__get__, Tensor.grad.__get__}


# ---- gradients ----


@_method
def backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
    """Adds the gradients of this tensor to the `grad` of the leaves that it was computed from.

    gradient: that of the final result with respect to this tensor; a tensor of one element needs none.
    retain_graph: keep the graph for another run; by default, if create_graph is given.
    create_graph: record the run, for gradients of gradients.
    inputs: only these accumulate.
    """
    _run_backward(self, gradient, retain_graph, create_graph, inputs)


@_method
def svd(self, some=True, compute_uv=True):
    """U, S and V with U diag(S) V^H = self: see linalg.svd."""
    return _C.svd(self, some, compute_uv)


def _adjoint(self, name):
    if self.dim() < 2:
        raise RuntimeError(f"tensor.{name} is only supported on matrices or batches of matrices. Got {self.dim()}-D tensor.")
    return self.transpose(-2, -1).conj()


@_method
def adjoint(self):
    """The last two dimensions exchanged, and complex numbers conjugated."""
    return _adjoint(self, "adjoint()")


def _of_matrix(self):
    if self.dim() not in (0, 2):
        raise RuntimeError(f"tensor.H is only supported on matrices (2-D tensors). Got {self.dim()}-D tensor.")
    return self.conj() if self.dim() == 0 else _adjoint(self, "H")


Tensor.mH = property(lambda self: _adjoint(self, "mH"), doc=adjoint.__doc__)
Tensor.H = property(_of_matrix, doc="A matrix with its dimensions exchanged, and complex numbers conjugated.")


@_method
def float_power_(self, exponent):
    """self to the power of exponent, computed in double, which self must be."""
    result = _C.float_power(self, exponent)
    if result.dtype != self.dtype:
        raise RuntimeError(f"[float_power_] the base given to float_power_ has dtype {self.dtype} but the operation's result requires dtype {result.dtype}")
    return self.copy_(result)


@_method
def register_hook(self, hook):
    """Calls hook(grad) when the gradient of this tensor has been computed; a tensor that it returns replaces it."""
    if not self.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    return _C._register_hook(self, hook)


@_method
def register_post_accumulate_grad_hook(self, hook):
    """Calls hook(tensor) each time the `grad` of this leaf has been added to."""
    return _C._register_post_accumulate_grad_hook(self, hook)


Tensor.grad_fn = property(_C._grad_fn, doc="The recorded operation that made this tensor, or None.")


# ---- exchange with other libraries ----


@_method
def numpy(self, *, force=False):
    """The elements as a numpy array over the same memory; with force a copy where that cannot be."""
    if force:
        self = self.detach().cpu()
    elif self.requires_grad:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    return _C._to_numpy(self)


@_method
def __array__(self, dtype=None, copy=None):
    array = self.numpy()
    if dtype is not None and array.dtype != dtype:
        if copy is False:
            raise ValueError("a tensor of another dtype cannot become an array without a copy")
        return array.astype(dtype)
    return array.copy() if copy else array


@_method
def __array_wrap__(self, array, context=None, return_scalar=False):
    return _C.from_numpy(array) if array.shape else _C.tensor(array.item()).to(_C.from_numpy(array.reshape(1)).dtype)


# numpy's operators leave the call to ours: array + tensor is a tensor.
Tensor.__array_priority__ = 1000


@_method
def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
    if self.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
        raise BufferError(f"the tensor is on {self.device}, and is not moved by __dlpack__")
    return _C._to_dlpack(self.clone() if copy else self)


@_method
def __dlpack_device__(self):
    if self.device.type == "cpu":
        return (1, 0)
    if self.device.type == "cuda":
        return (2, self.device.index or 0)
    raise BufferError(f"a tensor on {self.device} has no memory to share")


def from_dlpack(source):
    """A tensor over the memory of another library's array; anything with __dlpack__, or a DLPack capsule."""
    return _C._from_dlpack(source)


def as_tensor(data, dtype=None, device=None):
    """`data` as a tensor, over the same memory where it is a tensor or a numpy array that has the dtype already."""
    if isinstance(data, Tensor):
        result = data
    elif hasattr(data, "__array_interface__") and hasattr(data, "shape") and data.shape != ():
        result = _C.from_numpy(data)
    else:
        return _C.tensor(data, dtype=dtype, device=device)
    if dtype is not None:
        result = result.to(dtype)
    return result if device is None else result.to(device)


def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=False):
    """as_tensor(), with a copy where `copy` is true and never one where it is false."""
    result = as_tensor(obj, dtype=dtype, device=device)
    shares = result is obj or (not isinstance(obj, (bool, int, float, complex, list, tuple)) and result.numel() > 0)
    if copy and shares:
        result = result.clone()
    return result.requires_grad_() if requires_grad else result


def frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False):
    """A one-dimensional tensor over the bytes of a buffer."""
    view = memoryview(buffer).cast("B")
    size = dtype.itemsize
    if not 0 <= offset < max(len(view), 1):
        raise ValueError(f"offset must be from 0 to {len(view) - 1}, got {offset}")
    available = len(view) - offset
    if count < 0:
        if available % size:
            raise ValueError(f"the buffer has {available} bytes after the offset, no multiple of {size}")
        count = available // size
    if count == 0 or count * size > available:
        raise ValueError(f"requested {count} elements of {size} bytes, but the buffer has {available} bytes")
    result = _C._from_bytes(view[offset : offset + count * size], dtype)
    return result.requires_grad_() if requires_grad else result


# ---- conversions ----


def _add_conversions():
    for name, dtype in {
        "float": _C.float32, "double": _C.float64, "half": _C.float16, "bfloat16": _C.bfloat16, "long": _C.int64,
        "int": _C.int32, "short": _C.int16, "char": _C.int8, "byte": _C.uint8, "bool": _C.bool,
        "cfloat": _C.complex64, "cdouble": _C.complex128,
    }.items():

        def convert(self, memory_format=_C.preserve_format, *, _dtype=dtype):
            return self.to(_dtype, memory_format=memory_format)

        convert.__name__ = name
        convert.__doc__ = f"The tensor as {dtype}."
        setattr(Tensor, name, convert)


_add_conversions()


@_method
def cpu(self, memory_format=_C.preserve_format):
    """The tensor in the CPU's memory."""
    return self.to("cpu", memory_format=memory_format)


@_method
def cuda(self, device=None, non_blocking=False, memory_format=_C.preserve_format):
    """The tensor on a GPU."""
    return self.to("cuda" if device is None else device, non_blocking=non_blocking, memory_format=memory_format)


@_method
def type(self, dtype=None, non_blocking=False):
    """The tensor as `dtype`; without one its type's name."""
    if dtype is None:
        return typename(self)
    return self.to(dtype, non_blocking=non_blocking)


@_method
def new_tensor(self, data, *, dtype=None, device=None, requires_grad=False):
    """A tensor of the values of `data`, with this tensor's dtype and device unless others are given."""
    dtype = self.dtype if dtype is None else dtype
    device = self.device if device is None else device
    return _C.tensor(data, dtype=dtype, device=device, requires_grad=requires_grad)


def typename(obj):
    """'tenon.FloatTensor' for a tensor; else the name of the object's class."""
    if isinstance(obj, Tensor):
        names = {
            "float32": "Float", "float64": "Double", "float16": "Half", "bfloat16": "BFloat16", "uint8": "Byte",
            "int8": "Char", "int16": "Short", "int32": "Int", "int64": "Long", "bool": "Bool",
            "complex64": "ComplexFloat", "complex128": "ComplexDouble",
        }  # fmt: skip
        name = repr(obj.dtype).split(".")[1]
        middle = "" if obj.device.type == "cpu" else obj.device.type + "."
        return f"tenon.{middle}{names.get(name, name)}Tensor"
    cls = obj if isinstance(obj, __builtins_type) else obj.__class__
    return f"{cls.__module__}.{cls.__qualname__}"


__builtins_type = (0).__class__.__class__


# ---- copies and pickles ----


def _rebuild(data, dtype, sizes, requires_grad):
    # Of a copy, as bytes cannot be written to.
    result = _C._from_bytes(bytearray(data), dtype).reshape(sizes)
    return result.requires_grad_() if requires_grad else result


def _rebuild_subclass(cls, tensor, requires_grad, state):
    result = _C._make_subclass(cls, tensor, requires_grad)
    result.__dict__.update(state)
    return result


@_method
def __reduce_ex__(self, protocol):
    if self.requires_grad and not self.is_leaf:
        raise RuntimeError(
            "Only leaf tensors can be pickled while they require grad: pickle tensor.detach(), or compute it again"
        )
    arguments = (_C._to_bytes(self), self.dtype, tuple(self.size()), self.requires_grad)
    cls = self.__class__
    if cls is Tensor and not self.__dict__:
        return _rebuild, arguments
    return _rebuild_subclass, (cls, _rebuild(*arguments[:-1], False), self.requires_grad, dict(self.__dict__))


@_method
def __copy__(self):
    result = self.detach() if self.is_leaf else self.view_as(self)
    if self.__class__ is not Tensor:
        result = _C._make_subclass(self.__class__, result, self.requires_grad)
    elif self.is_leaf and self.requires_grad:
        result.requires_grad_()
    if self.__dict__:
        result.__dict__.update(self.__dict__)
    return result


@_method
def __deepcopy__(self, memo):
    if id(self) in memo:
        return memo[id(self)]
    if not self.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment."
        )
    import copy

    result = self.detach().clone()
    if self.__class__ is not Tensor:
        result = _C._make_subclass(self.__class__, result, self.requires_grad)
    elif self.requires_grad:
        result.requires_grad_()
    memo[id(self)] = result
    if self.grad is not None:
        result.grad = copy.deepcopy(self.grad, memo)
    if self.__dict__:
        result.__dict__.update(copy.deepcopy(self.__dict__, memo))
    return result


def _as_subclass(self, cls):
    """The same elements as an object of a subclass of Tensor."""
    return _C._as_subclass(cls, self)


Tensor.as_subclass = _as_subclass


Tensor._make_subclass = staticmethod(lambda cls, data, require_grad=False: _C._make_subclass(cls, data, require_grad))


# ---- small ones ----


@_method
def __format__(self, spec):
    if self.dim() == 0 and spec:
        return format(self.item(), spec)
    return object.__format__(self, spec)


@_method
def __reversed__(self):
    return self if self.dim() == 0 else self.flip(0)


@_method
def __complex__(self):
    return complex(self.item())


@_method
def __dir__(self):
    return sorted(set(object.__dir__(self)))


def is_tensor(obj):
    """Whether the object is a Tensor."""
    return isinstance(obj, Tensor)


def is_floating_point(input):
    return input.is_floating_point()


def is_complex(input):
    return input.is_complex()


def numel(input):
    return input.numel()


