"""Calls and attributes of modules: what programs put in the place of Module's own."""

import inspect

import pytest


@pytest.fixture
def layer(lib):
    class Layer(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = lib.nn.Parameter(lib.ones(2))
            self.register_buffer("count", lib.zeros(()))
            self.child = lib.nn.Identity()

        def forward(self, *args, **kwargs):
            return args, kwargs

    return Layer()


def test_arguments_reach_forward(layer):
    assert layer() == ((), {})
    assert layer(1, 2) == ((1, 2), {})
    assert layer(*range(12)) == (tuple(range(12)), {})
    assert layer(1, b=2) == ((1,), {"b": 2})
    assert str(inspect.signature(type(layer).__call__)).startswith("(self, *args")
    layer.forward = lambda x: x + 1
    assert layer(1) == 2


def test_attributes_are_looked_up_in_turn(lib, layer):
    assert layer.weight is layer._parameters["weight"] and layer.count is layer._buffers["count"]
    assert layer.child is layer._modules["child"] and layer.training is True
    assert getattr(layer, "nothing", 5) == 5 and not hasattr(layer, "bias")
    with pytest.raises(AttributeError, match="'Layer' object has no attribute 'bias'"):
        layer.bias  # noqa: B018
    with pytest.raises(AttributeError, match="'Layer' object has no attribute 'bias'"):
        lib.nn.Module.__getattr__(layer, "bias")
    type(layer).weight = property(lambda self: 3)
    assert layer.weight == 3


def test_a_property_without_its_attribute(lib):
    class Lazy(lib.nn.Module):
        @property
        def broken(self):
            return self.missing

        @property
        def wrong(self):
            raise KeyError("wrong")

    with pytest.raises(AttributeError, match="broken"):
        Lazy().broken  # noqa: B018
    with pytest.raises(KeyError, match="wrong"):
        Lazy().wrong  # noqa: B018


def test_classes_with_getattr_of_their_own(lib):
    class Wrapper(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = lib.nn.Linear(2, 3)

        def __getattr__(self, name):
            try:
                return super().__getattr__(name)
            except AttributeError:
                return getattr(self.inner, name)

    class Fallback:
        def __getattr__(self, name):
            return "extra" if name == "extra" else super().__getattr__(name)

    class Mixed(Fallback, lib.nn.Linear):
        pass

    class Below(Wrapper):
        pass

    assert Wrapper().out_features == 3 and Below().out_features == 3
    assert Mixed(2, 3).extra == "extra" and Mixed(2, 3).weight.shape == (3, 2)
    Late = type("Late", (lib.nn.Linear,), {})
    late = Late(2, 3)
    assert late.weight.shape == (3, 2)
    Late.__getattr__ = lambda self, name: name
    assert late.weight == "weight"
    del Late.__getattr__
    assert late.weight.shape == (3, 2)


def test_calls_of_their_own_and_patches(lib, layer, monkeypatch):
    class Loud(lib.nn.Identity):
        def __call__(self, x):
            return super().__call__(x) + 1

    assert Loud()(1) == 2
    calls = []
    original = lib.nn.Module.__call__

    def counted(self, *args, **kwargs):
        calls.append(type(self).__name__)
        return original(self, *args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(lib.nn.Module, "__call__", counted)
        assert layer(1) == ((1,), {}) and lib.nn.Identity()(4) == 4
    assert calls == ["Layer", "Identity"]
    assert layer(1) == ((1,), {}) and len(calls) == 2


def test_hooks_are_seen_at_once(lib, layer):
    seen = []
    handle = layer.register_forward_hook(lambda module, args, output: seen.append(args))
    layer(1, b=2)
    handle.remove()
    layer(2)
    handle = lib.nn.modules.module.register_module_forward_pre_hook(lambda module, args: seen.append("all"))
    layer(3)
    handle.remove()
    layer(4)
    assert seen == [(1,), "all"]
    layer._forward_hooks[0] = lambda module, args, output: "replaced"
    assert layer(5) == "replaced"


def test_a_module_that_was_not_initialised(lib):
    class Hollow(lib.nn.Module):
        def __init__(self):
            pass

        def forward(self):
            return 1

    with pytest.raises(AttributeError, match="'Hollow' object has no attribute '_"):
        Hollow()()
    with pytest.raises(AttributeError, match="no attribute 'weight'"):
        Hollow().weight  # noqa: B018


def test_functions_take_their_arguments_by_place_and_by_name(lib):
    x = lib.tensor([-1.0, 2.0])
    relu = lib.nn.functional.leaky_relu
    assert relu(x, 0.5).tolist() == relu(negative_slope=0.5, input=x).tolist() == [-0.5, 2]
    assert list(inspect.signature(lib.nn.functional.relu).parameters) == ["input", "inplace"]
    with pytest.raises(TypeError, match="unexpected keyword argument 'slope'"):
        relu(x, slope=1)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'input'"):
        lib.nn.functional.relu()
