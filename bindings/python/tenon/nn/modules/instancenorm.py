"""Normalization of each channel of each sample."""

import warnings

from tenon.nn import functional as F
from tenon.nn.modules.batchnorm import _NormBase


class _InstanceNorm(_NormBase):
    """Of each sample by itself; dims are those of a batch, one fewer are those of a sample."""

    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=False,
        track_running_stats=False,
        device=None,
        dtype=None,
        *,
        bias=True,
    ):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def forward(self, input):
        batch = max(self.dims)
        self._check_input_dim(input)
        if input.shape[-(batch - 1)] != self.num_features:
            dim = input.dim() - batch + 1
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={dim} to match num_features ({self.num_features}), but got: {input.shape[dim]}."
                )
            warnings.warn(
                f"input's size at dim={dim} does not match num_features. You can silence this warning by not passing in "
                "num_features, which is not used because affine=False",
                stacklevel=2,
            )
        whole = input if input.dim() == batch else input.unsqueeze(0)
        used = self.training or not self.track_running_stats
        result = F.instance_norm(
            whole,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            used,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )
        return result if input.dim() == batch else result.squeeze(0)


class InstanceNorm1d(_InstanceNorm):
    dims = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    dims = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    dims = (4, 5)
