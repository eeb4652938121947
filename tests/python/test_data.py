"""Data sets, samplers, loaders and collation; the order of a seed is PyTorch's."""

import collections

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
    (lambda: data.DataLoader(Squares(2), num_workers=2), NotImplementedError, "num_workers must be 0, got 2"),
    (lambda: data.random_split(Squares(3), [1, 1]), ValueError, "Sum of input lengths"),
])  # fmt: skip
def test_errors(make, error, text):
    with pytest.raises(error, match=text):
        make()
