"""Reductions by index, segments, histograms, hashes, and draws in place."""

import pytest
import tenon


@pytest.fixture
def threads():
    number = tenon.get_num_threads()
    yield
    tenon.set_num_threads(number)


def test_hash_tensor_is_the_exclusive_or_of_64_bits():
    x = tenon.tensor([[1, 2, 4], [8, 16, 32]])
    assert tenon.hash_tensor(x).dtype == tenon.uint64
    assert x.hash_tensor().view(tenon.int64).item() == 63
    assert x.hash_tensor(1, keepdim=True).view(tenon.int64).tolist() == [[7], [56]]
    assert x.hash_tensor([0]).view(tenon.int64).tolist() == [9, 18, 36]
    for dtype in (tenon.float16, tenon.bfloat16, tenon.float32, tenon.float64):
        one = tenon.tensor([1, 0, 0], dtype=dtype)
        assert one.hash_tensor().view(tenon.float64).item() == 1  # the bits of a double
    out = tenon.empty(0, dtype=tenon.uint64)
    assert tenon.hash_tensor(tenon.tensor([True, True, True]), out=out) is out
    assert out.view(tenon.int64).item() == 1
    with pytest.raises(IndexError, match="non-zero size"):
        tenon.hash_tensor(tenon.ones(2, 0), 1)


def test_hash_tensor_of_many_elements_on_any_number_of_threads(threads):
    x = tenon.arange(1_000_003)
    wanted = 0
    for i in range(len(x)):
        wanted ^= i
    for number in (1, 2):
        tenon.set_num_threads(number)
        assert x.hash_tensor().view(tenon.int64).item() == wanted


@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "amax", "amin"])
@pytest.mark.parametrize("dim", [0, 1])
def test_scatter_reduce_is_the_same_on_any_number_of_threads(reduce, dim, threads):
    x, index, src = tenon.rand(300, 301), tenon.randint(0, 300, (300, 301)), tenon.rand(300, 301)
    results = []
    for number in (1, 2, 3):
        tenon.set_num_threads(number)
        results.append(x.scatter_reduce(dim, index, src, reduce))
    assert all(tenon.equal(results[0], r) for r in results)
    # An index that is expanded is read as it lies.
    row = index[:1] if dim == 1 else index[:, :1]
    by_rows = x.scatter_reduce(dim, row.expand(300, 301), src, reduce)
    assert tenon.equal(by_rows, x.scatter_reduce(dim, row.expand(300, 301).contiguous(), src, reduce))


def test_scatter_reduce_in_place_leaves_the_tensor_alone_after_an_error():
    x = tenon.zeros(3)
    with pytest.raises(RuntimeError, match="index 3 is out of bounds for dimension 0 with size 3"):
        x.scatter_reduce_(0, tenon.tensor([0, 1, 3]), tenon.ones(3), "sum")
    with pytest.raises(IndexError, match="index -1 is out of bounds"):
        x.index_reduce_(0, tenon.tensor([0, -1]), tenon.ones(2), "amax")
    assert x.tolist() == [0, 0, 0]


def test_a_mean_of_more_integers_than_the_dtype_counts():
    index = tenon.zeros(300, dtype=tenon.int64)
    ones = tenon.ones(300, dtype=tenon.uint8)
    assert tenon.zeros(1, dtype=tenon.uint8).scatter_reduce(0, index, ones, "mean").tolist() == [0]
    assert tenon.zeros(1, dtype=tenon.float16).scatter_reduce(
        0, index, tenon.ones(300, dtype=tenon.float16), "mean", include_self=False
    ).tolist() == [1]
    x = tenon.tensor([7, -8]).scatter_reduce(0, tenon.tensor([0, 1]), tenon.tensor([-12, 3]), "mean")
    assert x.tolist() == [-3, -3]  # rounded down


def test_extremes_without_self_give_it_no_share_of_the_gradient():
    x = tenon.tensor([3.0, 1.0], requires_grad=True)
    src = tenon.tensor([3.0, 2.0], requires_grad=True)
    x.scatter_reduce(0, tenon.tensor([0, 0]), src, "amax", include_self=False).sum().backward()
    assert (x.grad.tolist(), src.grad.tolist()) == ([0, 1], [1, 0])


