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
            "`reluu` is neither an operator nor a function",
        ),
        (
            "layers:\n- module: A(int n)\n  forward(Tensor input): input * m\n",
            "`m` is no argument, parameter or buffer",
        ),
        ("layers:\n- module: A(int n)\n", "needs `calls` or `forward"),
        ("layers:\n- module: A(int n)\n  calls: relu\n  repr: m\n", "names `m`, which is no argument"),
        ("layers:\n- module: A(int n\n  calls: relu\n", "error"),
        ("- module: A()\n", "must be a map of families"),
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
