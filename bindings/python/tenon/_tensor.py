"""What of Tensor, and of the functions around it, is written in Python."""

import collections
import functools
import sys
import warnings

from tenon import _C, _functional
from tenon._functional import _as_given

Tensor = _C.Tensor


def _check_gradients(grads):
    for grad in grads:
        if grad is not None and not isinstance(grad, Tensor):
            raise TypeError(f"gradients can be either Tensors or None, but got {grad.__class__.__name__}")


def _check_edges(values, name):
    for value in values:
        if not isinstance(value, (Tensor, tuple)):
            raise RuntimeError(f"all {name} have to be Tensors or GradientEdges, but got {value.__class__.__name__}")


def _list(values):
    """A tensor, a place in the graph, or several of both."""
    if values is None:
        return []
    return [values] if isinstance(values, (Tensor, GradientEdge)) else list(values)


class GradientEdge(collections.namedtuple("GradientEdge", ("node", "output_nr", "ownership_token"), defaults=(None,))):
    """A place in the graph: a node, and which of its gradients."""

    __slots__ = ()


def _edge(value):
    return value[:2] if isinstance(value, GradientEdge) else _C._gradient_edge(value)


def _run_backward(tensors, grads, retain_graph, create_graph, inputs):
    if inputs is not None and not _list(inputs):
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    tensors, grads, inputs = _list(tensors), _list(grads), _list(inputs)
    _check_edges(tensors, "outputs")
    _check_gradients(grads)
    _check_edges(inputs, "inputs")
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
            if (self.__class__ is not Tensor or _C._is_torch_function_mode_enabled()) and _C._has_torch_function(
                (self,)
            ):
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


@_method
def lu(self, pivot=True, get_infos=False):
    """LU and pivots: see tenon.lu."""
    return _functional.lu(self, pivot, get_infos)


def _adjoint(self, name):
    if self.dim() == 0:
        warnings.warn(f"Tensor.{name} is deprecated on 0-D tensors. Consider using x.conj().", stacklevel=3)
        return self.conj()
    if self.dim() < 2:
        raise RuntimeError(
            f"tensor.{name} is only supported on matrices or batches of matrices. Got {self.dim()}-D tensor."
        )
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
    if not isinstance(self, Tensor):
        raise TypeError(f"descriptor 'float_power_' for tensors doesn't apply to a '{self.__class__.__name__}' object")
    result = _C.float_power(self, exponent)
    if result.dtype != self.dtype:
        raise RuntimeError(
            f"[float_power_] the base given to float_power_ has dtype {self.dtype} but the operation's result requires dtype {result.dtype}"
        )
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
        self = self.detach().cpu().resolve_conj().resolve_neg()
    elif self.requires_grad and _C.is_grad_enabled():
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    if self.layout != _C.strided:
        words = str(self.layout).partition(".")[2].removesuffix("_coo").split("_")
        raise TypeError(
            f"can't convert {''.join(word.capitalize() for word in words)} layout tensor to numpy. "
            "Use Tensor.to_dense() first."
        )
    for bit, is_set in (("conjugate", self.is_conj()), ("negative", self.is_neg())):
        if is_set:
            resolve = "resolve_conj" if bit == "conjugate" else "resolve_neg"
            raise RuntimeError(
                f"Can't call numpy() on Tensor that has {bit} bit set. Use tensor.{resolve}().numpy() instead."
            )
    try:
        array = _C._to_numpy(self)
    except TypeError as error:
        if "ModuleNotFoundError" not in str(error):
            raise
        raise RuntimeError(f"Numpy is not available: {sys.executable} has no module numpy") from None
    # Of two types of as many bits numpy.int64 is the one that numpy's own arrays have.
    return array.view(array.dtype.char.translate({113: "l", 81: "L"})) if array.dtype.char in "qQ" else array


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
    if self.is_conj():
        raise BufferError("Can't export tensors with the conjugate bit set")
    if self.is_neg():
        raise BufferError("Can't export tensors with the negative bit set")
    if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
        raise BufferError(f"the tensor is on {self.device}, and is not moved by __dlpack__")
    if stream is not None and not isinstance(stream, int):
        raise TypeError("stream must be ``int`` or ``none``")
    if self.device.type == "cpu" and stream not in (None, -1):
        raise AssertionError("stream should be None on cpu.")
    return _C._to_dlpack(self.clone() if copy else self)


