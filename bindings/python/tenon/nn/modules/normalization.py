"""Layers that give their input mean 0 and variance 1."""

import tenon
from tenon.nn import functional as F, init
from tenon.nn.modules.module import Module
from tenon.nn.parameter import options_of, parameter


class _Affine(Module):
    """What is normalized, times a weight and plus a bias, where there are such parameters."""

    def reset_parameters(self):
        if self.weight is not None:
            init.ones_(self.weight)
        if getattr(self, "bias", None) is not None:
            init.zeros_(self.bias)


class _NormBase(_Affine):
    _version = 2
    dims: tuple

    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=True,
        track_running_stats=True,
        device=None,
        dtype=None,
        *,
        bias=True,
    ):
        super().__init__()
        options = options_of(device, dtype)
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        self.register_parameter("weight", parameter((num_features,), options) if affine else None)
        self.register_parameter("bias", parameter((num_features,), options) if affine and bias else None)
        tracked = track_running_stats
        self.register_buffer("running_mean", tenon.zeros((num_features,), **options) if tracked else None)
        self.register_buffer("running_var", tenon.ones((num_features,), **options) if tracked else None)
        self.register_buffer(
            "num_batches_tracked", tenon.zeros((), **{**options, "dtype": tenon.int64}) if tracked else None
        )
        self.reset_parameters()

    def reset_running_stats(self):
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self):
        self.reset_running_stats()
        super().reset_parameters()

    def _check_input_dim(self, input):
        if input.dim() not in self.dims:
            raise ValueError(f"expected {' or '.join(f'{d}D' for d in self.dims)} input (got {input.dim()}D input)")

    def extra_repr(self):
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, *rest):
        # Before version 2 the batches were not counted.
        key = prefix + "num_batches_tracked"
        if (local_metadata.get("version") or 1) < 2 and self.track_running_stats and key not in state_dict:
            state_dict[key] = tenon.tensor(0)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)


class _BatchNorm(_NormBase):
    def _normalize_batch(self, input, running_mean, running_var, momentum):
        return F.batch_norm(input, running_mean, running_var, self.weight, self.bias, True, momentum, self.eps)

    def forward(self, input):
        self._check_input_dim(input)
        momentum = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                momentum = 1.0 / float(self.num_batches_tracked.item())
        # Without running statistics those of the batch serve in evaluation too.
        batch = self.training or (self.running_mean is None and self.running_var is None)
        kept = not self.training or self.track_running_stats
        running = (self.running_mean, self.running_var) if kept else (None, None)
        if batch:
            return self._normalize_batch(input, *running, momentum)
        return F.batch_norm(input, *running, self.weight, self.bias, False, momentum, self.eps)


class BatchNorm1d(_BatchNorm):
    dims = (2, 3)


class BatchNorm2d(_BatchNorm):
    dims = (4,)


class BatchNorm3d(_BatchNorm):
    dims = (5,)


class LayerNorm(_Affine):
    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, bias=True, device=None, dtype=None):
        super().__init__()
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        options = options_of(device, dtype)
        self.register_parameter("weight", parameter(self.normalized_shape, options) if elementwise_affine else None)
        self.register_parameter(
            "bias", parameter(self.normalized_shape, options) if elementwise_affine and bias else None
        )
        self.reset_parameters()

    def forward(self, input):
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"


class RMSNorm(_Affine):
    def __init__(self, normalized_shape, eps=None, elementwise_affine=True, device=None, dtype=None):
        super().__init__()
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self.register_parameter(
            "weight", parameter(self.normalized_shape, options_of(device, dtype)) if elementwise_affine else None
        )
        self.reset_parameters()

    def forward(self, input):
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self):
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(_Affine):
    def __init__(self, num_groups, num_channels, eps=1e-5, affine=True, device=None, dtype=None, *, bias=True):
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        options = options_of(device, dtype)
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        self.register_parameter("weight", parameter((num_channels,), options) if affine else None)
        self.register_parameter("bias", parameter((num_channels,), options) if affine and bias else None)
        self.reset_parameters()

    def forward(self, input):
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, bias={self.bias is not None}"


class _InstanceNorm(_NormBase):
    """Of each sample by itself; dims are those of a batch, one fewer are those of a sample."""

    def __init__(
        self, num_features, eps=1e-5, momentum=0.1, affine=False, track_running_stats=False, device=None, dtype=None
    ):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype)

    def forward(self, input):
        batch = max(self.dims)
        self._check_input_dim(input)
        if input.shape[-(batch - 1)] != self.num_features:
            raise ValueError(
                f"expected input's size at dim={input.dim() - batch + 1} to match num_features ({self.num_features}), but got: "
                f"{input.shape[-(batch - 1)]}."
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
