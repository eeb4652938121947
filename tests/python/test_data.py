"""Data sets, samplers, loaders and collation; the order of a seed is PyTorch's."""

import collections
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading

import pytest
import tenon
from tenon.utils import data

try:
    import torch
    import torch.utils.data
except ImportError:
    torch = None
needs_torch = pytest.mark.skipif(
    torch is None, reason="needs PyTorch: ./tenon setup --oracle, and run with build/venv-oracle"
)


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
    batch = data.default_collate(
        [
            {"x": tenon.ones(2), "n": 1, "t": "one", "p": Pair(0.5, [1])},
            {"x": tenon.zeros(2), "n": 2, "t": "two", "p": Pair(1.5, [2])},
        ]
    )
    assert batch["x"].tolist() == [[1, 1], [0, 0]] and batch["n"].dtype == tenon.int64 and batch["t"] == ["one", "two"]
    assert (
        batch["p"].a.dtype == tenon.float64
        and batch["p"].a.tolist() == [0.5, 1.5]
        and batch["p"].b[0].tolist() == [1, 2]
    )
    with pytest.raises(RuntimeError, match="equal size"):
        data.default_collate([[1], [1, 2]])
    with pytest.raises(TypeError, match="found <class 'object'>"):
        data.default_collate([object()])


@needs_torch
@pytest.mark.parametrize(
    "kwargs", [{"shuffle": True, "batch_size": 3}, {"shuffle": True, "batch_size": 4, "drop_last": True}]
)
def test_the_order_of_a_seed_is_pytorchs(kwargs):
    tenon.manual_seed(5)
    ours = [b.tolist() for _ in range(2) for b in data.DataLoader(Squares(11), **kwargs)]
    torch.manual_seed(5)
    theirs = [b.tolist() for _ in range(2) for b in torch.utils.data.DataLoader(Squares(11), **kwargs)]
    assert ours == theirs
    generators = tenon.Generator().manual_seed(9), torch.Generator().manual_seed(9)
    ours = [b.tolist() for _ in range(2) for b in data.DataLoader(Squares(11), generator=generators[0], **kwargs)]
    theirs = [
        b.tolist()
        for _ in range(2)
        for b in torch.utils.data.DataLoader(Squares(11), generator=generators[1], **kwargs)
    ]
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
    (lambda: list(data.ChainDataset([Counting(), Squares(3)])), AssertionError, "ChainDataset only supports IterableDataset"),
    (lambda: len(data.ChainDataset([Squares(3)])), AssertionError, "ChainDataset only supports IterableDataset"),
    (lambda: data.DataLoader(Squares(2), multiprocessing_context="fork"), ValueError, "can only be used with multi-process loading"),
    (lambda: data.DataLoader(Squares(2), num_workers=1, multiprocessing_context="thread"), ValueError, "should specify a valid start method"),
    (lambda: data.DataLoader(Squares(2), num_workers=1, multiprocessing_context=3), TypeError, "should be a valid context object"),
    (lambda: data.WeightedRandomSampler([1.0], 0), ValueError, "num_samples should be a positive integer value, but got num_samples=0"),
    (lambda: data.WeightedRandomSampler([1.0], 1, 1), ValueError, "replacement should be a boolean value, but got replacement=1"),
    (lambda: data.WeightedRandomSampler([[1.0]], 1), ValueError, r"weights have shape \(1, 1\)"),
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
    workers = loader._iterator._workers
    assert first.tolist() == [0, 1]
    assert [b.tolist() for b in loader] == [b.tolist() for b in loader] == [[0, 1], [4, 9], [16, 25]]
    assert loader._iterator._workers is workers
    workers.close()


LIBRARIES = [data] + ([torch.utils.data] if torch else [])


def numbers(batches):
    return [b.tolist() for b in batches]


@pytest.mark.filterwarnings("ignore:This DataLoader will create")
@pytest.mark.parametrize("library", LIBRARIES)
def test_another_loop_over_persistent_workers_ends_the_first(library):
    loader = library.DataLoader(Squares(6), batch_size=2, num_workers=2, persistent_workers=True)
    seen = []
    for outer in loader:
        seen.append(outer.tolist())
        seen += numbers(loader)
    assert seen == [[0, 1], [0, 1], [4, 9], [16, 25]]
    one = iter(loader)
    assert len(one) == 3 and next(one).tolist() == [0, 1]
    assert numbers(loader) == [[0, 1], [4, 9], [16, 25]]
    with pytest.raises(StopIteration):
        next(one)
    # A loop that was left begins anew, both names of it.
    one, other = iter(loader), iter(loader)
    assert [next(one).tolist(), next(other).tolist(), next(one).tolist()] == [[0, 1], [4, 9], [16, 25]]
    assert numbers(loader) == [[0, 1], [4, 9], [16, 25]]


