"""Subclasses with elements of their own: _make_subclass, as_subclass, super().__torch_dispatch__, no_dispatch."""

import torch
from torch.utils._mode_utils import no_dispatch


class Tagged(torch.Tensor):
    @staticmethod
    def __new__(cls, elem, tag=None):
        out = torch.Tensor._make_subclass(cls, elem, elem.requires_grad)
        out.tag = tag
        return out

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        print("tagged", func)
        return super().__torch_dispatch__(func, types, args, kwargs or {})


t = Tagged(torch.tensor([1.0, 2.0]), "a")
print(t.tag, type(t + 1).__name__, (t * t).sum().item())
print(type(t.add_(1)).__name__, t.tag)


class Quiet(torch.Tensor):
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        with no_dispatch():
            out = func(*args, **(kwargs or {}))
        print(func, type(out).__name__)
        return out.as_subclass(cls) if isinstance(out, torch.Tensor) and type(out) is torch.Tensor else out


q = torch.ones(2).as_subclass(Quiet)
print(type(q).__name__, type(q * 2).__name__)
with torch._C._DisableTorchDispatch():
    print(type(q + 1).__name__)


class Plain(torch.Tensor):
    __torch_dispatch__ = torch._C._disabled_torch_dispatch_impl


p = torch.ones(2).as_subclass(Plain)
print(type(p + 1).__name__, p.sum().item())
