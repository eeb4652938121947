"""Layers that take the number of their features from their first input, hooks of all modules, autocast in functions of one's own."""

import copy

import pytest
import tenon


def _net(lib):
    nn = lib.nn
    return nn.Sequential(
        nn.LazyConv2d(4, 3, padding=1), nn.LazyBatchNorm2d(), nn.ReLU(), nn.Flatten(), nn.LazyLinear(3)
    )


def test_the_first_input_gives_the_features(lib):
    lib.manual_seed(0)
    net = _net(lib)
    with pytest.raises(RuntimeError, match="Can't access the shape of an uninitialized parameter"):
        print(net[0].weight.shape)
    assert lib.nn.parameter.is_lazy(net[4].weight) and isinstance(net[4].weight, lib.nn.Parameter)
    x = lib.arange(150.0).view(2, 3, 5, 5) / 100
    y = net(x)
    assert [type(layer).__name__ for layer in net] == ["Conv2d", "BatchNorm2d", "ReLU", "Flatten", "Linear"]
    assert net[4].weight.shape == (3, 100) and net[0].in_channels == 3 and net[1].running_mean.shape == (4,)
    # The draws are those of layers that know their features at once.
    lib.manual_seed(0)
    nn = lib.nn
    known = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(100, 3))
    assert lib.equal(known(x), y)


def test_a_state_dict_gives_them_too(lib):
    net = _net(lib)
    net(lib.ones(2, 3, 5, 5))
    other = _net(lib)
    assert list(other.state_dict()) == list(net.state_dict())
    other.load_state_dict(net.state_dict())
    assert lib.equal(other[4].weight, net[4].weight) and type(other[4]).__name__ == "LazyLinear"
    assert lib.equal(net.eval()(lib.ones(1, 3, 5, 5)), other.eval()(lib.ones(1, 3, 5, 5)))
    assert type(other[4]).__name__ == "Linear"


def test_other_lazy_layers(lib):
    assert lib.nn.LazyConvTranspose1d(2, 3, groups=2)(lib.ones(1, 4, 5)).shape == (1, 2, 7)
    assert lib.nn.LazyConv1d(2, 3, bias=False)(lib.ones(4, 5)).shape == (2, 3)
    assert lib.nn.LazyInstanceNorm1d(affine=True)(lib.ones(2, 3, 4)).shape == (2, 3, 4)
    assert copy.deepcopy(lib.nn.LazyLinear(3))(lib.ones(1, 2)).shape == (1, 3)
    with pytest.raises(RuntimeError, match=r"Expected 3D \(unbatched\) or 4D \(batched\) input to LazyConv2d"):
        lib.nn.LazyConv2d(2, 3)(lib.ones(2, 2))


def test_hooks_of_all_modules(lib):
    hooks = lib.nn.modules.module
    net, seen = lib.nn.Sequential(lib.nn.Linear(2, 2), lib.nn.Tanh()), []
    handles = [
        hooks.register_module_forward_pre_hook(lambda m, i: seen.append(("before", type(m).__name__))),
        hooks.register_module_forward_hook(lambda m, i, o: seen.append(("after", type(m).__name__))),
        hooks.register_module_full_backward_hook(lambda m, gi, go: seen.append(("back", type(m).__name__))),
    ]
    net(lib.ones(1, 2, requires_grad=True)).sum().backward()
    for handle in handles:
        handle.remove()
    net(lib.ones(1, 2))
    assert seen == [
        ("before", "Sequential"), ("before", "Linear"), ("after", "Linear"), ("before", "Tanh"), ("after", "Tanh"),
        ("after", "Sequential"), ("back", "Tanh"), ("back", "Linear"), ("back", "Sequential"),
    ]  # fmt: skip


def test_functions_cast_their_inputs_under_autocast(lib):
    class Double(lib.autograd.Function):
        @staticmethod
        @lib.amp.custom_fwd(device_type="cpu", cast_inputs=lib.float32)
        def forward(ctx, x):
            ctx.autocast = lib.is_autocast_enabled("cpu")
            return x * 2

        @staticmethod
        @lib.amp.custom_bwd(device_type="cpu")
        def backward(ctx, grad):
            assert not ctx.autocast and not lib.is_autocast_enabled("cpu")
            return grad * 2

    x = lib.ones(2, dtype=lib.bfloat16, requires_grad=True)
    with lib.autocast("cpu"):
        y = Double.apply(x)
    assert y.dtype == lib.float32 and Double.apply(x).dtype == lib.bfloat16
    y.sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_a_module_on_one_device(lib):
    inner = lib.nn.Linear(3, 2)
    model = lib.nn.DataParallel(inner)
    assert lib.equal(model(lib.ones(4, 3)), inner(lib.ones(4, 3))) and list(model.state_dict()) == [
        "module.weight",
        "module.bias",
    ]
    assert model.device_ids == [] if not tenon.cuda.is_available() else model.device_ids
