"""Modules of one's own: tenon.nn.load_modules()."""

import pathlib
import pickle

import pytest
import tenon
from tenon import nn

MINE = pathlib.Path(__file__).parents[1] / "modules" / "mine.yaml"
OPERATOR = """
- func: of_modules::twice(Tensor self) -> Tensor
  pointwise: self * 2
"""
CALLS_IT = """
layers:
# Twice its input, through an operator of one's own.
- module: Twice()
  forward(Tensor input): of_modules::twice(input)
"""


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TENON_CACHE_DIR", str(tmp_path / "cache"))


def test_classes_are_modules():
    mine = nn.load_modules(MINE)
    layer = mine.ScaledLinear(3, 2)
    assert repr(layer) == "ScaledLinear(in_features=3, out_features=2, bias=True)"
    assert list(layer.state_dict()) == ["weight", "scale", "bias"]
    x = tenon.randn(4, 3)
    assert tenon.equal(layer(x), nn.functional.linear(x, layer.weight, layer.bias) * layer.scale)
    assert mine.ScaledLinear(3, 2, bias=False).bias is None
    assert mine.ScaledLinear.__doc__ == "x W^T, scaled by a learned number for each output."
    assert tenon.equal(mine.Swish(2.0)(x), x * tenon.sigmoid(x * 2)) and tenon.equal(
        mine.swish(x), x * tenon.sigmoid(x)
    )
    again = pickle.loads(pickle.dumps(layer))
    assert tenon.equal(again(x), layer(x))
    with pytest.raises(ValueError, match="expected in_features > 0, got 0"):
        mine.ScaledLinear(0, 2)


def test_modules_of_modules():
    mine = nn.load_modules(MINE)
    mlp = mine.GatedMLP(4, 6, p=0.5, dtype=tenon.float64)
    assert list(mlp.state_dict()) == ["gate.weight", "up.weight", "down.weight", "down.bias"]
    assert mlp.gate.weight.dtype == tenon.float64 and isinstance(mlp.drop, nn.Dropout) and mlp.drop.p == 0.5
    assert repr(mlp).splitlines()[1] == "  (gate): Linear(in_features=4, out_features=6, bias=False)"
    x = tenon.randn(3, 4, dtype=tenon.float64)
    expected = mlp.down(nn.functional.silu(mlp.gate(x)) * mlp.up(x))
    assert tenon.equal(mlp.eval()(x), expected)
    assert tenon.equal(pickle.loads(pickle.dumps(mlp))(x), expected)
    block = mine.Block(4, 6).eval()
    assert isinstance(block.mlp, mine.GatedMLP) and block.norm.eps == 1e-3
    assert block.mix.padding_mode == "reflect" and block(tenon.randn(2, 5, 4)).shape == (2, 5, 4)


def test_division_of_integers_drops_the_fraction():
    gated = nn.load_modules(MINE).SqueezeExcite(8, 3)
    assert gated.squeeze.out_features == 2
    x = tenon.randn(2, 8, 3, 3)
    gate = tenon.sigmoid(gated.excite(tenon.relu(gated.squeeze(x.mean((-2, -1))))))
    assert tenon.equal(gated(x), x * gate[:, :, None, None])
    with pytest.raises(RuntimeError, match=r"expected \[N, C, H, W\], got 1 dimensions"):
        gated(tenon.ones(8))


def test_forward_writes_buffers():
    centered = nn.load_modules(MINE).Centered(2)
    x = tenon.full((4, 2), 3.0, requires_grad=True)
    assert tenon.allclose(centered(x), tenon.full((4, 2), 2.7))
    assert tenon.allclose(centered.mean, tenon.full((2,), 0.3)) and not centered.mean.requires_grad
    assert centered.count.item() == 1 and centered.count.dtype == tenon.int64
    centered.eval()(x)
    assert centered.count.item() == 1


def test_they_call_operators_of_their_own(tmp_path):
    (tmp_path / "ops.yaml").write_text(OPERATOR)
    (tmp_path / "calls.yaml").write_text(CALLS_IT)
    tenon.load_operators(tmp_path / "ops.yaml")
    made = nn.load_modules(tmp_path / "calls.yaml", operators=[tmp_path / "ops.yaml"])
    assert made.Twice()(tenon.ones(2)).tolist() == [2, 2]


@pytest.mark.parametrize(
    "text, message",
    [
        ("layers:\n- module: A(int n)\n  call: relu\n", "1:9: error|unknown key `call`; did you mean 'calls'"),
        ("layers:\n- module: A()\n  calls: rellu\n", "calls `rellu`, which no entry declares"),
        (
            "layers:\n- module: A()\n  forward(Tensor input): reluu(input)\n",
            "`reluu` is neither an operator, a function",
        ),
        (
            "layers:\n- module: A(int n)\n  forward(Tensor input): input * m\n",
            "`m` is no argument, parameter or buffer",
        ),
        ("layers:\n- module: A(int n)\n", "needs `calls` or `forward"),
        ("layers:\n- module: A(int n)\n  calls: relu\n  repr: m\n", "names `m`, which is no argument"),
        ("layers:\n- module: A(int n\n  calls: relu\n", "error"),
        ("- module: A()\n", "must be a map of families"),
        (
            "layers:\n- module: A(int n)\n  modules: {f: Linaer(n, n)}\n  forward(Tensor x): f(x)\n",
            "3:16: error|`Linaer` is no module that an entry declares; did you mean 'Linear'",
        ),
        (
            "layers:\n- module: A(int n)\n  modules:\n    f: Linear(n, n, bia=false)\n  forward(Tensor x): f(x)\n",
            "`Linear` has no argument `bia`; did you mean 'bias'",
        ),
        (
            "layers:\n- module: A(int n)\n  modules:\n    f: Linear(n)\n  forward(Tensor x): f(x)\n",
            "`Linear` needs its argument `out_features`",
        ),
        (
            "layers:\n- module: A(int n)\n  modules:\n    f: A(n)\n  forward(Tensor x): f(x)\n",
            "`A` has itself as a submodule",
        ),
        (
            "layers:\n- module: A(int n)\n  modules:\n    f: Linear(n, n)\n  forward(Tensor x): g(x)\n",
            "`g` is neither an operator, a function of nn.functional nor a submodule",
        ),
        (
            "layers:\n- module: A(int n)\n  parameters: {train: {size: n}}\n  forward(Tensor x): x\n",
            "every module has a member `train`",
        ),
        (
            "layers:\n- module: A(int n)\n  parameters: {w: {size: n}}\n  forward(Tensor x): w = x; x\n",
            "`w` cannot be assigned",
        ),
        ("", "no families|must be a map"),
    ],
)
def test_mistakes_are_named(tmp_path, text, message):
    (tmp_path / "wrong.yaml").write_text(text)
    with pytest.raises(ValueError, match=message):
        nn.load_modules(tmp_path / "wrong.yaml")


def test_there_must_be_a_file():
    with pytest.raises(FileNotFoundError, match="there is no file nowhere.yaml"):
        nn.load_modules("nowhere.yaml")
