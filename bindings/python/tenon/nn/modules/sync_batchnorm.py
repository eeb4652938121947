"""Batch normalisation over several ranks."""

from tenon.nn.modules.batchnorm import _BatchNorm


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation of [N, C, ...] that in training uses the statistics of all ranks' batches together, of any sizes.

    Without tenon.distributed or a default group, and in a group of one, it is ordinary batch normalisation.
    """

    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=True,
        track_running_stats=True,
        process_group=None,
        device=None,
        dtype=None,
        *,
        bias=True,
    ):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input):
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")

    def _normalize_batch(self, input, running_mean, running_var, momentum):
        from tenon import distributed

        if not (
            self.training
            and distributed.is_available()
            and distributed.is_initialized()
            and distributed.get_world_size(self.process_group) > 1
        ):
            return super()._normalize_batch(input, running_mean, running_var, momentum)
        from tenon import _distributed as _C

        return _C._sync_batch_norm(
            input, self.weight, self.bias, running_mean, running_var, momentum, self.eps, self.process_group
        )

    @classmethod
    def convert_sync_batchnorm(cls, module, process_group=None):
        """The module with SyncBatchNorm, of the same parameters and buffers, in the place of all batch normalisation."""
        converted = module
        if isinstance(module, _BatchNorm) and not isinstance(module, SyncBatchNorm):
            converted = cls(
                module.num_features,
                module.eps,
                module.momentum,
                module.affine,
                module.track_running_stats,
                process_group,
                bias=module.bias is not None,
            )
            for name in ("weight", "bias"):
                converted._parameters[name] = module._parameters[name]
            for name in ("running_mean", "running_var", "num_batches_tracked"):
                converted._buffers[name] = module._buffers[name]
            converted.training = module.training
        for name, child in module.named_children():
            converted.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return converted
