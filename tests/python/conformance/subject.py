"""The library under test, reached through its Python module: its names for PyTorch's values, and tensors both ways.

A tensor goes over as its bytes, into a copy of PyTorch's storage: sizes, strides and what shares memory with what are the
same on both sides."""

import ctypes
import dataclasses
import importlib
import types

import torch


class Unsupported(Exception):
    """The subject has no word for an argument, or lacks the operator: no disagreement."""


FORMATS = {
    getattr(torch, name): name for name in ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d")
}


def short(value):
    """'torch.float32' and 'tenon.float32' are 'float32'."""
    return str(value).rpartition(".")[2]


def at_path(root, path):
    for part in path.split("."):
        root = getattr(root, part, None)
        if root is None:
            return None
    return root if callable(root) else None


def found_in(root, op):
    """What has the entry's name, which may be an operator's: torch.ops.aten._safe_softmax.default, _native_batch_norm_legit."""
    found = at_path(root, op.name)
    if found is None and ("." not in op.name or op.name.startswith("torch.ops.aten.")):
        own = op.name.removeprefix("torch.ops.aten.").removesuffix(".default")
        # Of torch itself it takes a tuple as `out`, of torch.ops each result by its name.
        by_name = isinstance(op.op, (torch._ops.OpOverload, torch._ops.OpOverloadPacket))
        found = (None if by_name else at_path(root, f"_C.{own}")) or at_path(root, f"ops.aten.{own}")
    return found


class Overloads:
    """torch.ops.aten with its overloads: f.default is f."""

    def __init__(self, operators):
        self.operators = operators

    def __getattr__(self, name):
        return types.SimpleNamespace(default=getattr(self.operators, name))


class AsTorch:
    """The subject where a wrapper of the test's own says `torch`."""

    def __init__(self, module):
        self.module = module
        self.ops = types.SimpleNamespace(aten=Overloads(module.ops.aten))

    def __getattr__(self, name):
        return getattr(self.module, name)


class Memory:
    """The storages of one call's arguments: PyTorch's, and copies of them that the subject's tensors show."""

    def __init__(self):
        self.copies = {}

    def copy_of(self, storage, make):
        """The subject's copy, which make(storage) makes where there is none yet."""
        if storage._cdata not in self.copies:
            self.copies[storage._cdata] = (storage, make(storage), len(self.copies))
        return self.copies[storage._cdata][1]

    def place(self, address, ours):
        """(number of the storage, offset in it) of an address; `ours` of the copies, else of PyTorch's own."""
        for storage, copy, number in self.copies.values():
            start, size = (copy if ours else storage).data_ptr(), storage.nbytes()
            if size and start <= address < start + size:
                return number, address - start
        return None


