"""Bases of batch norms."""

from tenon.as_torch.extra.nn.modules import bases

_BATCH = ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d")
bases(globals(), _BatchNorm=_BATCH, _NormBase=(*_BATCH, "InstanceNorm1d"))
