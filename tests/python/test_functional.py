"""Functions that do more than one operator's work, and dtypes that are stored only."""

import warnings

import pytest
import tenon
from tenon.nn import functional as F


def test_nonzero_gives_places_or_one_tensor_per_dimension():
    x = tenon.tensor([[0, 3, 0], [5, 0, 7]])
    assert tenon.nonzero(x).tolist() == [[0, 1], [1, 0], [1, 2]]
    rows, columns = x.nonzero(as_tuple=True)
    assert (rows.tolist(), columns.tolist()) == ([0, 1, 1], [1, 0, 2])
    assert [t.tolist() for t in tenon.nonzero(tenon.tensor(2.0), as_tuple=True)] == [[0]]
    with pytest.raises(RuntimeError, match="does not support the out kwarg when as_tuple"):
        tenon.nonzero(x, as_tuple=True, out=tenon.empty(0, dtype=tenon.int64))


def test_norms_by_order_name_and_dimension():
    x = tenon.tensor([[3.0, 4.0], [6.0, 8.0]])
    assert x.norm(dim=1).tolist() == [5.0, 10.0]
    assert tenon.norm(x, 1, 0, keepdim=True).tolist() == [[9.0, 12.0]]
    assert tenon.norm(x, "fro", dtype=None).item() == pytest.approx(125**0.5)
    assert tenon.linalg.vector_norm(x, float("inf"), dtype=tenon.float64).item() == 8.0
    assert tenon.norm(tenon.tensor([3 + 4j])).item() == 5.0
    assert x.norm("nuc").item() == pytest.approx(125**0.5)  # of rank 1
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
@pytest.mark.parametrize(
    "name, largest, beyond",
    [
        ("float8_e5m2", 57344.0, float("inf")),
        ("float8_e4m3fn", 448.0, 448.0),
        ("float8_e5m2fnuz", 57344.0, None),
        ("float8_e4m3fnuz", 240.0, None),
    ],
)
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
    with pytest.raises(RuntimeError, match="without overflow"):
        tenon.full((), 65536, dtype=tenon.uint16)


def test_batch_norm_of_nothing():
    empty = tenon.empty(0)
    assert F.batch_norm(empty, empty, empty, training=True).shape == (0,)


def test_bytes_are_seen_as_another_dtype():
    x = tenon.tensor([[1.0, 2.0], [-3.0, 0.5]])
    bits = x.view(tenon.int32)
    assert bits.tolist() == [[0x3F800000, 0x40000000], [-0x3FC00000, 0x3F000000]] and bits.data_ptr() == x.data_ptr()
    bits[0, 0] = 0x40400000
    assert x[0, 0].item() == 3 and x._version == 1
    assert x.view(tenon.complex64).tolist() == [[3 + 2j], [-3 + 0.5j]]
    assert x.view(dtype=tenon.uint8).shape == (2, 8) and x.view(tenon.float64).shape == (2, 1)
    assert x[1:].view(tenon.complex64).storage_offset() == 1
    assert not tenon.ones(2, requires_grad=True).exp().view(tenon.int32).requires_grad
    for call, text in [
        (lambda: tenon.ones(()).view(tenon.int16), r"self.dim\(\) cannot be 0 to view Float as Short"),
        (lambda: tenon.ones(3).view(tenon.float64), r"self.size\(-1\) must be divisible by 2 to view Float as Double"),
        (lambda: tenon.ones(2, 2).t().view(tenon.int16), r"self.stride\(-1\) must be 1 to view Float as Short"),
        (lambda: tenon.ones(2, 3)[:, :2].view(tenon.float64), r"self.stride\(0\) must be divisible by 2"),
        (lambda: tenon.ones(4)[1:3].view(tenon.float64), r"self.storage_offset\(\) must be divisible by 2"),
    ]:
        with pytest.raises(RuntimeError, match=text):
            call()


def test_numbers_stand_for_tensors_in_every_form():
    x = tenon.tensor([1.0, -2.0])
    assert x.copysign(-1).tolist() == [-1, -2] and x.clone().copysign_(-1).tolist() == [-1, -2]
    assert tenon.xlogy(x, 1).tolist() == [0, 0] and tenon.xlogy(2, tenon.ones(1)).tolist() == [0]
    assert x.clone().xlogy_(1).tolist() == [0, 0] and tenon.special.xlog1py(x, 0).tolist() == [0, 0]
    assert x.where(x > 0, 5).tolist() == [1, 5]
    assert x.max(tenon.zeros(2)).tolist() == [1, 0] and x.min(tenon.zeros(2)).tolist() == [0, -2]
    assert x.max(0).indices.item() == 0
    assert tenon.arange(5).narrow(0, tenon.tensor(2), 2).tolist() == [2, 3]


def test_out_has_the_dtype_that_a_factory_is_asked_for():
    out = tenon.empty(2, 2)
    assert (
        tenon.eye(2, dtype=tenon.float32, device="cpu", requires_grad=False, out=out) is out and not out.requires_grad
    )
    assert tenon.zeros(2, out=tenon.empty(0), requires_grad=True).requires_grad
    with pytest.raises(RuntimeError, match=r"dtype Double does not match dtype of out parameter \(Float\)"):
        tenon.eye(2, dtype=tenon.float64, out=out)


