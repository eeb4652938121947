import functools
import itertools

import tenon
from tenon.utils.data.collate import default_collate, default_convert
from tenon.utils.data.dataset import IterableDataset
from tenon.utils.data.fetch import End, Examples, Stream
from tenon.utils.data.sampler import BatchSampler, RandomSampler, SequentialSampler
from tenon.utils.data.workers import Workers


class DataLoader:
    """Goes through a data set in batches; each loop over it is an epoch. With num_workers, so many processes load them, prefetch_factor
    batches each ahead; of an iterable data set each of them has a copy (get_worker_info() says which). The batches come in the same order
    as without. worker_init_fn(number) runs in each process first; persistent_workers stay for the next epoch; timeout: seconds to wait for
    a batch; multiprocessing_context: how processes are started, by fork without."""

    def __init__(self, dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None, num_workers=0, collate_fn=None, pin_memory=False,
                 drop_last=False, timeout=0, worker_init_fn=None, multiprocessing_context=None, generator=None, *, prefetch_factor=None,
                 persistent_workers=False):
        if num_workers < 0:
            raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
        if timeout < 0:
            raise ValueError("timeout option should be non-negative")
        if num_workers == 0 and prefetch_factor is not None:
            raise ValueError("prefetch_factor option could only be specified in multiprocessing. let num_workers > 0 to enable multiprocessing, "
                             "otherwise set prefetch_factor to None.")
        if prefetch_factor is not None and prefetch_factor < 1:
            raise ValueError("prefetch_factor option should be positive")
        if persistent_workers and num_workers == 0:
            raise ValueError("persistent_workers option needs num_workers > 0")
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
        self.num_workers, self.generator, self._iterable = num_workers, generator, iterable
        self.timeout, self.worker_init_fn, self.multiprocessing_context = timeout, worker_init_fn, multiprocessing_context
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.persistent_workers, self._workers = persistent_workers, None
        batched = batch_sampler is not None or (iterable and batch_size is not None)
        self.collate_fn = collate_fn or (default_collate if batched else default_convert)

    def __iter__(self):
        # An epoch takes a seed from the generator, whoever loads.
        seed = tenon.empty((), dtype=tenon.int64).random_(generator=self.generator)
        if self._iterable:
            make, tasks = functools.partial(Stream, self.dataset, self.collate_fn, self.batch_size, self.drop_last), itertools.repeat(None)
        else:
            make = functools.partial(Examples, self.dataset, self.collate_fn, self.batch_sampler is not None)
            tasks = self.sampler if self.batch_sampler is None else self.batch_sampler
        return self._here(make(), tasks) if self.num_workers == 0 else self._in_processes(make, tasks, int(seed.item()))

    def _here(self, fetcher, tasks):
        for chosen in tasks:
            batch = fetcher.fetch(chosen)
            if isinstance(batch, End):
                return
            yield batch

    def _in_processes(self, make, tasks, seed):
        workers = self._workers
        if workers is None:
            workers = Workers(self.num_workers, self.dataset, make, seed, self.worker_init_fn, self.multiprocessing_context, self.timeout)
            self._workers = workers if self.persistent_workers else None
        try:
            yield from workers.batches(tasks, self.prefetch_factor)
        except RuntimeError:
            self._workers = None  # of which one may be gone
            workers.close()
            raise
        finally:
            if not self.persistent_workers:
                workers.close()

    def __len__(self):
        if self._iterable:
            if self.batch_size is None:
                return len(self.dataset)
            full, rest = divmod(len(self.dataset), self.batch_size)
            return full if self.drop_last or not rest else full + 1
        return len(self.sampler if self.batch_sampler is None else self.batch_sampler)
