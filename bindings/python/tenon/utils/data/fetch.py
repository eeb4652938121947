"""Batches out of a data set."""


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
        self.examples, self.collate, self.size, self.drop_last = iter(dataset), collate, batch_size or 1, drop_last
        self.batched, self.ended = batch_size is not None, False

    def fetch(self, _=None):
        batch = []
        # By next() alone: iter() of a data set that is its own iterator may begin anew.
        while len(batch) < self.size and not self.ended:
            try:
                batch.append(next(self.examples))
            except StopIteration:
                self.ended = True
        if not batch or (self.drop_last and len(batch) < self.size):
            return End()
        return self.collate(batch if self.batched else batch[0])
