"""Data sets, samplers, loaders and collation; the order of a seed is PyTorch's."""

import collections
import os
import random
import threading

import pytest
import tenon
from tenon.utils import data

try:
    import torch
    import torch.utils.data
except ImportError:
    torch = None
needs_torch = pytest.mark.skipif(torch is None, reason="needs PyTorch: ./tenon setup --oracle, and run with build/venv-oracle")


class Squares(data.Dataset):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        if not 0 <= i < self.n:
            raise IndexError(i)
        return i * i


class Counting(data.IterableDataset):
    def __iter__(self):
        return iter(range(5))


def test_batches_in_order():
    x, y = tenon.arange(10.0).view(5, 2), tenon.arange(5)
    batches = list(data.DataLoader(data.TensorDataset(x, y), batch_size=2))
    assert [b[1].tolist() for b in batches] == [[0, 1], [2, 3], [4]]
    assert batches[1][0].tolist() == [[4, 5], [6, 7]]
    loader = data.DataLoader(Squares(5), batch_size=2, drop_last=True)
    assert [b.tolist() for b in loader] == [[0, 1], [4, 9]] and len(loader) == 2
    assert list(data.DataLoader(Squares(3), batch_size=None)) == [0, 1, 4]
    assert [b.tolist() for b in data.DataLoader(Counting(), batch_size=2)] == [[0, 1], [2, 3], [4]]
    assert [b.tolist() for b in data.DataLoader(Squares(4), batch_sampler=[[3], [0, 1]])] == [[9], [0, 1]]


def test_data_sets_of_data_sets():
    both = Squares(3) + Squares(2)
    assert [both[i] for i in range(5)] == [0, 1, 4, 0, 1] and both[-1] == 1 and len(both) == 5
    assert list(data.Subset(Squares(5), [4, 2])) == [16, 4]
    assert data.StackDataset(a=Squares(3), b=Squares(3))[2] == {"a": 4, "b": 4}
    assert list(Counting() + Counting()) == [*range(5), *range(5)]
    with pytest.raises(AssertionError, match="Size mismatch"):
        data.TensorDataset(tenon.ones(2), tenon.ones(3))


def test_collation():
    Pair = collections.namedtuple("Pair", "a b")
    batch = data.default_collate([{"x": tenon.ones(2), "n": 1, "t": "one", "p": Pair(0.5, [1])}, {"x": tenon.zeros(2), "n": 2, "t": "two", "p": Pair(1.5, [2])}])
    assert batch["x"].tolist() == [[1, 1], [0, 0]] and batch["n"].dtype == tenon.int64 and batch["t"] == ["one", "two"]
    assert batch["p"].a.dtype == tenon.float64 and batch["p"].a.tolist() == [0.5, 1.5] and batch["p"].b[0].tolist() == [1, 2]
    with pytest.raises(RuntimeError, match="equal size"):
        data.default_collate([[1], [1, 2]])
    with pytest.raises(TypeError, match="found <class 'object'>"):
        data.default_collate([object()])


@needs_torch
@pytest.mark.parametrize("kwargs", [{"shuffle": True, "batch_size": 3}, {"shuffle": True, "batch_size": 4, "drop_last": True}])
def test_the_order_of_a_seed_is_pytorchs(kwargs):
    tenon.manual_seed(5)
    ours = [b.tolist() for _ in range(2) for b in data.DataLoader(Squares(11), **kwargs)]
    torch.manual_seed(5)
    theirs = [b.tolist() for _ in range(2) for b in torch.utils.data.DataLoader(Squares(11), **kwargs)]
    assert ours == theirs
    generators = tenon.Generator().manual_seed(9), torch.Generator().manual_seed(9)
    ours = [b.tolist() for _ in range(2) for b in data.DataLoader(Squares(11), generator=generators[0], **kwargs)]
    theirs = [b.tolist() for _ in range(2) for b in torch.utils.data.DataLoader(Squares(11), generator=generators[1], **kwargs)]
    assert ours == theirs


@needs_torch
def test_samplers_and_splits_are_pytorchs():
    pairs = [(tenon, data), (torch, torch.utils.data)]
    found = []
    for library, of in pairs:
        library.manual_seed(2)
        found.append([
            list(of.RandomSampler(Squares(7), num_samples=17)), list(of.RandomSampler(Squares(7), replacement=True, num_samples=40)),
            list(of.SubsetRandomSampler([5, 6, 9])), list(of.BatchSampler(of.SequentialSampler(Squares(5)), 2, False)),
            [list(s.indices) for s in of.random_split(Squares(10), [0.5, 0.3, 0.2])],
            [list(s.indices) for s in of.random_split(Squares(10), [3, 7], generator=library.Generator().manual_seed(1))],
        ])  # fmt: skip
    assert found[0] == found[1]


