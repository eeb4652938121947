"""The iterator of a loader without processes, under its private name: programs derive loaders of their own from it."""

import tenon


class _DatasetKind:
    """How a data set gives its samples."""

    Map, Iterable = 0, 1


class _BaseDataLoaderIter:
    """Of a loader with dataset, collate_fn, _dataset_kind, _auto_collation, drop_last, _index_sampler and generator."""

    def __init__(self, loader):
        self._dataset, self._collate_fn, self._drop_last = loader.dataset, loader.collate_fn, loader.drop_last
        self._dataset_kind, self._auto_collation = loader._dataset_kind, loader._auto_collation
        self._sampler_iter = iter(loader._index_sampler)
        self._base_seed = tenon.empty((), dtype=tenon.int64).random_(generator=loader.generator).item()
        self._num_yielded = 0

    def __iter__(self):
        return self

    def __next__(self):
        data = self._next_data()
        self._num_yielded += 1
        return data


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """Loads here."""

    def __init__(self, loader):
        super().__init__(loader)
        self._samples = iter(self._dataset) if self._dataset_kind == _DatasetKind.Iterable else None

    def _next_data(self):
        index = next(self._sampler_iter)
        if not self._auto_collation:
            return self._collate_fn(self._dataset[index] if self._samples is None else next(self._samples))
        if self._samples is None:
            return self._collate_fn([self._dataset[i] for i in index])
        samples = [sample for _, sample in zip(index, self._samples)]
        if not samples or self._drop_last and len(samples) < len(index):
            raise StopIteration
        return self._collate_fn(samples)
