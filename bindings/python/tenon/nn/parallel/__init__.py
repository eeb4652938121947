"""Modules that several processes train."""

from tenon.nn.parallel.distributed import DistributedDataParallel

__all__ = ["DistributedDataParallel"]