@_method
def __dlpack_device__(self):
    if self.device.type == "cpu":
        return (1, 0)
    if self.device.type == "cuda":
        return (2, self.device.index or 0)
    raise BufferError(f"a tensor on {self.device} has no memory to share")


def from_dlpack(ext_tensor, *, device=None, copy=None):
    """
    A tensor over the memory of another library's array; anything with __dlpack__, or a DLPack capsule.

    Another device, or copy=True, gives a copy; copy=False is an error if the device needs one.
    """
    if not hasattr(ext_tensor, "__dlpack__") and ext_tensor.__class__.__name__ != "PyCapsule":
        raise RuntimeError(
            f"from_dlpack() expects an object with __dlpack__, or a DLPack capsule that nobody has taken, got {ext_tensor.__class__.__name__}"
        )
    result = _C._from_dlpack(ext_tensor)
    if device is None or result.device == _C.device(device):
        return result.clone() if copy else result
    if copy is False:
        raise BufferError(f"from_dlpack() cannot give memory of {result.device} on {device} without a copy")
    return result.to(device)


def _is_array(obj):
    # numpy's scalars have the rest as well.
    return hasattr(obj, "__array_interface__") and hasattr(obj, "shape") and hasattr(obj, "__setitem__")


def as_tensor(data, dtype=None, device=None):
    """`data` as a tensor, over the same memory where it is a tensor or a numpy array that has the dtype already."""
    if device is None:
        device = _C._default_device()
    if isinstance(data, Tensor):
        result = data
    elif _is_array(data):
        result = _C.from_numpy(data)
    else:
        return _C.tensor(data, dtype=dtype, device=device)
    if dtype is not None:
        result = result.to(dtype)
    return result if device is None else result.to(device)


def _shared(obj, dtype):
    """A tensor over the object's memory, or None for one that has no memory to share."""
    if isinstance(obj, Tensor):
        return obj
    if _is_array(obj):
        return _C.from_numpy(obj)
    if isinstance(obj, _C.UntypedStorage):
        dtype = _C.uint8 if dtype is None else dtype
        return _C._tensor_over(obj, dtype, 0, [obj.nbytes() // dtype.itemsize], [1])
    if hasattr(obj, "__dlpack__") or obj.__class__.__name__ == "PyCapsule":
        return from_dlpack(obj)
    if isinstance(obj, (list, tuple, str)):
        return None
    try:
        memoryview(obj)
    except TypeError:
        return None
    return _C.from_numpy(obj) if dtype is None else frombuffer(obj, dtype=dtype)


def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=None):
    """`obj` as a tensor, over the same memory if it can be.

    obj: a tensor, an array of numpy's or of another library with DLPack, a buffer, whose bytes are taken as `dtype` if that is
        given, or numbers in sequences.
    copy: true for memory of the tensor's own; false for an error where memory cannot be shared.
    requires_grad: of the result; by default that of `obj`.
    """
    result = _shared(obj, dtype)
    if result is None:
        if copy is False:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        return _C.tensor(obj, dtype=dtype, device=device, requires_grad=bool(requires_grad))
    dtype = result.dtype if dtype is None else dtype
    if device is None:
        device = _C._default_device() or result.device
    device = _C.device(device)
    if copy is False and result.to(device) is not result:
        raise ValueError(f"can't alias tensor with device '{result.device}' into device '{device}'.")
    if copy is False and result.to(dtype) is not result:
        raise ValueError(f"can't alias tensor with dtype '{result.dtype}' into dtype '{dtype}'.")
    converted = result.to(device, dtype, copy=bool(copy))
    if requires_grad is None or requires_grad == converted.requires_grad:
        return converted
    return converted.requires_grad_() if requires_grad else converted.detach()


def frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False):
    """A one-dimensional tensor over the bytes of a buffer."""
    try:
        view = memoryview(buffer).cast("B")
    except TypeError:
        raise ValueError(
            f"object does not implement Python buffer protocol: frombuffer() got {buffer.__class__.__name__}"
        ) from None
    size, length = dtype.itemsize, len(view)
    if length == 0 or count == 0:
        raise ValueError(f"both buffer length ({length}) and count ({count}) must not be 0")
    if not 0 <= offset < length:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({length} bytes) minus 1"
        )
    if count < 0:
        if (length - offset) % size:
            raise ValueError(
                f"buffer length ({length - offset} bytes) after offset ({offset} bytes) must be a multiple of element size ({size})"
            )
        count = (length - offset) // size
    if count * size > length - offset:
        raise ValueError(
            f"requested buffer length ({count} * {size} bytes) after offset ({offset} bytes) must not be greater than actual "
            f"buffer length ({length} bytes)"
        )
    result = _C._from_bytes(view[offset : offset + count * size], dtype)
    return result.requires_grad_() if requires_grad else result


