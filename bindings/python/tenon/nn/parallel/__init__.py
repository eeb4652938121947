"""Modules that several processes train."""

from tenon.nn.parallel.data_parallel import DataParallel, data_parallel
from tenon.nn.parallel.distributed import DistributedDataParallel

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel"]
