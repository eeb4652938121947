"""set_printoptions(). The expected texts are PyTorch 2.15's."""

import pytest
import tenon
from tenon._tensor_str import printoptions


@pytest.fixture(autouse=True)
def restore():
    yield
    tenon.set_printoptions(profile="default")


def test_options():
    x = tenon.arange(6)
    tenon.set_printoptions(threshold=5, edgeitems=1)
    assert repr(x) == "tensor([0,  ..., 5])"
    tenon.set_printoptions(edgeitems=0)
    assert repr(x.float().view(2, 3)) == "tensor([...], size=(2, 3))"
    tenon.set_printoptions(profile="default", linewidth=20)
    assert repr(x) == "tensor([0, 1, 2, 3,\n        4, 5])"
    tenon.set_printoptions(profile="short")
    assert repr(tenon.tensor([0.5, 2])) == "tensor([0.50, 2.00])"
    tenon.set_printoptions(profile="full")
    assert repr(tenon.zeros(2000)).count("0.") == 2000


def test_scientific_notation():
    tenon.set_printoptions(precision=2, sci_mode=True)
    assert repr(tenon.tensor([1.0, 2.0])) == "tensor([1.00e+00, 2.00e+00])"
    assert repr(tenon.tensor([1.0, float("inf")])) == "tensor([1.00e+00,      inf])"
    assert repr(tenon.zeros(2)) == "tensor([0., 0.])"
    tenon.set_printoptions(sci_mode=False)
    assert repr(tenon.tensor([1e-9, 1e9])) == "tensor([         0.00, 1000000000.00])"
    tenon.set_printoptions()  # as the values need it again
    assert repr(tenon.tensor([1e-9, 1e9])) == "tensor([1.00e-09, 1.00e+09])"


def test_a_block():
    with printoptions(precision=1):
        assert repr(tenon.tensor(0.25)) == "tensor(0.2)"
    assert repr(tenon.tensor(0.25)) == "tensor(0.2500)" and tenon.get_printoptions()["precision"] == 4


@pytest.mark.parametrize("wrong", [{"precision": -1}, {"precision": 10**9}, {"edgeitems": 1.5}, {"profile": "long"}, {"linewidth": -80}])
def test_mistakes_change_nothing(wrong):
    with pytest.raises(ValueError, match="set_printoptions"):
        tenon.set_printoptions(threshold=1, **wrong)
    assert tenon.get_printoptions()["threshold"] == 1000 and repr(tenon.arange(3)) == "tensor([0, 1, 2])"
