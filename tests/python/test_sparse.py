"""Sparse tensors: each expression is evaluated with Tenon and with PyTorch, `m`, and must give the same."""

import copy
import io
import pickle
import warnings

import pytest
import tenon

try:
    import torch
except ImportError:
    torch = None
needs_torch = pytest.mark.skipif(
    torch is None, reason="needs PyTorch: ./tenon setup --oracle, and run with build/venv-oracle"
)
pytestmark = pytest.mark.filterwarnings("ignore")


def operands(m, dtype="float64"):
    """Tensors by the names that the expressions have."""
    kind = getattr(m, dtype)
    t = lambda data: m.tensor(data, dtype=kind)  # noqa: E731
    places = m.tensor([[0, 1, 1, 0], [2, 0, 2, 2]])
    s = m.sparse_coo_tensor(places, t([3, 4, 5, 1]), (2, 3))
    k = s.coalesce()
    d = t([[1, 2, 0], [4, 0, 6]])
    hybrid = m.sparse_coo_tensor(m.tensor([[2, 0, 2]]), t([[1, 2], [3, 4], [5, 6]]), (4, 2))
    deep = m.sparse_coo_tensor(m.tensor([[0, 1, 1], [2, 0, 2]]), t([[1, 2], [3, 4], [5, 6]]), (2, 3, 2))
    batch = t([[[1, 0, 2, 0], [0, 3, 0, 0]], [[0, 4, 0, 5], [6, 0, 0, 0]]])
    w = t([[1, 2], [3, 4], [5, 6]])
    return {
        "m": m, "t": t, "places": places, "s": s, "k": k, "d": d, "h": hybrid, "p": deep, "b": batch, "w": w,
        "c": k.to_sparse_csr(), "e": k.to_sparse_csc(), "z": batch[0].to_sparse_bsr((1, 2)),
        "i": m.tensor([2, 0, 2]), "o": m.sparse_coo_tensor((2, 3)).to(kind),
    }  # fmt: skip


