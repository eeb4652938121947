"""Operators that give several copies, into tensors of the caller; beside PyTorch where it is installed."""

import pytest


@pytest.mark.parametrize("sizes", [(3, 3), (0, 3), (0, 0)])
def test_copies_are_written_into_out(lib, sizes):
    x = lib.arange(6.0).view(2, 3)
    out = [lib.empty(n) for n in sizes]
    assert lib.unbind_copy(x, out=out) is None
    assert [t.tolist() for t in out] == [[0, 1, 2], [3, 4, 5]]
    out = [lib.empty(2, n) for n in (1, 2)]
    assert lib.split_with_sizes_copy(x, [1, 2], dim=1, out=out) is None
    assert [t.tolist() for t in out] == [[[0], [3]], [[1, 2], [4, 5]]]
    parts = lib.split_with_sizes_copy(x, [1, 1])
    assert [t.tolist() for t in parts] == [[[0, 1, 2]], [[3, 4, 5]]] and parts[0].data_ptr() != x.data_ptr()
    assert [t.tolist() for t in lib.unbind_copy(x, 1)] == [[0, 3], [1, 4], [2, 5]]


def test_out_has_as_many_tensors_as_there_are_results(lib):
    x = lib.ones(2, 3)
    for call in (
        lambda: lib.unbind_copy(x, out=[lib.empty(3)]),
        lambda: lib.split_with_sizes_copy(x, [1, 1], out=[lib.empty(1, 3)]),
    ):
        with pytest.raises(RuntimeError, match="_out expected an out= argument of size 2, got size 1"):
            call()


@pytest.mark.parametrize("name", ["linspace", "logspace"])
def test_ends_are_numbers_or_tensors_without_dimensions(lib, name):
    make = getattr(lib, name)
    assert make(lib.tensor(0.0), 2, 3).tolist() == make(0, lib.tensor(2), 3).tolist() == make(0, 2, 3).tolist()
    message = f"{name} only supports 0-dimensional start and end tensors, but got start with 1 dimension"
    with pytest.raises(RuntimeError, match=message):
        make(lib.zeros(1), lib.tensor(2.0), 3)
