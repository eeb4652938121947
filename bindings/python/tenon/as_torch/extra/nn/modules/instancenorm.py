"""The base of instance norms."""

from tenon.as_torch.extra.nn.modules import bases

bases(globals(), _InstanceNorm=("InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"))