VALUES = """
s.coalesce()
s.coalesce().is_coalesced()
s.is_coalesced()
k.indices()
k.values()
s._indices()
s._values()
s._nnz()
(s.sparse_dim(), s.dense_dim(), h.sparse_dim(), h.dense_dim(), d.sparse_dim(), d.dense_dim(), c.sparse_dim())
(s.is_sparse, c.is_sparse, c.is_sparse_csr, d.is_sparse, s.is_sparse_csr)
(s.stride(), s.shape, s.dim(), s.numel(), len(s))
s.to_dense()
h.to_dense()
p.to_dense()
c.to_dense()
e.to_dense()
z.to_dense()
d.to_sparse()
d.to_sparse(1)
d.to_sparse_csr()
d.to_sparse_csc()
b[0].to_sparse_bsr((2, 2))
b[0].to_sparse_bsc((1, 2))
b[0].to_sparse_bsc((2, 2)).to_dense()
d.to_sparse(layout=m.sparse_csr)
m.ones(2, 3, 2).to_sparse(2)
m.ones(2, 3, 2).to_sparse_csr(dense_dim=1)
t([[[1, 0], [0, 2]], [[0, 3], [4, 0]]]).to_sparse_csr()
t([[[1, 0], [0, 2]], [[0, 3], [4, 0]]]).to_sparse_csc().to_dense()
t([[[1, 0], [0, 2]], [[0, 3], [4, 0]]]).to_sparse_bsr((1, 1)).to_dense()
s.to_sparse_csr()
c.to_sparse()
c.to_sparse_csc()
e.to_sparse_csr()
e.to_sparse()
z.to_sparse()
(c.crow_indices(), c.col_indices(), c.values(), e.ccol_indices(), e.row_indices())
m.sparse_coo_tensor(places, t([1, 2, 3, 4]))
m.sparse_coo_tensor([[0, 1], [1, 0]], [1.5, 2.5])
m.sparse_coo_tensor([[0, 1], [1, 0]], [1.5, 2.5], (3, 3), dtype=m.float64)
m.sparse_coo_tensor((2, 0, 3))
m.sparse_coo_tensor(m.zeros(2, 0, dtype=m.int64), m.zeros(0), (3, 3))
m.sparse_coo_tensor(m.zeros(0, 2, dtype=m.int64), m.ones(2))
m.sparse_csr_tensor([0, 1, 2], [1, 0], [5., 6.])
m.sparse_csr_tensor([0, 1, 2], [1, 0], [5., 6.], (2, 3), dtype=m.float64)
m.sparse_csc_tensor([0, 1, 2], [1, 0], [5., 6.])
m.sparse_bsr_tensor([0, 1, 2], [1, 0], [[[1., 2.]], [[3., 4.]]])
m.sparse_bsc_tensor([0, 1, 2], [1, 0], [[[1., 2.]], [[3., 4.]]])
m.sparse_compressed_tensor([0, 1, 2], [1, 0], [5., 6.], layout=m.sparse_csr)
m.sparse_csr_tensor(m.tensor([0, 1], dtype=m.int32), m.tensor([0], dtype=m.int32), m.ones(1)).col_indices().dtype
m.zeros(2, 3, layout=m.sparse_coo)
m.zeros(2, 3, layout=m.sparse_csr)
m.empty(2, 3, layout=m.sparse_coo)
m.zeros_like(s)
m.zeros_like(c)
m.empty_like(s)
m.zeros_like(s, layout=m.strided)
s.new_zeros((2, 2))
s.clone()
c.clone()
s.detach()
s.to(m.float32)
s.float()
c.to(m.float32)
s.to(s.dtype) is s
s + s
k + k
d + s
d + c
c + c
e + e
m.add(d, s, alpha=3)
m.add(s, s, alpha=3)
s - s
d - s
k - k.float()
s * 2
2 * s
s / 2
s // 2
s * d
d * s
s * s
h * h
k * d.sum(0, keepdim=True)
s * t(3)
c * 2
c * d
c * c
-s
s ** 2
abs(s)
m.sin(s)
m.sqrt(s)
m.relu(s)
m.tanh(c)
m.expm1(s)
m.sign(s)
m.isnan(s)
m.floor(s)
s.sin().cos if False else s.square()
s.t()
c.t()
z.t().to_dense()
s.transpose(0, 1)
p.transpose(0, 1)
p.permute(1, 0, 2)
s.unsqueeze(0)
s.unsqueeze(2)
h.unsqueeze(2).to_dense()
s[0]
s[1, 2]
s.select(1, 2)
p.select(2, 1)
c[1]
s.index_select(1, i)
h.index_select(1, m.tensor([1]))
s.narrow_copy(1, 1, 2)
m.cat([s, s])
m.cat([s, k], 1)
m.cat([h, h], 1).to_dense()
m.stack([s, s])
s.mm(w)
d.t().mm(s)
s @ w
s @ t([1, 2, 3])
m.mv(s, t([1, 2, 3]))
s.mm(s.t())
c.mm(w)
c @ c.t().to_sparse_csr()
c @ t([1, 2, 3])
d.t().mm(c)
e.mm(w)
m.addmm(m.ones(2, 2).to(w.dtype), s, w)
m.addmm(m.ones(2, 2).to(w.dtype), s, w, beta=2, alpha=3)
m.addmm(m.ones(2, 2).to(w.dtype), c, w, beta=0.5, alpha=3)
m.bmm(m.stack([s, s]), m.stack([w, w]))
m.sparse.mm(s, w)
m.sparse.mm(s, s.t())
m.sparse.addmm(m.ones(2, 2).to(w.dtype), s, w, beta=2, alpha=3)
m.sparse.sampled_addmm(c, w.t()[:, :2].contiguous(), w.t()[:2].contiguous(), beta=0.5, alpha=2)
m.hspmm(s, w).to_dense()
m.smm(s, w).to_dense()
s.sum()
s.sum(1)
s.sum((0, 1))
s.sum(0, keepdim=True)
c.sum()
c.sum(1, keepdim=True)
c.sum(0, keepdim=True)
s.sum(1, dtype=m.float32)
s.norm()
s.norm(1)
s.any()
m.sparse.sum(s)
m.sparse.sum(s, 1)
m.sparse.sum(s, (0, 1))
m.sparse.sum(p, 2)
m.sparse.sum(p, (0, 2))
m.sparse.sum(s, dtype=m.float32)
m.sparse.softmax(s, 1)
m.sparse.softmax(s, 0)
m.sparse.log_softmax(s, 1)
m.sparse.softmax(h, 0)
m.sparse.softmax(h, 1)
m.sparse.softmax(s, 1, dtype=m.float32)
d.sparse_mask(s)
d.sparse_mask(c)
b[0].sparse_mask(z)
k.sparse_mask(k)
m.sparse.spdiags(t([[1, 2, 3], [4, 5, 6]]), m.tensor([0, -1]), (4, 4))
m.sparse.spdiags(t([[1, 2, 3], [4, 5, 6]]), m.tensor([2, -1]), (2, 3), layout=m.sparse_csr)
d.clone().add_(s)
d.clone().add_(s, alpha=-2)
d.t().clone().t().add_(s)
d.clone().sub_(s)
d.clone().mul_(s)
s.clone().mul_(2)
s.clone().add_(s)
s.clone().neg_()
s.clone().zero_()
k.clone().sin_()
m.zeros_like(s).copy_(s)
c.clone().zero_()
m.sin(s, out=m.zeros_like(s))
s.item() if False else m.sparse_coo_tensor([[0]], [7.], (1,)).item()
bool(m.sparse_coo_tensor([[0]], [7.], (1,)))
[x.to_dense().tolist() for x in s]
s.sparse_resize_((5, 5), 2, 0) if False else s.clone().sparse_resize_((5, 5), 2, 0)
s.clone().sparse_resize_and_clear_((4, 5), 1, 1)
copy.deepcopy(s)
pickle.loads(pickle.dumps(s))
pickle.loads(pickle.dumps(c))
m.sparse.check_sparse_tensor_invariants.is_enabled()
"""