# ---- conversions ----


def _add_conversions():
    for name, dtype in {
        "float": _C.float32,
        "double": _C.float64,
        "half": _C.float16,
        "bfloat16": _C.bfloat16,
        "long": _C.int64,
        "int": _C.int32,
        "short": _C.int16,
        "char": _C.int8,
        "byte": _C.uint8,
        "bool": _C.bool,
        "cfloat": _C.complex64,
        "cdouble": _C.complex128,
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
    if isinstance(dtype, _C.dtype):
        return self.to(dtype, non_blocking=non_blocking)
    if hasattr(dtype, "__instancecheck__") and hasattr(dtype, "dtype"):  # tenon.FloatTensor
        return self.to(dtype.device_type, dtype.dtype, non_blocking)
    if not isinstance(dtype, (str, str.__class__)):
        raise TypeError("dtype must be a type, str, or dtype object")
    name = dtype if isinstance(dtype, str) else "tenon.Tensor" if dtype is Tensor else dtype.__name__
    device, dtype = _device_and_dtype(name)
    return self.to(device, dtype, non_blocking)


@_method
def new_tensor(self, data, *, dtype=None, device=None, requires_grad=False):
    """A tensor of the values of `data`, with this tensor's dtype and device unless others are given."""
    dtype = self.dtype if dtype is None else dtype
    device = self.device if device is None else device
    return _C.tensor(data, dtype=dtype, device=device, requires_grad=requires_grad)


_TYPE_NAMES = {
    "float32": "Float", "float64": "Double", "float16": "Half", "bfloat16": "BFloat16", "uint8": "Byte", "int8": "Char",
    "int16": "Short", "int32": "Int", "int64": "Long", "bool": "Bool", "complex64": "ComplexFloat", "complex128": "ComplexDouble",
    "uint16": "UInt16", "uint32": "UInt32", "uint64": "UInt64", "float8_e5m2": "Float8_e5m2", "float8_e4m3fn": "Float8_e4m3fn",
    "float8_e5m2fnuz": "Float8_e5m2fnuz", "float8_e4m3fnuz": "Float8_e4m3fnuz",
}  # fmt: skip


def _device_and_dtype(name):
    """What "tenon.cuda.FloatTensor", or PyTorch's name for it, stands for; "tenon.Tensor" has the default dtype."""
    module, _, rest = name.partition(".")
    device, _, kind = rest.rpartition(".")
    dtypes = {short + "Tensor": getattr(_C, dtype) for dtype, short in _TYPE_NAMES.items()}
    dtypes["Tensor"] = _C.get_default_dtype()
    if module not in ("tenon", "torch") or device not in ("", "cuda", "meta") or kind not in dtypes:
        raise ValueError(f"invalid type: '{name}'")
    return device or "cpu", dtypes[kind]


def typename(obj):
    """'tenon.FloatTensor' for a tensor; else the name of a function or class, or that of the object's class."""
    if isinstance(obj, Tensor):
        name = repr(obj.dtype).split(".")[1]
        middle = "" if obj.device.type == "cpu" else obj.device.type + "."
        middle += "sparse." if obj.layout == _C.sparse_coo else ""
        return f"tenon.{middle}{_TYPE_NAMES[name]}Tensor"
    named = obj if hasattr(obj, "__qualname__") else obj.__class__
    module = getattr(obj, "__module__", None) or "" if named is obj else named.__module__
    return named.__qualname__ if module in ("", "builtins") else f"{module}.{named.__qualname__}"


# ---- storages, copies and pickles ----


@_method
def untyped_storage(self):
    """The memory that the tensor is a view of."""
    return _C._storage(self)


@_method
def storage(self):
    """untyped_storage() as elements of the tensor's dtype."""
    from tenon.storage import TypedStorage

    return TypedStorage(wrap_storage=_C._storage(self), dtype=self.dtype)


def _rebuild_storage(data, device):
    return _C._storage_from_bytes(data, device)


def _bits_of(tensor):
    """Which of the conjugate and the negative bit are set: nothing, or the two."""
    bits = tensor.is_conj(), tensor.is_neg()
    return (bits,) if any(bits) else ()


def _with_bits(tensor, conj, neg):
    """The tensor over the same memory with these bits as well."""
    if conj:
        tensor = _C._conj(tensor).detach()
    return _C._neg_view(tensor).detach() if neg else tensor


def _rebuild(storage, dtype, offset, sizes, strides, requires_grad, bits=(False, False)):
    result = _with_bits(_C._tensor_over(storage, dtype, offset, sizes, strides), *bits)
    return result.requires_grad_() if requires_grad else result


def _rebuild_meta(dtype, sizes, strides, requires_grad):
    return _C.empty_strided(sizes, strides, dtype=dtype, device="meta", requires_grad=requires_grad)


def _rebuild_subclass(cls, tensor, requires_grad, state):
    result = _C._make_subclass(cls, tensor, requires_grad)
    result.__dict__.update(state)
    return result


def _rebuild_wrapper(cls, sizes, strides, offset, dtype, device, requires_grad, state):
    result = _C._make_wrapper_subclass(cls, sizes, strides, offset, dtype, device, -1, requires_grad)
    result.__dict__.update(state)
    return result


@_method
def __reduce_ex__(self, protocol):
    if self.requires_grad and not self.is_leaf:
        raise RuntimeError(
            "Only leaf tensors can be pickled while they require grad: pickle tensor.detach(), or compute it again"
        )
    if _C._is_wrapper(self):
        geometry = (
            tuple(self.size()),
            self.stride(),
            self.storage_offset(),
            self.dtype,
            self.device,
            self.requires_grad,
        )
        return _rebuild_wrapper, (self.__class__, *geometry, dict(self.__dict__))
    cls, plain = self.__class__, self.__class__ is Tensor and not self.__dict__
    geometry = (tuple(self.size()), self.stride(), plain and self.requires_grad)
    if self.layout != _C.strided:
        from tenon._sparse import reduced

        made = reduced(self, plain and self.requires_grad)
    elif self.is_meta:
        made = _rebuild_meta, (self.dtype, *geometry)
    else:
        # Tensors of one pickle that share a storage share it again: its object is the same for all of them.
        made = _rebuild, (_C._storage(self), self.dtype, self.storage_offset(), *geometry, *_bits_of(self))
    if plain:
        return made
    return _rebuild_subclass, (cls, made[0](*made[1]), self.requires_grad, dict(self.__dict__))


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


def _copy_of_wrapper(self, memo):
    import copy

    result = self.clone()
    if result.__class__ is not self.__class__:
        raise RuntimeError(
            "The default implementation of __deepcopy__() for wrapper subclasses only works for subclass types that "
            "properly implement clone() and for which cloning returns another instance of the same subclass. You should "
            "either properly implement clone() for your subclass or override __deepcopy__() if it is intended behavior "
            "for clone() to return an instance of a different type."
        )
    if result.requires_grad and not result.is_leaf:
        result = result.detach()
    result.requires_grad_(self.requires_grad)
    memo[id(self)] = result
    for name, value in self.__dict__.items():
        if name not in result.__dict__:
            setattr(result, name, copy.deepcopy(value, memo))
    if self.grad is not None:
        result.grad = copy.deepcopy(self.grad, memo)
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

    from tenon.nn.parameter import Parameter

    if _C._is_wrapper(self) or (self.is_meta and self.__class__ is not Tensor):
        return _copy_of_wrapper(self, memo)
    if self.is_meta or self.layout != _C.strided or self.numel() == 0:
        result = self.detach().clone()
    else:
        storage = copy.deepcopy(_C._storage(self), memo)
        geometry = self.storage_offset(), tuple(self.size()), self.stride()
        result = _rebuild(storage, self.dtype, *geometry, False, *_bits_of(self))
    if self.__class__ is not Tensor:
        result = _C._make_subclass(self.__class__, result, self.requires_grad)
    elif self.requires_grad:
        result.requires_grad_()
    memo[id(self)] = result
    if self.grad is not None and not isinstance(self, Parameter):  # a copy of a model begins without gradients
        result.grad = copy.deepcopy(self.grad, memo)
    if self.__dict__:
        result.__dict__.update(copy.deepcopy(self.__dict__, memo))
    return result


def _as_subclass(self, cls):
    """The same elements as an object of a subclass of Tensor."""
    return _C._as_subclass(cls, self)


Tensor.as_subclass = _as_subclass


Tensor._make_subclass = staticmethod(lambda cls, data, require_grad=False: _C._make_subclass(cls, data, require_grad))


def _make_wrapper_subclass(
    cls,
    size,
    strides=None,
    storage_offset=None,
    memory_format=None,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=False,
    requires_grad=False,
    dispatch_sizes_strides_policy=None,
    dispatch_device=False,
    dispatch_layout=False,
    _extra_dispatch_keys=None,
    storage_size=None,
):
    """A tensor of class `cls`, which has __torch_dispatch__, with a geometry, dtype and device but without memory."""
    if dispatch_sizes_strides_policy is not None or dispatch_device or dispatch_layout:
        raise NotImplementedError(
            "_make_wrapper_subclass(): a wrapper's sizes, device and layout are those it was made with; its class is not "
            "asked for them"
        )
    if layout not in (None, _C.strided):
        raise NotImplementedError(f"_make_wrapper_subclass(): a wrapper's layout is strided, got {layout}")
    size = tuple(size)
    if strides is None and memory_format is not None:
        strides = _C.empty(size, device="meta", memory_format=memory_format).stride()
    return _C._make_wrapper_subclass(
        cls,
        size,
        None if strides is None else tuple(strides),
        storage_offset or 0,
        _C.get_default_dtype() if dtype is None else dtype,
        _C.device(_C.get_default_device() if device is None else device),
        -1 if storage_size is None else storage_size,
        requires_grad,
    )


Tensor._make_wrapper_subclass = staticmethod(_make_wrapper_subclass)


# ---- small ones ----


@_method
def __format__(self, spec):
    if self.dim() == 0 and not self.is_meta and (spec or self.__class__ is Tensor):
        return format(self.item(), spec)
    return object.__format__(self, spec)


@_method
def __reversed__(self):
    return self if self.dim() == 0 else self.flip(0)


@_method
def __rdiv__(self, other):
    return Tensor.__rtruediv__(self, other)


@_method
def __complex__(self):
    if self.numel() != 1:
        raise ValueError(f"only one element tensors can be converted to Python scalars, got sizes {list(self.shape)}")
    return complex(self.item())


@_method
def __dir__(self):
    return sorted(set(object.__dir__(self)))


def is_tensor(obj):
    """Whether the object is a Tensor."""
    return isinstance(obj, Tensor)


@_as_given
def is_floating_point(input):
    return input.is_floating_point()


@_as_given
def is_complex(input):
    return input.is_complex()


@_as_given
def numel(input):
    return input.numel()