@pytest.mark.filterwarnings("ignore:This DataLoader will create")
@pytest.mark.parametrize("library", LIBRARIES)
def test_loops_with_processes_of_their_own_are_independent(library):
    loader = library.DataLoader(Squares(4), batch_size=2, num_workers=1)
    assert [[a.tolist(), numbers(loader)] for a in loader] == [[[0, 1], [[0, 1], [4, 9]]], [[4, 9], [[0, 1], [4, 9]]]]


class Sometimes(Squares):
    def __getitem__(self, i):
        if i in (2, 7):
            raise KeyError(f"not {i}")
        return i


class Interrupted(data.IterableDataset):
    """Goes on after an error, as one with __next__() may."""

    def __iter__(self):
        self.at = -1
        return self

    def __next__(self):
        self.at += 1
        if self.at == 2:
            raise ValueError("a bad record")
        if self.at >= 6:
            raise StopIteration
        return self.at


def with_errors(loader):
    found, iterator = [], iter(loader)
    while True:
        try:
            found.append(next(iterator).tolist())
        except StopIteration:
            return found
        except (KeyError, ValueError) as error:
            found.append(type(error).__name__)


@pytest.mark.filterwarnings("ignore:This DataLoader will create")
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    "options", [{}, {"num_workers": 1}, {"num_workers": 2}, {"num_workers": 3, "persistent_workers": True}]
)
def test_a_loop_goes_on_after_an_error(library, options):
    loader = library.DataLoader(Sometimes(9), batch_size=2, **options)
    for _ in range(2):
        assert with_errors(loader) == [[0, 1], "KeyError", [4, 5], "KeyError", [8]]


def test_a_stream_goes_on_after_an_error():
    for options in ({}, {"num_workers": 1}):
        assert with_errors(data.DataLoader(Interrupted(), batch_size=2, **options)) == [
            [0, 1],
            "ValueError",
            [3, 4],
            [5],
        ]


class Gated(Squares):
    """The first example comes when the gate is open."""

    def __init__(self, n):
        super().__init__(n)
        self.gate = multiprocessing.get_context("fork").Event()

    def __getitem__(self, i):
        if i == 0:
            self.gate.wait()
        return i


def test_a_timeout_can_be_waited_out():
    gated, found = Gated(2), []
    iterator = iter(data.DataLoader(gated, batch_size=1, num_workers=1, timeout=0.25))
    for _ in range(2):
        with pytest.raises(RuntimeError, match="DataLoader timed out after 0.25 seconds"):
            next(iterator)
    gated.gate.set()
    while len(found) < 2:
        try:
            found.append(next(iterator).item())
        except RuntimeError:  # a busy machine
            continue
    assert found == [0, 1] and list(iterator) == []


def test_batches_as_they_are_ready():
    gated = Gated(4)
    iterator = iter(data.DataLoader(gated, batch_size=1, num_workers=2, in_order=False))
    assert [next(iterator).item(), next(iterator).item()] == [1, 3]
    gated.gate.set()
    assert [b.item() for b in iterator] == [0, 2]
    parts = [b.tolist() for b in data.DataLoader(Parts(), batch_size=2, num_workers=2, in_order=False)]
    assert sorted(parts) == [[0, 2], [1, 3], [4, 6], [5]]


def test_workers_that_have_gone_are_replaced():
    loader = data.DataLoader(Leaving(4), batch_size=2, num_workers=2, persistent_workers=True)
    for _ in range(2):
        iterator = iter(loader)
        with pytest.raises(RuntimeError, match="exited unexpectedly"):
            list(iterator)
        with pytest.raises(RuntimeError, match="workers of this iterator have ended"):
            next(iterator)


INTERRUPTED = """
import os, signal, threading, time
from tenon.utils import data
class Endless(data.Dataset):
    def __len__(self):
        return 10**6
    def __getitem__(self, i):
        time.sleep(0.01)
        return i
if __name__ == "__main__":
    loader = data.DataLoader(Endless(), num_workers=2, persistent_workers=%s)
    for i, batch in enumerate(loader):
        if i == 2:
            os.killpg(0, signal.SIGINT)  # as a terminal does
"""