# The classes of errors and the beginnings of their messages.
ERRORS = """
m.sparse_coo_tensor(m.tensor([0, 1]), m.ones(2), (2,), check_invariants=True)
m.sparse_coo_tensor(places, m.ones(2), (2, 3), check_invariants=True)
m.sparse_coo_tensor(places, m.ones(4), (2, 2), check_invariants=True)
m.sparse_coo_tensor(-places, m.ones(4), (2, 3), check_invariants=True)
m.sparse_coo_tensor(-places, m.ones(4))
m.sparse_coo_tensor(places, m.ones(4), (2, 3, 4))
m.sparse_coo_tensor(places, m.ones(4, 2), (2, 3, 4), check_invariants=True)
m.sparse_coo_tensor(places, m.ones(()), (2, 3))
m.sparse_coo_tensor(places, m.ones(4), (2, 3), is_coalesced=True, check_invariants=True)
m.sparse_csr_tensor([1, 1], [0], [1.], check_invariants=True)
m.sparse_csr_tensor([0, 1, 3], [0], [1.], check_invariants=True)
m.sparse_csr_tensor([0, 1], [5], [1.], (1, 2), check_invariants=True)
m.sparse_csr_tensor([0, 1], [0], [1.], (3, 2), check_invariants=True)
m.sparse_csr_tensor([0, 2], [1, 0], [1., 2.], (1, 2), check_invariants=True)
m.sparse_csr_tensor([0, 1], [0], [1., 2.], check_invariants=True)
m.sparse_csr_tensor([0, 2, 1], [0], [1.], check_invariants=True)
m.sparse_csr_tensor([0, 1], [0], [1.], (2,), check_invariants=True)
s.indices()
s.values()
d.values()
d.indices()
d.coalesce()
d.is_coalesced()
c.coalesce()
c.indices()
s.crow_indices()
s.ccol_indices()
c.ccol_indices()
c.row_indices()
d.crow_indices()
s + 1
s + d
s / d
s ** 0
m.zeros(2, 3).copy_(s)
m.cat([s, d])
c.sum(1)
d.to_sparse(5)
d.to_sparse_bsr((2, 2))
t([[[1, 0], [0, 0]], [[1, 1], [0, 0]]]).to_sparse_csr()
m.cos(s)
s.view(6)
s == s
s.max()
m.softmax(s, 1)
s.numpy()
c.numpy()
s.fill_(1)
m.ones_like(s)
"""


