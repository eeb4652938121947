"""Each rank's part of a data set."""

from tenon.utils.data.sampler import Sampler

__all__ = ["DistributedSampler"]


class DistributedSampler(Sampler[int]):
    """Every num_replicas-th example, in an order that the seed and the epoch give: set_epoch() before each epoch. The order is PyTorch's.

    The ranks' parts have the same size: the first examples are repeated, or with drop_last the last ones left out.
    """

    def __init__(self, dataset, num_replicas=None, rank=None, shuffle=True, seed=0, drop_last=False):
        from tenon import distributed

        if not distributed.is_available():
            raise RuntimeError("DistributedSampler: this build of Tenon is without tenon.distributed")
        num_replicas = distributed.get_world_size() if num_replicas is None else num_replicas
        rank = distributed.get_rank() if rank is None else rank
        if not 0 <= rank < num_replicas:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset, self.num_replicas, self.rank = dataset, num_replicas, rank
        self.shuffle, self.seed, self.drop_last, self.epoch = shuffle, seed, drop_last, 0
        self.num_samples = len(dataset) // num_replicas if drop_last else -(-len(dataset) // num_replicas)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self):
        from tenon import _distributed as _C

        return iter(
            _C._sampler_indices(
                len(self.dataset), self.num_replicas, self.rank, self.shuffle, self.seed, self.drop_last, self.epoch
            )
        )

    def __len__(self):
        return self.num_samples

    def set_epoch(self, epoch):
        self.epoch = epoch
