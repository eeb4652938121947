"""Indices that are sequences, and assignment of what is read from the same tensor."""

import warnings

import numpy as np
import pytest


def cube(lib):
    return lib.arange(24.0).view(2, 3, 4)


@pytest.mark.filterwarnings("ignore:Using a non-tuple sequence")
def test_a_list_of_more_than_numbers_counts_as_a_tuple(lib):
    x = cube(lib)
    assert x[[[0, 1], [1, 0]]].equal(x[[0, 1], [1, 0]]) and x[[(0, 1), (1, 0)]].shape == (2, 4)
    assert x[[slice(None), 0]].equal(x[:, 0]) and x[[0, None]].shape == (1, 3, 4) and x[[0, ...]].equal(x[0])
    assert x[[None]].shape == (1, 2, 3, 4) and x[[[0, 1]]].shape == (2, 3, 4) and x[[[[0, 1]]]].shape == (1, 2, 3, 4)
    assert x[[lib.tensor([0, 1]), lib.tensor([1, 0])]].shape == (2, 4) and x[
        [np.array([0, 1]), np.array([1, 0])]
    ].shape == (2, 4)
    assert x[[range(2), range(2)]].shape == (2, 4) and x[[True, [0]]].shape == (1, 3, 4)
    with pytest.raises(IndexError, match="too many indices"):
        x[[[0, 1], [1, 0], 0, 0]]


def test_numpys_rule_for_lists_is_deprecated(lib):
    with pytest.warns(UserWarning, match="non-tuple sequence"):
        cube(lib)[[[0, 1], [1, 0]]]


def test_sequences_of_numbers_are_one_index(lib):
    x = cube(lib)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert x[[0, 1]].shape == (2, 3, 4) and x[range(2)].shape == (2, 3, 4) and x[range(2), 0].shape == (2, 4)
        assert (
            x[[True, False]].shape == (1, 3, 4)
            and x[[]].shape == (0, 3, 4)
            and x[[np.int64(0), np.int64(1)]].shape == (2, 3, 4)
        )
        assert x[np.array([[0, 1], [1, 0]])].shape == (2, 2, 3, 4) and x[[[0, 1]],].shape == (1, 2, 3, 4)
        assert lib.arange(40.0)[[[0]] * 33].shape == (33, 1) and lib.arange(4.0)[[1.0, 2.5]].tolist() == [1, 2]
    with pytest.raises(IndexError):
        lib.arange(40.0)[[[0]] * 31]


@pytest.mark.filterwarnings("ignore:Using a non-tuple sequence")
def test_assignment_by_a_list_of_lists_writes_those_elements(lib):
    x = lib.zeros(2, 2)
    x[[[0, 1], [1, 0]]] = lib.tensor([8.0, 9.0])
    assert x.tolist() == [[0, 8], [9, 0]]
    x[[0, slice(None)]] = 7
    assert x.tolist() == [[7, 7], [9, 0]]
    x[range(2), range(2)] = 1
    assert x.tolist() == [[1, 7], [9, 1]]


def test_masks_of_bytes_are_deprecated(lib):
    x = lib.arange(4.0)
    for mask in (lib.tensor([1, 0, 1, 0], dtype=lib.uint8), np.array([1, 0, 1, 0], dtype=np.uint8)):
        with pytest.warns(UserWarning, match="uint8 is now deprecated"):
            assert x[mask].tolist() == [0, 2]


def test_elements_of_the_tensor_itself_are_assigned(lib):
    x = lib.arange(12.0).view(3, 4)
    x[1] = x[1][0]
    assert x[1].tolist() == [4] * 4
    x[2] = x[2][1:2]
    assert x[2].tolist() == [9] * 4
    x[:] = x[2]
    assert x.tolist() == [[9] * 4] * 3
    x[x > 5] = x[1, 1]
    assert x.tolist() == [[9] * 4] * 3
    with pytest.raises(RuntimeError, match="single memory location"):
        x[1:] = x[:-1]


def test_the_gradient_of_an_element_assigned_to_its_row(lib):
    leaf = lib.arange(4.0, requires_grad=True)
    x = leaf.clone()
    x[:] = x[2]
    x.sum().backward()
    assert leaf.grad.tolist() == [0, 0, 4, 0]