def lines(text):
    return [line for line in text.strip().splitlines() if line]


def plain(value):
    """A result as what compares: layout, dtype, shape and numbers."""
    if isinstance(value, (tuple, list)):
        return [plain(v) for v in value]
    name = type(value).__name__
    if name in ("dtype", "layout"):
        return str(value).partition(".")[2]
    if name != "Tensor":
        return list(value) if name == "Size" else value
    layout = str(value.layout).partition(".")[2]
    about = [layout, str(value.dtype).partition(".")[2], list(value.shape)]
    value = value.detach()
    if layout == "strided":
        return [*about, value.tolist()]
    if layout == "sparse_coo":
        k = value.coalesce()
        return [*about, value.sparse_dim(), k.indices().tolist(), k.values().tolist()]
    rows = layout in ("sparse_csr", "sparse_bsr")
    parts = (value.crow_indices(), value.col_indices()) if rows else (value.ccol_indices(), value.row_indices())
    if layout == "sparse_csr" and value.dim() == 2 and value.dense_dim() == 0:
        # PyTorch's products leave the columns of a row in any order.
        return [*about, parts[0].tolist(), value.to_dense().tolist()]
    return [*about, *(part.tolist() for part in parts), value.values().tolist()]


def same(mine, wanted):
    if isinstance(wanted, list):
        return isinstance(mine, list) and len(mine) == len(wanted) and all(map(same, mine, wanted))
    if isinstance(wanted, float):
        return mine == pytest.approx(wanted, rel=1e-6, abs=1e-12)
    return mine == wanted


def run(expression, m, dtype="float64"):
    names = {**operands(m, dtype), "copy": copy, "pickle": pickle}
    return eval(expression, names)


@needs_torch
@pytest.mark.parametrize("expression", lines(VALUES))
def test_values(expression):
    wanted, mine = plain(run(expression, torch)), plain(run(expression, tenon))
    assert same(mine, wanted), f"\n{mine}\n{wanted}"


@needs_torch
@pytest.mark.parametrize("expression", lines(ERRORS))
def test_errors(expression):
    with pytest.raises(Exception) as wanted:  # noqa: PT011  PyTorch's says which
        run(expression, torch)
    with pytest.raises(type(wanted.value)) as mine:
        run(expression, tenon)
    text, other = str(wanted.value).split("\n")[0], str(mine.value)
    for start in ("Could not run", "could not run"):
        if text.startswith(start):
            return
    words = text.replace("Strided", "").split()[:6]
    assert other.replace("Strided", "").split()[:6] == words, f"\n{other}\n{text}"


@needs_torch
@pytest.mark.parametrize(
    "expression", ["s", "k", "h", "c", "e", "z", "o", "s.to(m.float32)", "c.to(m.complex64)", "k.requires_grad_()"]
)
def test_printed(expression):
    assert repr(run(expression, tenon)).replace("tenon.", "torch.") == repr(run(expression, torch))


@pytest.mark.parametrize("dtype", ["float32", "int32", "int64", "bool", "float16", "bfloat16", "complex64"])
@needs_torch
def test_dtypes(dtype):
    for expression in (
        "s.coalesce()",
        "s.to_dense()",
        "c.to_dense()",
        "d + s",
        "s.sum()",
        "d.to_sparse_csc()",
        "s.t()",
    ):
        mine, wanted = plain(run(expression, tenon, dtype)), plain(run(expression, torch, dtype))
        assert same(mine, wanted), f"{expression}\n{mine}\n{wanted}"


