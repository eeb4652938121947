"""Bases of convolutions."""

from tenon.as_torch.extra.nn.modules import bases

_TRANSPOSED = ("ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d")
bases(globals(), _ConvNd=("Conv1d", "Conv2d", "Conv3d", *_TRANSPOSED), _ConvTransposeNd=_TRANSPOSED)
