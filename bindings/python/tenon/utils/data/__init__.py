"""Data sets, and loaders that go through them in batches, in one process. For a given seed the order is PyTorch's."""

from tenon.utils.data.collate import default_collate, default_convert
from tenon.utils.data.dataset import (
    ChainDataset, ConcatDataset, Dataset, IterableDataset, StackDataset, Subset, TensorDataset, random_split,
)
from tenon.utils.data.distributed import DistributedSampler
from tenon.utils.data.loader import DataLoader
from tenon.utils.data.sampler import (
    BatchSampler, RandomSampler, Sampler, SequentialSampler, SubsetRandomSampler,
)

__all__ = ["BatchSampler", "ChainDataset", "ConcatDataset", "DataLoader", "Dataset", "DistributedSampler", "IterableDataset", "RandomSampler", "Sampler",
           "SequentialSampler", "StackDataset", "Subset", "SubsetRandomSampler", "TensorDataset",
           "default_collate", "default_convert", "random_split"]