# The loss, and the names of what it is differentiated by.
GRADIENTS = """
x: (x.to_dense() * d).sum()
x: m.sparse.sum(x)
x: m.sparse.sum(x, 1).to_dense().pow(2).sum()
x: (m.sparse.sum(x, (0, 1)) ** 2).sum()
x: m.sparse.mm(x, w).pow(2).sum()
x: (x.coalesce().values() ** 2).sum()
x: (m.sparse.softmax(x, 1).to_dense() * d).sum()
x: (m.sparse.log_softmax(x, 0).to_dense() * d).sum()
x: x.t().to_dense().pow(2).sum()
x: (x * 3).to_dense().sum()
x: (x + x).to_dense().pow(2).sum()
x: (-x).to_dense().pow(2).sum()
x: x.sparse_mask(k).to_dense().pow(2).sum()
y: (y.to_sparse().to_dense() * d).sum()
y: (y.to_sparse_csr().to_dense() * d).sum()
y: y.sparse_mask(s).to_dense().pow(2).sum()
y: (s.mm(y.t())).pow(2).sum()
y: m.sparse.mm(s, y.t()).pow(2).sum()
y: (y + s).pow(2).sum()
y: (s * y).to_dense().sum()
y: m.addmm(y[:, :2], s, w).pow(2).sum()
v: m.sparse_coo_tensor(places, v, (2, 3)).to_dense().pow(2).sum()
v: m.sparse.mm(m.sparse_coo_tensor(places, v, (2, 3)), w).pow(2).sum()
v: (m.sparse_coo_tensor(places, v, (2, 3)).coalesce().values() ** 2).sum()
u: m.sparse_csr_tensor(c.crow_indices(), c.col_indices(), u, (2, 3)).to_dense().pow(2).sum()
u: (m.sparse_csr_tensor(c.crow_indices(), c.col_indices(), u, (2, 3)) @ w).pow(2).sum()
y: (y.gather(1, m.tensor([[0, 2], [1, 1]]), sparse_grad=True) ** 2).sum()
y: (m.nn.functional.embedding(m.tensor([1, 0, 1]), y, sparse=True) ** 2).sum()
y: (m.nn.functional.embedding(m.tensor([1, 0, 1]), y, padding_idx=0, sparse=True) ** 2).sum()
y: (m.nn.functional.embedding_bag(m.tensor([[1, 0, 1]]), y, mode="sum", sparse=True) ** 2).sum()
y: (m.nn.functional.embedding(m.tensor([1]), y, sparse=True) ** 2).sum() + (y * d).sum()
y: (y * d).sum() + (m.nn.functional.embedding(m.tensor([1]), y, sparse=True) ** 2).sum()
"""


def gradient(line, m):
    name, _, loss = line.partition(": ")
    names = operands(m)
    starts = {
        "x": names["s"],
        "y": names["t"]([[1, 2, 3], [4, 5, 6]]),
        "v": names["t"]([1, 2, 3, 4]),
        "u": names["t"]([1, 2, 3]),
    }
    leaf = starts[name].clone().detach().requires_grad_()
    eval(loss, {**names, name: leaf}).backward()
    return leaf


@needs_torch
@pytest.mark.parametrize("line", lines(GRADIENTS))
def test_gradients(line):
    mine, wanted = plain(gradient(line, tenon).grad), plain(gradient(line, torch).grad)
    assert same(mine, wanted), f"\n{mine}\n{wanted}"


def test_duplicates_are_added():
    s = tenon.sparse_coo_tensor([[1, 0, 1], [2, 0, 2]], [1.0, 2.0, 4.0], (2, 3))
    c = s.coalesce()
    assert c._nnz() == 2
    assert c.indices().tolist() == [[0, 1], [0, 2]]
    assert c.values().tolist() == [2.0, 5.0]
    assert s.to_dense().tolist() == [[2, 0, 0], [0, 0, 5]]


def test_gradients_add_up():
    weight = tenon.ones(3, 2).requires_grad_()
    look_up = lambda i: tenon.nn.functional.embedding(tenon.tensor(i), weight, sparse=True)  # noqa: E731
    look_up([0, 2]).sum().backward()
    look_up([2]).sum().backward()
    assert weight.grad.is_sparse
    assert weight.grad.to_dense().tolist() == [[1, 1], [0, 0], [2, 2]]
    weight.sum().backward()
    assert weight.grad.layout == tenon.strided
    assert weight.grad.tolist() == [[2, 2], [1, 1], [3, 3]]
    look_up([1]).sum().backward()
    assert weight.grad.tolist() == [[2, 2], [2, 2], [3, 3]]


