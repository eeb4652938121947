"""Hooks for DistributedDataParallel.register_comm_hook()."""

from tenon.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook  # noqa: F401