@pytest.mark.parametrize("make, error, text", [
    (lambda: data.DataLoader(Squares(2), batch_size=0), ValueError, "batch_size=0"),
    (lambda: data.DataLoader(Squares(2), sampler=[0], shuffle=True), ValueError, "mutually exclusive with shuffle"),
    (lambda: data.DataLoader(Counting(), shuffle=True), ValueError, "IterableDataset"),
    (lambda: data.DataLoader(Squares(2), num_workers=-1), ValueError, "num_workers option should be non-negative"),
    (lambda: data.DataLoader(Squares(2), timeout=-1), ValueError, "timeout option should be non-negative"),
    (lambda: data.DataLoader(Squares(2), persistent_workers=True), ValueError, "persistent_workers option needs num_workers"),
    (lambda: data.random_split(Squares(3), [1, 1]), ValueError, "Sum of input lengths"),
])  # fmt: skip
def test_errors(make, error, text):
    with pytest.raises(error, match=text):
        make()


class Failing(Squares):
    def __getitem__(self, i):
        if i == 3:
            raise KeyError("no third")
        return i


class Leaving(Squares):
    def __getitem__(self, i):
        if i == 2:
            os._exit(7)
        return i


class Parts(data.IterableDataset):
    """Each process has every count-th number."""

    def __iter__(self):
        info = data.get_worker_info()
        return iter(range(info.id, 7, info.num_workers))


class Seeds(Squares):
    def __getitem__(self, i):
        info = data.get_worker_info()
        return [info.id, info.seed, int(tenon.randint(0, 10**9, ()).item()), random.randrange(10**9)]


def test_processes_load_in_the_same_order():
    here = [b.tolist() for b in data.DataLoader(Squares(11), batch_size=2)]
    assert [b.tolist() for b in data.DataLoader(Squares(11), batch_size=2, num_workers=3)] == here
    assert list(data.DataLoader(Squares(5), batch_size=None, num_workers=2, prefetch_factor=1)) == [0, 1, 4, 9, 16]
    tenon.manual_seed(3)
    shuffled = [b.tolist() for b in data.DataLoader(Squares(9), batch_size=2, shuffle=True)]
    tenon.manual_seed(3)
    assert [b.tolist() for b in data.DataLoader(Squares(9), batch_size=2, shuffle=True, num_workers=2)] == shuffled
    assert data.get_worker_info() is None


def test_processes_stay_for_the_next_epoch():
    loader = data.DataLoader(Squares(6), batch_size=2, num_workers=2, persistent_workers=True)
    first = next(iter(loader))  # and what was loaded beyond is dropped
    workers = loader._workers
    assert first.tolist() == [0, 1]
    assert [b.tolist() for b in loader] == [b.tolist() for b in loader] == [[0, 1], [4, 9], [16, 25]]
    assert loader._workers is workers
    workers.close()


def test_processes_share_an_iterable_data_set():
    batches = [b.tolist() for b in data.DataLoader(Parts(), batch_size=2, num_workers=2)]
    assert batches == [[0, 2], [1, 3], [4, 6], [5]]
    assert [b.tolist() for b in data.DataLoader(Counting(), batch_size=3, num_workers=2, drop_last=True)] == [[0, 1, 2], [0, 1, 2]]


def test_processes_have_seeds_of_their_own():
    tenon.manual_seed(4)
    rows = list(data.DataLoader(Seeds(4), batch_size=None, num_workers=2))
    assert [row[0] for row in rows] == [0, 1, 0, 1] and rows[1][1] == rows[0][1] + 1
    assert len({row[2] for row in rows}) == len({row[3] for row in rows}) == 4
    tenon.manual_seed(4)
    assert list(data.DataLoader(Seeds(4), batch_size=None, num_workers=2)) == rows


def test_what_fails_in_a_process_is_reported():
    with pytest.raises(KeyError, match="(?s)Caught KeyError in DataLoader worker process 1.*no third"):
        list(data.DataLoader(Failing(6), batch_size=2, num_workers=2))
    with pytest.raises(RuntimeError, match=r"worker 1 \(pid \d+\) exited unexpectedly with exit code 7"):
        list(data.DataLoader(Leaving(4), batch_size=2, num_workers=2))

    def init(number):
        raise ValueError(f"not {number}")

    with pytest.raises(ValueError, match="(?s)Caught ValueError.*not 0"):
        list(data.DataLoader(Squares(4), num_workers=1, worker_init_fn=init))
    with pytest.raises(TypeError, match="(?s)Caught TypeError in DataLoader worker.*pickle"):
        list(data.DataLoader(Squares(2), num_workers=1, collate_fn=lambda batch: threading.Lock()))
    with pytest.raises(ValueError, match="prefetch_factor option could only"):
        data.DataLoader(Squares(2), prefetch_factor=2)


def test_batches_larger_than_a_pipe():
    big = data.TensorDataset(tenon.arange(400000.0).reshape(4, 100000))
    batches = list(data.DataLoader(big, batch_size=2, num_workers=2))
    assert [b[0].shape for b in batches] == [(2, 100000)] * 2 and batches[1][0][1, -1].item() == 399999
    many = list(range(50000)) * 2  # the numbers of one batch do not fit into a pipe either
    assert [b.shape for b in data.DataLoader(Squares(50000), batch_sampler=[many] * 3, num_workers=1)] == [(100000,)] * 3
