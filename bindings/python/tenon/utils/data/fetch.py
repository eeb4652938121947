"""Batches out of a data set."""

import itertools


class End:
    """What a stream gives when it has ended."""


class Examples:
    """Of a data set with numbers: fetch(numbers) is a batch, or fetch(number) one example."""

    def __init__(self, dataset, collate, batched):
        self.dataset, self.collate, self.batched = dataset, collate, batched

    def fetch(self, chosen):
        if not self.batched:
            return self.collate(self.dataset[chosen])
        if hasattr(self.dataset, "__getitems__") and self.dataset.__getitems__:
            return self.collate(self.dataset.__getitems__(chosen))
        return self.collate([self.dataset[i] for i in chosen])


class Stream:
    """Of an iterable data set: fetch() is the next batch_size examples, or one, or an End."""

    def __init__(self, dataset, collate, batch_size, drop_last):
        self.examples, self.collate, self.batch_size, self.drop_last = iter(dataset), collate, batch_size, drop_last

    def fetch(self, _=None):
        batch = list(itertools.islice(self.examples, self.batch_size or 1))
        if not batch or (self.drop_last and len(batch) < self.batch_size):
            return End()
        return self.collate(batch if self.batch_size is not None else batch[0])
