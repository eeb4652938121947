"""Private helpers that programs and pickles name."""

import contextlib
import sys
import traceback

import tenon
from tenon import _C
from tenon._tensor import _with_bits
from tenon.as_torch.extra._decorators import answer

is_compiling = answer("is_compiling", False, "False: nothing is compiled.")


# ---- pickles: what PyTorch's name ----


def _rebuild_tensor(storage, storage_offset, size, stride):
    """A tensor over a storage with a dtype."""
    return _C._tensor_over(storage.untyped(), storage.dtype, storage_offset, tuple(size), tuple(stride))


def _rebuild_tensor_v2(storage, storage_offset, size, stride, requires_grad, backward_hooks, metadata=None):
    """The same with what gradients need."""
    result = _rebuild_tensor(storage, storage_offset, size, stride)
    if metadata:
        result = _with_bits(result, metadata.get("conj"), metadata.get("neg"))
    result.requires_grad = requires_grad
    return result


def _rebuild_meta_tensor_no_storage(dtype, size, stride, requires_grad):
    """A tensor of sizes alone."""
    return tenon.empty_strided(size, stride, dtype=dtype, device="meta", requires_grad=requires_grad)


def _rebuild_parameter(data, requires_grad, backward_hooks):
    return tenon.nn.Parameter(data, requires_grad)


def _rebuild_parameter_with_state(data, requires_grad, backward_hooks, state):
    return _set_obj_state(tenon.nn.Parameter(data, requires_grad), state)


def _set_obj_state(obj, state):
    plain, slots = state if isinstance(state, tuple) else (state, None)
    for name, value in {**(plain or {}), **(slots or {})}.items():
        setattr(obj, name, value)
    return obj


def _get_obj_state(obj):
    return vars(obj) or None


# ---- lists of tensors as one ----


def _flatten_dense_tensors(tensors):
    """One vector of all elements."""
    return tenon.cat([t.reshape(-1) for t in tensors])


def _unflatten_dense_tensors(flat, tensors):
    """Parts of the vector with the sizes of the tensors."""
    parts = flat.split([t.numel() for t in tensors])
    return tuple(part.view(t.shape) for part, t in zip(parts, tensors))


def _take_tensors(tensors, size_limit):
    """Lists of tensors of one type, each of about size_limit bytes."""
    lists = {}
    for tensor in tensors:
        kind = tensor.type()
        chosen, size = lists.get(kind, ([], 0))
        chosen.append(tensor)
        size += tensor.numel() * tensor.element_size()
        if size >= size_limit:
            yield chosen
            chosen, size = [], 0
        lists[kind] = chosen, size
    yield from (chosen for chosen, _ in lists.values() if chosen)


def _reorder_tensors_as(tensors, ordered_tensors):
    """The tensors, which are listed by type, in the order of the types of others."""
    by_type = {}
    for tensor in tensors:
        by_type.setdefault(tensor.type(), []).append(tensor)
    return tuple(by_type[tensor.type()].pop(0) for tensor in ordered_tensors)


# ---- devices ----


def _get_available_device_type():
    """The kind of GPU that there is, or None."""
    return "cuda" if tenon.cuda.is_available() else None


def _get_device_module(device_type):
    """The module of a kind of device."""
    return getattr(sys.modules["torch"], device_type)


def _get_device_index(device, optional=False, allow_cpu=False):
    """The number of a GPU; -1 of the CPU if that is allowed."""
    if isinstance(device, int):
        return device
    if device is None:
        if not optional:
            raise ValueError(f"Expected a torch.device with a specified index or an integer, but got:{device}")
        return tenon.cuda.current_device() if tenon.cuda.is_available() else -1
    device = tenon.device(device)
    if device.type == "cpu":
        if not allow_cpu:
            raise ValueError(f"Expected a non cpu device, but got: {device}")
        return -1
    return 0 if device.index is None else device.index


def _element_size(dtype):
    return dtype.itemsize


# ---- errors of other processes ----


class KeyErrorMessage(str):
    """A text that KeyError shows as it is."""

    __repr__ = str.__str__


class ExceptionWrapper:
    """An error with its text, as it is passed between threads and processes."""

    def __init__(self, exc_info=None, where="in background"):
        exc_info = sys.exc_info() if exc_info is None else exc_info
        self.exc_type, self.where = exc_info[0], where
        self.exc_msg = "".join(traceback.format_exception(*exc_info))

    def reraise(self):
        text = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            text = KeyErrorMessage(text)
        try:
            error = self.exc_type(text)
        except Exception:  # a class with other arguments
            raise RuntimeError(text) from None
        raise error


class classproperty:
    """A property of a class."""

    def __init__(self, func):
        self.func = func

    def __get__(self, instance, owner):
        return self.func(owner)


@contextlib.contextmanager
def _disable_user_warnings(*args, **kwargs):
    yield


def _rebuild_wrapper_subclass(cls, dtype, size, stride, storage_offset, layout, device, requires_grad):
    """A tensor without memory, of a class with __torch_dispatch__: its parts are attributes, set afterwards."""
    return tenon.Tensor._make_wrapper_subclass(
        cls, size, stride, storage_offset, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad
    )
