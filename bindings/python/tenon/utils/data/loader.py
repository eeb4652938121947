import functools
import itertools
import multiprocessing
import warnings
from typing import Generic, TypeVar

import tenon
from tenon.utils.data.collate import default_collate, default_convert
from tenon.utils.data.dataset import IterableDataset
from tenon.utils.data.fetch import End, Examples, Stream
from tenon.utils.data.sampler import BatchSampler, RandomSampler, SequentialSampler
from tenon.utils.data.workers import Workers

_T_co = TypeVar("_T_co", covariant=True)
_FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")


class DataLoader(Generic[_T_co]):
    """Goes through a data set in batches; each loop over it is an epoch. With num_workers, so many processes load them, prefetch_factor
    batches each ahead; of an iterable data set each of them has a copy (get_worker_info() says which). The batches come in the same order
    as without; with in_order=False as they are ready. worker_init_fn(number) runs in each process first; persistent_workers stay for the
    next epoch, which ends the one before if that is not over; timeout: seconds to wait for a batch; multiprocessing_context: how processes
    are started, by fork without. An error of the data set costs the batch that it is about: the iterator goes on with the next one."""

    _initialized = False

    def __init__(
        self,
        dataset,
        batch_size=1,
        shuffle=None,
        sampler=None,
        batch_sampler=None,
        num_workers=0,
        collate_fn=None,
        pin_memory=False,
        drop_last=False,
        timeout=0,
        worker_init_fn=None,
        multiprocessing_context=None,
        generator=None,
        *,
        prefetch_factor=None,
        persistent_workers=False,
        pin_memory_device="",
        in_order=True,
    ):
        if num_workers < 0:
            raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
        if timeout < 0:
            raise ValueError("timeout option should be non-negative")
        if num_workers == 0 and prefetch_factor is not None:
            raise ValueError(
                "prefetch_factor option could only be specified in multiprocessing. let num_workers > 0 to enable multiprocessing, "
                "otherwise set prefetch_factor to None."
            )
        if prefetch_factor is not None and prefetch_factor < 1:
            raise ValueError("prefetch_factor option should be positive")
        if persistent_workers and num_workers == 0:
            raise ValueError("persistent_workers option needs num_workers > 0")
        iterable = isinstance(dataset, IterableDataset)
        if iterable and (shuffle or sampler is not None or batch_sampler is not None):
            raise ValueError(
                "DataLoader with IterableDataset: expected unspecified shuffle, sampler and batch_sampler options"
            )
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
                )
            batch_size, drop_last = None, False
        elif batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
        if sampler is None and not iterable:
            sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_sampler is None and batch_size is not None and not iterable:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.dataset, self.batch_size, self.drop_last, self.sampler, self.batch_sampler = (
            dataset,
            batch_size,
            drop_last,
            sampler,
            batch_sampler,
        )
        self.num_workers, self.generator, self._iterable = num_workers, generator, iterable
        self.timeout, self.worker_init_fn, self.multiprocessing_context = (
            timeout,
            worker_init_fn,
            multiprocessing_context,
        )
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.persistent_workers, self.in_order, self._iterator = persistent_workers, in_order, None
        self.pin_memory, self.pin_memory_device = pin_memory, pin_memory_device
        batched = batch_sampler is not None or (iterable and batch_size is not None)
        self.collate_fn = collate_fn or (default_collate if batched else default_convert)
        self._initialized = True

    def __setattr__(self, name, value):
        if self._initialized and name in _FIXED:
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    @property
    def multiprocessing_context(self):
        return self._context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context):
        if context is not None:
            if self.num_workers == 0:
                raise ValueError(
                    "multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got num_workers=0"
                )
            methods = multiprocessing.get_all_start_methods()
            if isinstance(context, str) and context not in methods:
                raise ValueError(
                    f"multiprocessing_context option should specify a valid start method in {methods!r}, but got "
                    f"multiprocessing_context={context!r}"
                )
            context = multiprocessing.get_context(context) if isinstance(context, str) else context
            if not isinstance(context, multiprocessing.context.BaseContext):
                raise TypeError(
                    "multiprocessing_context option should be a valid context object or a string specifying the start method, "
                    f"but got multiprocessing_context={context}"
                )
        self._context = context

    def __iter__(self):
        if not self.persistent_workers:
            return _Iterator(self) if self.num_workers == 0 else _ProcessIterator(self)
        if self._iterator is None or self._iterator.is_broken:
            self._iterator = _ProcessIterator(self)
        else:
            self._iterator.begin(self)
        return self._iterator

    @property
    def _auto_collation(self):
        """Whether examples are put together to batches; a subclass whose data set gives batches says no."""
        return (self.batch_size if self._iterable else self.batch_sampler) is not None

    @property
    def _index_sampler(self):
        """What gives the numbers to load: of a batch, or of one example; of an iterable data set nothing, without end."""
        if self._iterable:
            return itertools.repeat(None)
        return self.batch_sampler if self._auto_collation else self.sampler

    def _fetcher_maker(self):
        if self._iterable:
            return functools.partial(Stream, self.dataset, self.collate_fn, self.batch_size, self.drop_last)
        return functools.partial(Examples, self.dataset, self.collate_fn, self._auto_collation)

    def __len__(self):
        if self._iterable:
            if self.batch_size is None:
                return len(self.dataset)
            full, rest = divmod(len(self.dataset), self.batch_size)
            return full if self.drop_last or not rest else full + 1
        return len(self.sampler if self.batch_sampler is None else self.batch_sampler)


class _BaseIterator:
    """One loop over a loader."""

    def __init__(self, loader):
        if loader.pin_memory:
            warnings.warn(
                "'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't be used.",
                stacklevel=4,
            )
        self._index_sampler = loader._index_sampler
        self._indices = iter(self._index_sampler)
        # A loop takes a seed from the generator, whoever loads.
        self._seed = int(tenon.empty((), dtype=tenon.int64).random_(generator=loader.generator).item())

    def __iter__(self):
        return self

    def __len__(self):
        return len(self._index_sampler)


class _Iterator(_BaseIterator):
    """Loads in this process."""

    def __init__(self, loader):
        super().__init__(loader)
        self._fetcher = loader._fetcher_maker()()

    def __next__(self):
        batch = self._fetcher.fetch(next(self._indices))
        if isinstance(batch, End):
            raise StopIteration
        return batch


class _ProcessIterator(_BaseIterator):
    """Has processes load, ahead of what is asked for. They end with the loop unless they are persistent."""

    def __init__(self, loader):
        super().__init__(loader)
        self._workers = Workers(
            loader.num_workers,
            loader.dataset,
            loader._fetcher_maker(),
            self._seed,
            loader.worker_init_fn,
            loader.multiprocessing_context,
            loader.timeout,
        )
        self._persistent = loader.persistent_workers
        self._workers.begin(self._indices, loader.prefetch_factor, loader.in_order)

    @property
    def is_broken(self):
        return self._workers.is_broken

    def begin(self, loader):
        """Another loop, by the same processes."""
        self._workers.begin(iter(loader._index_sampler), loader.prefetch_factor, loader.in_order)

    def __next__(self):
        try:
            return self._workers.next()
        except StopIteration:
            if not self._persistent:
                self._workers.close()
            raise
