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


@pytest.mark.parametrize(
    "wrong", [{"precision": -1}, {"precision": 10**9}, {"edgeitems": 1.5}, {"profile": "long"}, {"linewidth": -80}]
)
def test_mistakes_change_nothing(wrong):
    with pytest.raises(ValueError, match="set_printoptions"):
        tenon.set_printoptions(threshold=1, **wrong)
    assert tenon.get_printoptions()["threshold"] == 1000 and repr(tenon.arange(3)) == "tensor([0, 1, 2])"


# Parameters, subclasses, lists of parameters


def test_subclasses_show_their_values_under_their_name(lib):
    class Mine(lib.Tensor):
        pass

    class LongNamedTensor(lib.Tensor):
        pass

    x = lib.ones(2, 3).as_subclass(Mine)
    assert repr(x) == str(x) == f"{x}" == "Mine([[1., 1., 1.],\n      [1., 1., 1.]])"
    assert str([x[0]]) == "[Mine([1., 1., 1.])]" and str({"a": x[0]}) == "{'a': Mine([1., 1., 1.])}"
    assert (
        repr(lib.arange(6).view(2, 3).as_subclass(LongNamedTensor))
        == "LongNamedTensor([[0, 1, 2],\n                 [3, 4, 5]])"
    )
    assert repr(Mine([1.0]).requires_grad_()) == "Mine([1.], requires_grad=True)"
    assert repr(lib.ones(1)) == "tensor([1.])" and "__repr__" in vars(lib.Tensor)


def test_subclasses_may_print_themselves(lib):
    class Named(lib.Tensor):
        def __repr__(self):
            return "it is " + super().__repr__()

    seen = []

    class Watching(lib.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append(func.__name__)
            return super().__torch_function__(func, types, args, kwargs or {})

    assert repr(Named([1.0])) == str(Named([1.0])) == "it is Named([1.])"
    assert repr(Watching([1.0])) == "Watching([1.])" and seen == ["__repr__"]
    assert lib.Tensor.__repr__(lib.ones(1)) == "tensor([1.])"


def test_parameters_show_their_values(lib):
    class Mine(lib.nn.Parameter):
        pass

    p = lib.nn.Parameter(lib.ones(2))
    assert repr(p) == str(p) == f"{p}" == "Parameter containing:\ntensor([1., 1.], requires_grad=True)"
    assert str([p]) == f"[{p}]"
    assert repr(lib.nn.Parameter(lib.ones(1), requires_grad=False)) == "Parameter containing:\ntensor([1.])"
    assert repr(Mine(lib.ones(1))) == "Parameter containing:\nParameter(Mine([1.], requires_grad=True))"
    assert repr(lib.nn.Buffer(lib.ones(1))) == "tensor([1.])"
    linear = lib.nn.Linear(1, 1)
    assert (
        repr(linear.weight).startswith("Parameter containing:\ntensor([[")
        and repr(linear) == "Linear(in_features=1, out_features=1, bias=True)"
    )


def test_lists_of_parameters_show_what_is_in_them(lib):
    name, nn = lib.__name__, lib.nn
    assert repr(nn.ParameterList([lib.ones(2), lib.ones(2, 3, dtype=lib.float64)])) == (
        f"ParameterList(\n    (0): Parameter containing: [{name}.float32 of size 2]\n"
        f"    (1): Parameter containing: [{name}.float64 of size 2x3]\n)"
    )
    assert (
        repr(nn.ParameterList([lib.ones(())]))
        == f"ParameterList(  (0): Parameter containing: [{name}.float32 of size ])"
    )
    assert repr(nn.ParameterDict({"a": lib.ones(2), "b": lib.ones(2, 3, dtype=lib.float64)})) == (
        f"ParameterDict(\n    (a): Parameter containing: [{name}.FloatTensor of size 2]\n"
        f"    (b): Parameter containing: [{name}.DoubleTensor of size 2x3]\n)"
    )
    assert repr(nn.ParameterList()) == "ParameterList()" and repr(nn.ParameterDict()) == "ParameterDict()"