def test_out_of_another_dtype_is_taken_only_where_results_are_cast():
    x, index = tenon.ones(2, 2), tenon.zeros(2, 2, dtype=tenon.int64)
    for call in (
        lambda out: tenon.gather(x, 0, index, out=out),
        lambda out: tenon.mm(x, x, out=out),
        lambda out: tenon.tril(x, out=out),
        lambda out: tenon.index_select(x, 0, index[0], out=out),
    ):
        with pytest.raises(RuntimeError, match="Expected out tensor to have dtype float, but got double instead"):
            call(tenon.empty(2, 2, dtype=tenon.float64))
    with pytest.raises(RuntimeError, match="Expected the dtype for input and out to match, but got Float for input's"):
        tenon.amax(x, 0, out=tenon.empty(2, dtype=tenon.float64))
    assert tenon.sum(x, 0, out=tenon.empty(2, dtype=tenon.float64)).tolist() == [2, 2]
    assert tenon.cat([x, x], out=tenon.empty(4, 2, dtype=tenon.float64)).dtype is tenon.float64
    for call in (
        lambda: tenon.gather(x, 0, index, out=x),
        lambda: tenon.cat([x[:1], x[1:]], out=x),
        lambda: tenon.index_select(x, 0, index[0], out=tenon.ones(1).expand(2, 2)),
    ):
        with pytest.raises(RuntimeError, match="refer(s)? to a single memory location"):
            call()
    parts = tenon.arange(6.0)
    assert tenon.cat([parts[:2], parts[:1]], out=parts[3:]).tolist() == [0, 1, 0]  # of the same storage, and apart


def test_dropout_of_features_needs_them_only_where_it_drops(lib):
    drop = lib.nn.functional.feature_alpha_dropout
    for size in ((5,), ()):
        x = lib.ones(size)
        for p, training in ((0.5, False), (0.0, True)):
            assert drop(x, p, training).tolist() == x.tolist()
        assert drop(x, 1.0, True).sum() == 0
        with pytest.raises(RuntimeError, match="at least 2 dimensions"):
            drop(x, 0.5, True)


@pytest.mark.parametrize("loss", ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"])
def test_losses_warn_of_broadcasting(lib, loss):
    with pytest.warns(UserWarning, match="different to the input size"):
        getattr(lib.nn.functional, loss)(lib.ones(2, 3), lib.ones(2, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        getattr(lib.nn.functional, loss)(lib.ones(2, 3), lib.zeros(2, 3))


def test_kl_div_warns_of_the_mean(lib):
    with pytest.warns(UserWarning, match="'batchmean' divides only by"):
        lib.nn.functional.kl_div(lib.ones(2, 3), lib.ones(2, 3))


def test_transposing_other_than_matrices_is_deprecated():
    import tenon

    with pytest.warns(UserWarning, match="dimension other than 2"):
        assert tenon.ones(2, 3, 4).T.shape == (4, 3, 2)


def test_gradient_of_values_on_a_grid():
    places = tenon.tensor([0.0, 1.0, 3.0, 4.0, 6.0], dtype=tenon.float64)
    square = places**2
    # A parabola's derivative is exact by differences of second order, also with steps of different lengths.
    (found,) = tenon.gradient(square, spacing=(places,), edge_order=2)
    assert found.tolist() == pytest.approx((2 * places).tolist())
    rows, columns = tenon.gradient(square.reshape(1, 5) + tenon.tensor([[0.0], [3.0]]), spacing=(2.0, 1.0))
    assert rows.tolist() == [[1.5] * 5] * 2 and columns[0].tolist() == pytest.approx([1, 4.5, 7.5, 13.5, 20])
    assert tenon.gradient(tenon.tensor([1, 4, 9]))[0].tolist() == [3.0, 4.0, 5.0]
    for arguments in ({"edge_order": 3}, {"spacing": (1.0, 1.0)}, {"dim": (0, 0)}):
        with pytest.raises(RuntimeError):
            tenon.gradient(square, **arguments)


def test_unravel_index_is_the_way_back_from_places():
    shape = (2, 3, 4)
    places = tenon.arange(24)
    assert tenon.unravel_index(places, shape)[1].dtype == tenon.int64
    i, j, k = tenon.unravel_index(places.to(tenon.int16), shape)
    assert tenon.equal((i * 3 + j) * 4 + k, places)
    with pytest.raises(TypeError):
        tenon.unravel_index(tenon.ones(2), shape)


def test_distances_of_pairs():
    x = tenon.tensor([[0.0, 0.0], [3.0, 4.0], [3.0, 0.0]])
    assert tenon.nn.functional.pdist(x).tolist() == [5.0, 3.0, 4.0]
    assert tenon.nn.functional.pdist(x, 1.0).tolist() == [7.0, 3.0, 4.0]
    loss = tenon.nn.functional.triplet_margin_with_distance_loss

    def manhattan(a, b):
        return (a - b).abs().sum(-1)

    found = loss(x, x + 1, x - 2, distance_function=manhattan, margin=3.0, reduction="none")
    assert found.tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(ValueError, match="margin must be greater than 0"):
        loss(x, x, x, margin=0)
