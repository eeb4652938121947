"""Loops of iterations of which ranks may have different numbers, for whatever takes part in collectives in each iteration."""

import abc

import tenon
import tenon.distributed as dist
from tenon.nn.parallel import DistributedDataParallel

__all__ = ["Join", "JoinHook", "Joinable"]


class JoinHook:
    """What a rank that is through does in the place of an object's part in the others' iterations."""

    def main_hook(self):
        """The collectives of one iteration. Called again and again until all ranks are through."""

    def post_hook(self, is_last_joiner):
        """Called once by all ranks when all are through. is_last_joiner: whether this rank was among the last."""


class Joinable(abc.ABC):
    """What may be given to Join. Its collectives of each iteration begin with Join.notify_join_context(self)."""

    _join = None  # the context that it is in

    def __init__(self):
        super().__init__()

    @abc.abstractmethod
    def join_hook(self, **kwargs):
        """A JoinHook; the arguments are those of Join."""

    @property
    @abc.abstractmethod
    def join_device(self):
        """Where Join's own collectives have their tensors."""

    @property
    @abc.abstractmethod
    def join_process_group(self):
        """The ranks that are waited for."""


Joinable.register(DistributedDataParallel)


class Join:
    """Within it ranks may make different numbers of iterations: one that is through calls the hooks of all joinables, in their order.

    All joinables must have one process group. With throw_on_early_termination all ranks raise RuntimeError as soon as one is through
    before others. Further arguments go to join_hook().
    """

    def __init__(self, joinables, enable=True, throw_on_early_termination=False, **kwargs):
        self._joinables = list(joinables)
        if not self._joinables:
            raise ValueError("The join context manager requires at least one joinable")
        for one in self._joinables:
            if not isinstance(one, Joinable):
                raise TypeError(f"Join: expected a Joinable, got {type(one).__name__}")
        groups = {id(one.join_process_group) for one in self._joinables}
        if len(groups) > 1:
            raise ValueError("Using join context manager with multiple process groups")
        self._enable, self._throw = enable, throw_on_early_termination
        self._group, self._device = self._joinables[0].join_process_group, self._joinables[0].join_device
        self._hooks = [one.join_hook(**kwargs) for one in self._joinables] if enable else []

    def __enter__(self):
        if self._enable:
            for one in self._joinables:
                one._join = self
        return self

    def __exit__(self, kind, error, traceback):
        if not self._enable:
            return
        try:
            if kind is None:
                self._stand_in()
        finally:
            for one in self._joinables:
                one._join = None
            for hook in self._hooks:
                getattr(hook, "end", lambda: None)()

    def _stand_in(self):
        is_last_joiner = True
        while self._count(0):
            if self._throw:
                raise RuntimeError(
                    f"Detected at least one rank that exhausted inputs. Rank {dist.get_rank(self._group)} is through."
                )
            is_last_joiner = False
            for hook in self._hooks:
                hook.main_hook()
        for hook in self._hooks:
            hook.post_hook(is_last_joiner)

    def _count(self, own):
        total = tenon.tensor([own], device=self._device)
        dist.all_reduce(total, group=self._group)
        return int(total.item())

    @staticmethod
    def notify_join_context(joinable):
        """Tells the ranks that are through that this one makes another iteration. Only the first joinable of a context does."""
        join = joinable._join
        if join is None or join._joinables[0] is not joinable:
            return
        active = join._count(1)
        if join._throw and active < dist.get_world_size(join._group):
            raise RuntimeError("Detected at least one rank that exhausted inputs. Throwing across all ranks.")
