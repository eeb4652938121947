"""Batch normalization and the base of all that keep running statistics."""

import tenon
from tenon.nn import functional as F, init
from tenon.nn.modules.module import Module
from tenon.nn.parameter import options_of, parameter


class _NormBase(Module):
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
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

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