@needs_torch
@pytest.mark.parametrize(
    "name, options",
    [
        ("SGD", {"lr": 0.1}),
        ("SGD", {"lr": 0.1, "momentum": 0.9}),
        ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
        ("SGD", {"lr": 0.1, "maximize": True}),
        ("Adagrad", {"lr": 0.1, "lr_decay": 0.1}),
        ("SparseAdam", {"lr": 0.1}),
        ("SparseAdam", {"lr": 0.1, "betas": (0.5, 0.7), "maximize": True}),
    ],
)
def test_optimizers(name, options):
    def train(m):
        layer = m.nn.Embedding(5, 3, sparse=True)
        with m.no_grad():
            layer.weight.copy_(m.arange(15.0).reshape(5, 3) / 10)
        optimizer = getattr(m.optim, name)(layer.parameters(), **options)
        for look_up in ([0, 1, 1], [1, 4], [2, 0]):
            optimizer.zero_grad()
            (layer(m.tensor(look_up)) ** 2).sum().backward()
            assert layer.weight.grad.is_sparse
            optimizer.step()
        return layer.weight.detach().tolist()

    assert train(tenon) == [pytest.approx(row, rel=1e-5) for row in train(torch)]


def test_adam_names_sparse_adam():
    layer = tenon.nn.Embedding(3, 2, sparse=True)
    assert repr(layer) == "Embedding(3, 2, sparse=True)"
    layer(tenon.tensor([1])).sum().backward()
    with pytest.raises(RuntimeError, match="please consider SparseAdam instead"):
        tenon.optim.Adam(layer.parameters()).step()


def test_sparse_adam_needs_sparse_gradients():
    p = tenon.ones(2).requires_grad_()
    p.sum().backward()
    with pytest.raises(RuntimeError, match="does not support dense gradients"):
        tenon.optim.SparseAdam([p]).step()


@needs_torch
@pytest.mark.parametrize("expression", ["s", "k", "h", "c", "e", "z"])
def test_files(expression):
    mine, wanted = run(expression, tenon), run(expression, torch)
    written = io.BytesIO()
    torch.save({"x": wanted, "y": [wanted]}, written)
    written.seek(0)
    assert same(plain(tenon.load(written)["x"]), plain(wanted))
    written = io.BytesIO()
    tenon.save({"x": mine, "y": 1}, written)
    written.seek(0)
    read = torch.load(written, weights_only=True)["x"]
    assert same(plain(read), plain(wanted))
    if read.layout == torch.sparse_coo:
        assert read.is_coalesced() == wanted.is_coalesced()


def test_damaged_files_are_errors():
    s = tenon.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (2,))
    s._indices()[0, 1] = 9
    written = io.BytesIO()
    tenon.save(s, written)
    written.seek(0)
    with pytest.raises(RuntimeError, match="size is inconsistent with indices"):
        tenon.load(written)


def test_copies_and_comparison():
    s = tenon.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (3,)).requires_grad_()
    for other in (copy.copy(s), copy.deepcopy(s), pickle.loads(pickle.dumps(s))):
        assert other.requires_grad and other.layout == tenon.sparse_coo
        tenon.testing.assert_close(other.detach(), s.detach())
    with pytest.raises(AssertionError):
        tenon.testing.assert_close(s.detach(), s.detach() * 2)
    with pytest.raises(AssertionError):
        tenon.testing.assert_close(s.detach(), s.detach().to_dense())
    assert s in {s}


def test_gradients_of_selected_rows():
    """PyTorch has no kernel for them."""
    x = tenon.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [3.0, 4.0, 5.0], (2, 3)).requires_grad_()
    (x[1].to_dense() * tenon.tensor([1.0, 2, 3])).sum().backward()
    assert x.grad.to_dense().tolist() == [[0, 0, 0], [1, 0, 3]]
    x.grad = None
    x.select(1, 2).to_dense().pow(2).sum().backward()
    assert x.grad.to_dense().tolist() == [[0, 0, 6], [0, 0, 10]]


def test_no_kernel_is_a_clear_error():
    s = tenon.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (3,))
    for call in (tenon.cos, tenon.cumsum, tenon.sort, tenon.amax):
        with pytest.raises(RuntimeError, match="to_dense"), warnings.catch_warnings():
            call(s, 0) if call is tenon.cumsum else call(s)
