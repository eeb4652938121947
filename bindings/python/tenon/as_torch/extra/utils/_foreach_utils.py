"""Tensors by device and dtype, as operators of lists take them."""

import tenon

_FOREACH_SUPPORTED = ("cuda",)


def _get_foreach_kernels_supported_devices():
    return list(_FOREACH_SUPPORTED)


def _get_fused_kernels_supported_devices():
    return ["cuda", "cpu"]


def _has_foreach_support(tensors, device):
    return device.type in (*_FOREACH_SUPPORTED, "cpu") and all(t is None or type(t) is tenon.Tensor for t in tensors)


def _device_has_foreach_support(device):
    return device.type in (*_FOREACH_SUPPORTED, "cpu")


def _group_tensors_by_device_and_dtype(tensorlistlist, with_indices=False):
    """{(device, dtype) of the first list's tensors: (parts of all lists, their numbers)}"""
    groups = {}
    for number, row in enumerate(zip(*tensorlistlist)):
        lists, numbers = groups.setdefault((row[0].device, row[0].dtype), ([[] for _ in tensorlistlist], []))
        for part, tensor in zip(lists, row):
            part.append(tensor)
        if with_indices:
            numbers.append(number)
    return groups
