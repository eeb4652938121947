"""Pickles of tensors and storages as PyTorch writes them: either library reads them."""

import collections
import io
import sys
import weakref

import tenon
from tenon import _C
from tenon.storage import TypedStorage

# Tensors of one pickle that share a storage share it again: its wrapper is the same object for all of them.
_wrappers = weakref.WeakValueDictionary()


def _wrapper(tensor):
    storage = _C._storage(tensor)
    key = id(storage), tensor.dtype
    known = _wrappers.get(key)
    if known is None or known.untyped() is not storage:
        known = _wrappers[key] = TypedStorage(wrap_storage=storage, dtype=tensor.dtype)
    return known


def _reduce_storage(self, *_):
    file = io.BytesIO()
    tenon.save(self, file, _use_new_zipfile_serialization=False)
    return sys.modules["torch.storage"]._load_from_bytes, (file.getvalue(),)


def _reduce_plain(tensor, utils):
    geometry = tuple(tensor.size()), tensor.stride(), tensor.requires_grad
    if _C._is_wrapper(tensor):
        size, stride, requires_grad = geometry
        rest = tensor.storage_offset(), tensor.layout, tensor.device, requires_grad
        return utils._rebuild_wrapper_subclass, (type(tensor), tensor.dtype, size, stride, *rest)
    if tensor.is_meta:
        return utils._rebuild_meta_tensor_no_storage, (tensor.dtype, *geometry)
    bits = {name: True for name, is_set in (("conj", tensor.is_conj()), ("neg", tensor.is_neg())) if is_set}
    args = _wrapper(tensor), tensor.storage_offset(), *geometry, collections.OrderedDict()
    return utils._rebuild_tensor_v2, (*args, bits) if bits else args


def _reduce_tensor(self, protocol):
    import torch._utils as utils

    if self.requires_grad and not self.is_leaf:
        raise RuntimeError(
            "Only leaf tensors can be pickled while they require grad: pickle tensor.detach(), or compute it again"
        )
    cls, state = type(self), dict(vars(self)) if hasattr(self, "__dict__") else {}
    if cls is tenon.nn.Parameter:
        args = self.data, self.requires_grad, collections.OrderedDict()
        return (utils._rebuild_parameter_with_state, (*args, state)) if state else (utils._rebuild_parameter, args)
    if cls is tenon.Tensor and not state:
        return _reduce_plain(self, utils)
    import torch._tensor

    rebuild, args = _reduce_plain(self, utils)
    return torch._tensor._rebuild_from_type_v2, (rebuild, cls, args, state)


def install():
    tenon.Tensor.__reduce_ex__ = _reduce_tensor
    TypedStorage.__reduce__ = _reduce_storage