def test_second_gradients_of_products_are_refused_where_they_would_be_wrong():
    x = tenon.tensor([3.0, 2.0], requires_grad=True)
    index = tenon.tensor([0, 0, 1])

    def second(values):
        src = tenon.tensor(values, requires_grad=True)
        y = x.scatter_reduce(0, index, src, "prod").sum()
        (g,) = tenon.autograd.grad(y, src, create_graph=True)
        return [t.tolist() for t in tenon.autograd.grad(g.sum(), [x, src])]

    assert second([0.0, 2.0, 3.0]) == [[2, 1], [3, 3, 0]]
    with pytest.raises(RuntimeError, match="more than one zero"):
        second([0.0, 0.0, 3.0])


def test_histogramdd_takes_edges_numbers_of_bins_or_one_number():
    x = tenon.tensor([[0.0, 0.0], [0.5, 1.0], [1.0, 0.25], [5.0, 0.0]])
    hist, edges = tenon.histogramdd(x, [2, 1], range=[0.0, 1.0, 0.0, 1.0])
    assert hist.tolist() == [[1], [2]]
    assert [e.tolist() for e in edges] == [[0, 0.5, 1], [0, 1]]
    given = [tenon.tensor([0.0, 0.5, 1.0]), tenon.tensor([0.0, 1.0])]
    weighted = tenon.histogramdd(x, given, weight=tenon.tensor([1.0, 2.0, 3.0, 4.0]))
    assert weighted.hist.tolist() == [[1], [5]]
    assert tenon.histogramdd(x, 2).hist.shape == (2, 2)
    with pytest.raises(RuntimeError, match="should have at least 2 dimensions"):
        tenon.histogramdd(tenon.ones(3), 2)


@pytest.mark.parametrize("weighted", [False, True])
def test_histograms_are_the_same_on_any_number_of_threads(weighted, threads):
    x = tenon.rand(100_000)
    weight = tenon.rand(100_000) if weighted else None
    results = []
    for number in (1, 2):
        tenon.set_num_threads(number)
        results.append(x.histogram(50, weight=weight).hist)
    assert tenon.equal(*results)
    if not weighted:
        assert results[0].sum().item() == 100_000
        assert tenon.equal(results[0], x.histc(50))


def test_segments_need_not_cover_the_data_where_that_is_unsafe():
    x = tenon.arange(6.0, requires_grad=True)
    lengths = tenon.tensor([2, 0, 3])
    assert tenon.segment_reduce(x.detach(), "max", lengths=lengths, unsafe=True).tolist() == [1, -tenon.inf, 4]
    y = tenon.segment_reduce(x, "prod", lengths=lengths, unsafe=True, initial=2)
    assert y.tolist() == [0, 2, 48]
    y.sum().backward()
    assert x.grad.tolist() == [2, 0, 24, 16, 12, 0]
    with pytest.raises(RuntimeError, match="Expected all rows of lengths along axis to sum to"):
        tenon.segment_reduce(x, "max", lengths=lengths)
    with pytest.raises(RuntimeError, match="Expected segments within 6 elements, got one of 0 to 9"):
        tenon.segment_reduce(x, "max", lengths=tenon.tensor([9]), unsafe=True)


@pytest.mark.parametrize(
    "draw",
    [
        lambda x: x.uniform_(2, 3),
        lambda x: x.exponential_(),
        lambda x: x.cauchy_(),
        lambda x: x.geometric_(0.5),
        lambda x: x.log_normal_(),
    ],
)
def test_what_is_drawn_in_place_depends_on_nothing(draw):
    x = tenon.ones(20, requires_grad=True)
    y = draw(x * 2)
    assert y.requires_grad
    y.sum().backward()
    assert x.grad.tolist() == [0] * 20
    assert y.unique().numel() > 1
    # The numbers are the generator's, in the order in which the elements lie.
    tenon.manual_seed(5)
    rows = draw(tenon.zeros(4, 5))
    tenon.manual_seed(5)
    columns = draw(tenon.zeros(5, 4).t())
    assert tenon.equal(rows.flatten(), columns.t().flatten())


def test_division_by_a_tensor_under_its_old_name():
    assert tenon.tensor([1, 2, 4]).__rdiv__(2).tolist() == [2, 1, 0.5]
    with pytest.raises(TypeError):
        tenon.Tensor.__rdiv__(2, tenon.ones(3))
