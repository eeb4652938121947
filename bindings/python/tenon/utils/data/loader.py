import tenon
from tenon.utils.data.collate import default_collate, default_convert
from tenon.utils.data.dataset import IterableDataset
from tenon.utils.data.sampler import BatchSampler, RandomSampler, SequentialSampler


class DataLoader:
    """Goes through a data set in batches; each loop over it is an epoch. One process: num_workers must be 0."""

    def __init__(self, dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None, num_workers=0, collate_fn=None, pin_memory=False,
                 drop_last=False, timeout=0, worker_init_fn=None, *, generator=None):
        if num_workers != 0 or timeout != 0 or worker_init_fn is not None:
            raise NotImplementedError(f"DataLoader: examples are loaded in this process, num_workers must be 0, got {num_workers}")
        if pin_memory:
            raise NotImplementedError("DataLoader: pin_memory")
        iterable = isinstance(dataset, IterableDataset)
        if iterable and (shuffle or sampler is not None or batch_sampler is not None):
            raise ValueError("DataLoader with IterableDataset: expected unspecified shuffle, sampler and batch_sampler options")
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError("batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last")
            batch_size, drop_last = None, False
        elif batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
        if sampler is None and not iterable:
            sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_sampler is None and batch_size is not None and not iterable:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.dataset, self.batch_size, self.drop_last, self.sampler, self.batch_sampler = dataset, batch_size, drop_last, sampler, batch_sampler
        self.num_workers, self.generator, self._iterable = 0, generator, iterable
        batched = batch_sampler is not None or (iterable and batch_size is not None)
        self.collate_fn = collate_fn or (default_collate if batched else default_convert)

    def __iter__(self):
        # An epoch takes a seed from the generator, as PyTorch's does for its workers.
        tenon.empty((), dtype=tenon.int64).random_(generator=self.generator)
        if self._iterable:
            return self._through_iterable()
        if self.batch_sampler is None:
            return (self.collate_fn(self.dataset[i]) for i in self.sampler)
        return (self.collate_fn(self._fetch(batch)) for batch in self.batch_sampler)

    def _fetch(self, batch):
        if hasattr(self.dataset, "__getitems__") and self.dataset.__getitems__:
            return self.dataset.__getitems__(batch)
        return [self.dataset[i] for i in batch]

    def _through_iterable(self):
        if self.batch_size is None:
            yield from (self.collate_fn(example) for example in self.dataset)
            return
        batch = []
        for example in self.dataset:
            batch.append(example)
            if len(batch) == self.batch_size:
                yield self.collate_fn(batch)
                batch = []
        if batch and not self.drop_last:
            yield self.collate_fn(batch)

    def __len__(self):
        if self._iterable:
            if self.batch_size is None:
                return len(self.dataset)
            full, rest = divmod(len(self.dataset), self.batch_size)
            return full if self.drop_last or not rest else full + 1
        return len(self.sampler if self.batch_sampler is None else self.batch_sampler)
