"""Python's multiprocessing, and spawn(), which starts a function in several processes.

Tensors are passed as copies, but for those that share_memory_() has moved into memory that processes share.
"""

import multiprocessing
from multiprocessing import *  # noqa: F403
from multiprocessing import get_all_start_methods as get_all_start_methods  # noqa: PLC0414

from tenon.multiprocessing import reductions as reductions
from tenon.multiprocessing.spawn import (
    ProcessContext as ProcessContext,
    ProcessException as ProcessException,
    ProcessExitedException as ProcessExitedException,
    ProcessRaisedException as ProcessRaisedException,
    SpawnContext as SpawnContext,
    spawn as spawn,
    start_processes as start_processes,
)

__all__ = [*multiprocessing.__all__, "ProcessContext", "get_all_sharing_strategies", "get_sharing_strategy", "set_sharing_strategy", "spawn", "start_processes"]  # fmt: skip

#: How tensors go from process to process.
_STRATEGIES = {"file_descriptor", "file_system"}
_strategy = "file_descriptor"


def get_all_sharing_strategies():
    """The names that set_sharing_strategy() takes."""
    return set(_STRATEGIES)


def get_sharing_strategy():
    """The name that was set."""
    return _strategy


def set_sharing_strategy(new_strategy):
    """Takes one of the names. It has no effect: shared memory is passed by its descriptor."""
    global _strategy
    if new_strategy not in _STRATEGIES:
        raise AssertionError(f"sharing strategy must be one of {sorted(_STRATEGIES)}, got {new_strategy!r}")
    _strategy = new_strategy