@pytest.mark.parametrize("persistent", [False, True])
def test_an_interrupt_prints_one_traceback(persistent, tmp_path):
    (tmp_path / "program.py").write_text(INTERRUPTED % persistent)
    ended = subprocess.run(
        [sys.executable, str(tmp_path / "program.py")],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    assert ended.returncode in (-signal.SIGINT, 130) and ended.stderr.count("Traceback") == 1, ended.stderr
    assert ended.stderr.rstrip().endswith("KeyboardInterrupt")


def test_processes_share_an_iterable_data_set():
    batches = [b.tolist() for b in data.DataLoader(Parts(), batch_size=2, num_workers=2)]
    assert batches == [[0, 2], [1, 3], [4, 6], [5]]
    assert [b.tolist() for b in data.DataLoader(Counting(), batch_size=3, num_workers=2, drop_last=True)] == [
        [0, 1, 2],
        [0, 1, 2],
    ]


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
    assert [b.shape for b in data.DataLoader(Squares(50000), batch_sampler=[many] * 3, num_workers=1)] == [
        (100000,)
    ] * 3


def test_what_a_loader_is_made_of_stays():
    loader = data.DataLoader(Squares(4), batch_size=2)
    for name in ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers"):
        with pytest.raises(ValueError, match=f"{name} attribute should not be set after DataLoader is initialized"):
            setattr(loader, name, None)
    loader.collate_fn = sum
    assert list(loader) == [1, 13]


def test_classes_take_types():
    class Words(data.Dataset[str]):
        def __getitem__(self, i):
            return "word"

        def __len__(self):
            return 2

    class Backwards(data.Sampler[int]):
        def __iter__(self):
            return iter([1, 0])

    class Lines(data.IterableDataset[str]):
        def __iter__(self):
            return iter(["a", "b"])

    loader: data.DataLoader[str] = data.DataLoader(Words(), sampler=Backwards(), batch_size=None)
    assert list(loader) == ["word", "word"] and list(data.DataLoader(Lines(), batch_size=2)) == [["a", "b"]]
    for kind in (
        data.Subset,
        data.ConcatDataset,
        data.StackDataset,
        data.ChainDataset,
        data.DataLoader,
        tenon.futures.Future,
    ):
        assert kind[int].__origin__ is kind


def test_pinned_memory_needs_an_accelerator():
    loader = data.DataLoader(Squares(2), pin_memory=True, pin_memory_device="cuda")
    with pytest.warns(UserWarning, match="'pin_memory' argument is set as true but no accelerator is found"):
        assert [b.item() for b in loader] == [0, 1]
    assert loader.pin_memory and loader.pin_memory_device == "cuda"


def test_weighted_samples():
    sampler = data.WeightedRandomSampler([0.0, 1.0, 0.0, 3.0], 400, generator=tenon.Generator().manual_seed(1))
    counts = collections.Counter(sampler)
    assert len(sampler) == 400 and set(counts) == {1, 3} and 240 < counts[3] < 360
    assert sorted(data.WeightedRandomSampler([0.5, 1, 2], 3, replacement=False)) == [0, 1, 2]
    batches = list(data.DataLoader(Squares(4), batch_size=2, sampler=data.WeightedRandomSampler([0, 0, 1, 0], 3)))
    assert [b.tolist() for b in batches] == [[4, 4], [4]]


def test_subsets_ask_for_batches_at_once():
    class Batched(Squares):
        def __getitems__(self, indices):
            return [100 + i for i in indices]

    assert [b.tolist() for b in data.DataLoader(data.Subset(Batched(9), [7, 5, 3]), batch_size=2)] == [
        [107, 105],
        [103],
    ]


def test_errors_of_callbacks_are_logged(caplog):
    seen, future = [], tenon.futures.Future()
    future.add_done_callback(lambda f: 1 / 0)
    future.add_done_callback(lambda f: seen.append(f.value()))
    future.set_result(3)
    future.add_done_callback(lambda f: 1 / 0)
    assert seen == [3] and future.wait() == 3
    assert (
        caplog.text.count("Got the following error when running the callback")
        == caplog.text.count("ZeroDivisionError")
        == 2
    )
    failed = tenon.futures.Future()
    failed.set_exception(ValueError("no"))
    assert failed.then(lambda f: 5).wait() == 5
    with pytest.raises(ValueError, match="no"):
        tenon.futures.collect_all([future, failed]).wait()
    with pytest.raises(RuntimeError, match="ZeroDivisionError: division by zero"):
        future.then(lambda f: 1 / 0).wait()


def test_texts_and_tuples_in_batches(lib):
    data = lib.utils.data
    assert data.default_collate([(1, "a"), (2, "b")])[1] == ("a", "b") and data.default_collate(["a", "b"]) == [
        "a",
        "b",
    ]
    assert data.default_convert((1, "a")) == [1, "a"] and data.default_convert([1, (2,)]) == [1, [2]]
    assert list(data.DataLoader([(1, 2)], batch_size=None)) == [[1, 2]]


def test_random_sampler_of_nothing(lib):
    for make in (
        lambda: lib.utils.data.RandomSampler([]),
        lambda: lib.utils.data.RandomSampler(range(3), num_samples=0),
    ):
        with pytest.raises(ValueError, match="num_samples should be a positive integer value"):
            make()


class Rows:
    """A data set that gives whole batches for lists of numbers."""

    def __getitem__(self, chosen):
        return tenon.tensor(chosen) * 10

    def __len__(self):
        return 5


def test_a_loader_whose_data_set_gives_batches():
    from tenon.utils.data import DataLoader

    class Whole(DataLoader):
        _auto_collation = property(lambda self: False)
        _index_sampler = property(lambda self: self.batch_sampler)

    loader = Whole(Rows(), batch_size=2, collate_fn=lambda batch: batch)
    assert [batch.tolist() for batch in loader] == [[0, 10], [20, 30], [40]]
    assert (
        DataLoader(range(3), batch_size=2)._auto_collation and not DataLoader(range(3), batch_size=None)._auto_collation
    )
