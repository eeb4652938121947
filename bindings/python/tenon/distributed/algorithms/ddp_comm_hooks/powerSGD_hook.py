"""Gradients sent as products of a few columns and rows: PowerSGD (Vogels, Karimireddy, Jaggi 2019)."""

from tenon import _distributed as _C
from tenon.distributed._ddp import NativeHook

__all__ = ["PowerSGDState", "powerSGD_hook"]


class PowerSGDState:
    """What powerSGD_hook keeps from one iteration to the next, for one model. process_group None: the model's.

    Iterations before start_powerSGD_iter reduce in full; gradients that would not become smaller by more than min_compression_rate
    always do. ValueError unless start_powerSGD_iter is 2 or more with error feedback or warm start.
    """

    def __init__(
        self,
        process_group,
        matrix_approximation_rank=1,
        start_powerSGD_iter=1000,
        min_compression_rate=2,
        use_error_feedback=True,
        warm_start=True,
        orthogonalization_epsilon=0,
        random_seed=0,
        compression_stats_logging_frequency=10000,
        batch_tensors_with_same_shape=False,
    ):
        self.process_group = process_group
        self.matrix_approximation_rank, self.start_powerSGD_iter = matrix_approximation_rank, start_powerSGD_iter
        self.min_compression_rate, self.use_error_feedback, self.warm_start = (
            min_compression_rate,
            use_error_feedback,
            warm_start,
        )
        self._native = _C._PowerSGDState(
            matrix_approximation_rank,
            start_powerSGD_iter,
            min_compression_rate,
            use_error_feedback,
            warm_start,
            orthogonalization_epsilon,
            random_seed,
        )

    @property
    def iter(self):
        return self._native.iteration

    def state_dict(self):
        """All that is kept, as tensors: for a checkpoint of each rank, as what a rank has lost is its own."""
        return self._native.state_dict()

    def load_state_dict(self, state_dict):
        """Goes on from there, on all ranks: one iteration reduces in full, and the next as if there had been no end."""
        self._native.load_state_dict(state_dict)

    def compression_stats(self):
        """(how many times smaller, numbers of the gradients, numbers sent) since compression began."""
        before, after = self._native.numel_before, self._native.numel_after
        return (before / after if after else 0), before, after


powerSGD_hook = NativeHook(
    "powerSGD_hook",
    "The mean of the gradients by PowerSGD; `state` is a PowerSGDState.",
    lambda state: _C._powerSGD_hook(state._native),
)
