"""Functions that do more than one operator's work, and dtypes that are stored only."""

import pytest
import tenon
from tenon.nn import functional as F


def test_nonzero_gives_places_or_one_tensor_per_dimension():
    x = tenon.tensor([[0, 3, 0], [5, 0, 7]])
    assert tenon.nonzero(x).tolist() == [[0, 1], [1, 0], [1, 2]]
    rows, columns = x.nonzero(as_tuple=True)
    assert (rows.tolist(), columns.tolist()) == ([0, 1, 1], [1, 0, 2])
    assert [t.tolist() for t in tenon.nonzero(tenon.tensor(2.0), as_tuple=True)] == [[0]]
    with pytest.raises(TypeError, match="as_tuple and out"):
        tenon.nonzero(x, as_tuple=True, out=tenon.empty(0, dtype=tenon.int64))


def test_norms_by_order_name_and_dimension():
    x = tenon.tensor([[3.0, 4.0], [6.0, 8.0]])
    assert x.norm(dim=1).tolist() == [5.0, 10.0]
    assert tenon.norm(x, 1, 0, keepdim=True).tolist() == [[9.0, 12.0]]
    assert tenon.norm(x, "fro", dtype=None).item() == pytest.approx(125**0.5)
    assert tenon.linalg.vector_norm(x, float("inf"), dtype=tenon.float64).item() == 8.0
    assert tenon.norm(tenon.tensor([3 + 4j])).item() == 5.0
    with pytest.raises(NotImplementedError, match="nuclear"):
        x.norm("nuc")
    with pytest.raises(RuntimeError, match="'fro' and 'nuc'"):
        x.norm("spectral")


def test_padding_takes_elements_from_the_border_the_mirror_or_the_other_end():
    x = tenon.arange(4.0).reshape(1, 1, 4)
    assert F.pad(x, (2, 1), mode="reflect").flatten().tolist() == [2, 1, 0, 1, 2, 3, 2]
    assert F.pad(x, (2, 1), mode="replicate").flatten().tolist() == [0, 0, 0, 1, 2, 3, 3]
    assert F.pad(x, (2, 1), mode="circular").flatten().tolist() == [2, 3, 0, 1, 2, 3, 0]
    assert F.pad(x, (-1, 1), value=9).flatten().tolist() == [1, 2, 3, 9]
    y = x.clone().requires_grad_()
    F.pad(y, (2, 0), mode="reflect").sum().backward()
    assert y.grad.flatten().tolist() == [1, 2, 2, 1]


def test_rows_of_an_embedding_are_shrunk_to_the_largest_norm():
    weight = tenon.tensor([[3.0, 4.0], [0.3, 0.4], [30.0, 40.0]])
    found = F.embedding(tenon.tensor([0, 1, 0]), weight, max_norm=1.0)
    assert found[0].tolist() == pytest.approx([0.6, 0.8]) and found[1].tolist() == pytest.approx([0.3, 0.4])
    # In place, and only what was looked up.
    assert weight[0].tolist() == pytest.approx([0.6, 0.8]) and weight[2].tolist() == [30.0, 40.0]


# The formats' own definitions: sign, exponent, fraction, and what the numbers beyond the largest one become.
@pytest.mark.parametrize("name, largest, beyond", [("float8_e5m2", 57344.0, float("inf")), ("float8_e4m3fn", 448.0, 448.0),
                                                   ("float8_e5m2fnuz", 57344.0, None), ("float8_e4m3fnuz", 240.0, None)])
def test_float8_is_filled_with_the_nearest_number(name, largest, beyond):
    dtype = getattr(tenon, name)
    numbers = {1.0: 1.0, -2.5: -2.5, largest: largest, 0.0: 0.0, 1.0625: 1.0, 1e-9: 0.0}
    if "e4m3" in name:
        numbers.update({1.1875: 1.25, 1.125: 1.125})  # a tie goes to the even fraction
    for number, stored in numbers.items():
        assert tenon.full((2,), number, dtype=dtype)[1].item() == stored
    over = tenon.full((), 2 * largest, dtype=dtype).item()
    assert over == beyond if beyond else over != over
    nan = tenon.full((), float("nan"), dtype=dtype).item()
    assert nan != nan
    assert tenon.eye(2, dtype=dtype)[1, 1].item() == 1.0


def test_wide_unsigned_integers_are_filled():
    assert tenon.full((3,), 65535, dtype=tenon.uint16)[2].item() == 65535
    assert tenon.full((), 2**32 - 1, dtype=tenon.uint32).item() == 2**32 - 1
    assert tenon.full((), 2**62, dtype=tenon.uint64).item() == 2**62
    with pytest.raises(ValueError, match="without overflow"):
        tenon.full((), 65536, dtype=tenon.uint16)


def test_batch_norm_of_nothing():
    empty = tenon.empty(0)
    assert F.batch_norm(empty, empty, empty, training=True).shape == (0,)