class Subject:
    def __init__(self, name):
        self.module = importlib.import_module(name)
        for part in ("autograd", "nn.functional", "linalg", "special", "fft", "masked", "signal.windows"):
            try:
                importlib.import_module(f"{name}.{part}")
            except ModuleNotFoundError:
                pass  # its entries say so
        self.Tensor = self.module.Tensor

    def has(self, op):
        """Whether it has a function or a method of the entry's name."""
        return found_in(self.module, op) is not None or hasattr(self.Tensor, op.name)

    def function(self, op):
        """The subject's form of an OpInfo's operator."""
        if at_path(torch, op.name) is op.op or not isinstance(op.op, types.FunctionType):
            return self.named(op)
        if op.op.__module__.startswith("torch.testing"):
            if not self.has(op):
                raise Unsupported(f"not bound as {op.name}")
            return self.over_own_names(op.op)
        return self.named(op)

    def over_own_names(self, wrapper):
        """The code of a wrapper of the test's own over the subject's names."""
        return types.FunctionType(
            wrapper.__code__,
            {**wrapper.__globals__, "torch": AsTorch(self.module), "wrapper_set_seed": self.seeded},
            wrapper.__name__,
            wrapper.__defaults__,
            wrapper.__closure__,
        )

    def seeded(self, function, *args, **kwargs):
        """What PyTorch's wrapper_set_seed does."""
        self.module.manual_seed(42)
        return function(*args, **kwargs)

    def named(self, op):
        found = found_in(self.module, op) or getattr(self.Tensor, op.name, None)
        if found is None:
            raise Unsupported(f"not bound as {op.name}")
        return found

    def method(self, variant):
        """The subject's form of an OpInfo's method or in-place variant."""
        name = variant.__name__
        if name == "<lambda>":
            return self.over_own_names(variant)
        found = getattr(self.Tensor, name, None)
        if found is None:
            raise Unsupported(f"no method {name}")
        return found

    def dtype(self, dtype):
        found = getattr(self.module, short(dtype), None)
        if found is None:
            raise Unsupported(f"dtype {short(dtype)}")
        return found

    def tensor(self, t, memory, requires_grad=False):
        if t.layout != torch.strided or t.is_quantized or type(t) not in (torch.Tensor, torch.nn.Parameter):
            raise Unsupported(f"{t.layout} {type(t).__name__}")
        dtype = self.dtype(t.dtype)
        if t.is_meta:
            return self.module.empty_strided(tuple(t.shape), t.stride(), dtype=dtype, device="meta")
        if t.device.type != "cpu":
            raise Unsupported(f"device {t.device}")
        plain = t.detach().resolve_conj().resolve_neg()

        def copied(storage):
            copy = self.module.empty((storage.nbytes() // t.element_size(),), dtype=dtype)
            ctypes.memmove(copy.data_ptr(), storage.data_ptr(), copy.numel() * copy.element_size())
            return copy

        copy = memory.copy_of(plain.untyped_storage(), copied)
        if copy.dtype != dtype:
            raise Unsupported("arguments of two dtypes over one storage")
        # No view of the copy, as PyTorch's tensor is none.
        ours = copy.as_strided(tuple(plain.shape), plain.stride(), plain.storage_offset()).detach()
        if requires_grad and t.requires_grad:
            ours.requires_grad_()
        return ours

    def value(self, value, memory, requires_grad=False):
        """An argument, with the tensors, dtypes and so on in it, as the subject has them."""
        again = lambda v: self.value(v, memory, requires_grad)  # noqa: E731
        if isinstance(value, torch.Tensor):
            return self.tensor(value, memory, requires_grad)
        if isinstance(value, torch.dtype):
            return self.dtype(value)
        if isinstance(value, torch.device):
            return self.module.device(str(value))
        if isinstance(value, torch.memory_format):
            return getattr(self.module, FORMATS[value])
        if isinstance(value, torch.layout):
            name = short(value)
            if not hasattr(self.module, name):
                raise Unsupported(str(value))
            return getattr(self.module, name)
        if isinstance(value, torch.Generator):
            raise Unsupported("a generator whose numbers are PyTorch's")
        if isinstance(value, torch.nn.PairwiseDistance):
            return self.module.nn.PairwiseDistance(value.norm, value.eps, value.keepdim)
        if isinstance(value, torch.nn.LinearCrossEntropyOptions):
            fields = {f.name: again(getattr(value, f.name)) for f in dataclasses.fields(value)}
            return self.module.nn.LinearCrossEntropyOptions(**fields)
        if isinstance(value, torch.Size):
            return tuple(value)
        if isinstance(value, (list, tuple)):
            items = [again(v) for v in value]
            return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
        if isinstance(value, dict):
            return {k: again(v) for k, v in value.items()}
        return value

    def torch(self, t):
        """The values of the subject's tensor as a tensor of PyTorch."""
        t = t.detach().resolve_conj().resolve_neg()
        sizes, strides, dtype = tuple(t.shape), t.stride(), getattr(torch, short(t.dtype))
        if 0 in sizes:
            return torch.empty(sizes, dtype=dtype)
        last = sum((n - 1) * s for n, s in zip(sizes, strides))
        memory = (ctypes.c_char * ((last + 1) * t.element_size())).from_address(t.data_ptr())
        return torch.frombuffer(memory, dtype=dtype).clone().as_strided(sizes, strides)

    def grad(self, outputs, inputs, gradients):
        if not hasattr(self.module, "autograd"):
            raise Unsupported("no autograd")
        return self.module.autograd.grad(outputs, inputs, gradients, allow_unused=True)
