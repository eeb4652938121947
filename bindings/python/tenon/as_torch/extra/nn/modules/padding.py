"""Bases of paddings."""

from tenon.as_torch.extra.nn.modules import bases


def _of_each_dim(name):
    return tuple(f"{name}{dim}d" for dim in (1, 2, 3))


bases(
    globals(),
    _ConstantPadNd=_of_each_dim("ConstantPad"),
    _ReflectionPadNd=_of_each_dim("ReflectionPad"),
    _ReplicationPadNd=_of_each_dim("ReplicationPad"),
)
