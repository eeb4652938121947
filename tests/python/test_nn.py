"""Modules: the tree, hooks, state dicts, and the layers against PyTorch's where it is installed."""

import copy
import pickle
from collections import OrderedDict

import pytest
import tenon
from tenon import nn

try:
    import torch
except ImportError:
    torch = None
needs_torch = pytest.mark.skipif(
    torch is None, reason="needs PyTorch: ./tenon setup --oracle, and run with build/venv-oracle"
)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.ReLU())
        self.scale = nn.Parameter(tenon.ones(3))
        self.register_buffer("seen", tenon.zeros(1), persistent=False)
        self.register_buffer("offset", tenon.zeros(3))

    def forward(self, x):
        return self.layers(x) * self.scale + self.offset


def test_members_have_the_names_of_their_paths():
    net = Net()
    assert [name for name, _ in net.named_parameters()] == [
        "scale",
        "layers.0.weight",
        "layers.0.bias",
        "layers.1.weight",
        "layers.1.bias",
    ]
    assert [name for name, _ in net.named_buffers()] == [
        "seen",
        "offset",
        "layers.1.running_mean",
        "layers.1.running_var",
        "layers.1.num_batches_tracked",
    ]
    assert [name for name, _ in net.named_modules()] == ["", "layers", "layers.0", "layers.1", "layers.2"]
    assert list(net.state_dict()) == [
        "scale",
        "offset",
        "layers.0.weight",
        "layers.0.bias",
        "layers.1.weight",
        "layers.1.bias",
        "layers.1.running_mean",
        "layers.1.running_var",
        "layers.1.num_batches_tracked",
    ]
    assert net.get_submodule("layers.0") is net.layers[0]
    assert net.get_parameter("layers.0.weight") is net.layers[0].weight
    with pytest.raises(AttributeError, match="Sequential has no attribute `nothing`"):
        net.get_submodule("layers.nothing")


def test_assignment_keeps_the_kinds_apart():
    net = Net()
    with pytest.raises(TypeError, match="cannot assign 'Tensor' as parameter 'scale'"):
        net.scale = tenon.ones(3)
    net.offset = tenon.ones(3)
    assert net.state_dict()["offset"].tolist() == [1, 1, 1]
    net.scale = None
    assert "scale" not in net.state_dict() and "scale" in net._parameters
    net.offset = nn.Linear(1, 1)
    assert isinstance(net._modules["offset"], nn.Linear) and "offset" not in net._buffers
    del net.layers
    with pytest.raises(AttributeError, match="'Net' object has no attribute 'layers'"):
        net.layers  # noqa: B018

    class Early(nn.Module):
        def __init__(self):
            self.weight = nn.Parameter(tenon.ones(1))

    with pytest.raises(AttributeError, match="before Module.__init__"):
        Early()


def test_a_parameter_shared_by_two_modules_comes_once():
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    net[1].weight = net[0].weight
    assert len(list(net.parameters())) == 3
    assert len(net.state_dict()) == 4


def test_training_mode_conversion_and_gradients_reach_the_whole_tree():
    net = Net()
    assert net.eval() is net and not any(m.training for m in net.modules())
    net.double()
    assert net.layers[0].weight.dtype == tenon.float64 and net.layers[1].num_batches_tracked.dtype == tenon.int64
    assert isinstance(net.layers[0].weight, nn.Parameter) and net.layers[0].weight.is_leaf
    net.to(tenon.float32).train()
    net(tenon.ones(2, 4)).sum().backward()
    assert all(p.grad is not None for p in net.parameters())
    net.zero_grad()
    assert all(p.grad is None for p in net.parameters())
    net.requires_grad_(False)
    assert not any(p.requires_grad for p in net.parameters())
    with pytest.raises(TypeError, match="floating point or complex"):
        net.to(tenon.int64)
    net.apply(lambda m: setattr(m, "mark", 1))
    assert all(m.mark == 1 for m in net.modules())


def test_forward_hooks_change_arguments_and_results():
    net, calls = nn.Identity(), []
    first = net.register_forward_pre_hook(lambda m, args: (args[0] + 1,))
    net.register_forward_pre_hook(lambda m, args: calls.append("prepended"), prepend=True)
    net.register_forward_hook(lambda m, args, out: out * 10)
    net.register_forward_hook(lambda m, args, kwargs, out: calls.append((args[0].item(), kwargs)), with_kwargs=True)
    assert net(tenon.tensor(1.0)).item() == 20
    assert calls == ["prepended", (2.0, {})]
    first.remove()
    assert net(tenon.tensor(1.0)).item() == 10

    class Fails(nn.Module):
        def forward(self):
            raise ValueError("inside")

    fails, seen = Fails(), []
    fails.register_forward_hook(lambda m, args, out: seen.append(out), always_call=True)
    with pytest.raises(ValueError, match="inside"):
        fails()
    assert seen == [None]


def test_full_backward_hooks_see_and_change_gradients():
    net, seen = nn.Linear(2, 1, bias=False), []
    with tenon.no_grad():
        net.weight.copy_(tenon.tensor([[2.0, 3.0]]))
    net.register_full_backward_pre_hook(lambda m, grad_out: (grad_out[0] * 2,))
    net.register_full_backward_hook(
        lambda m, grad_in, grad_out: seen.append((grad_in[0].tolist(), grad_out[0].tolist()))
    )
    net.register_full_backward_hook(lambda m, grad_in, grad_out: (grad_in[0] + 1,))
    x = tenon.ones(1, 2, requires_grad=True)
    net(x).sum().backward()
    assert seen == [([[4.0, 6.0]], [[2.0]])]
    assert x.grad.tolist() == [[5.0, 7.0]] and net.weight.grad.tolist() == [[2.0, 2.0]]
    del seen[:]
    net = nn.Linear(2, 1)
    net.register_full_backward_hook(lambda m, grad_in, grad_out: seen.append((grad_in, grad_out[0].tolist())))
    with pytest.warns(UserWarning, match="Full backward hook is firing .* since no inputs require gradients"):
        net(tenon.ones(1, 2)).sum().backward()
    assert seen == [((None,), [[1.0]])]


def test_load_state_dict_names_all_that_is_wrong():
    net, state = Net(), Net().state_dict()
    assert repr(net.load_state_dict(state)) == "<All keys matched successfully>"
    assert net.layers[0].weight.tolist() == state["layers.0.weight"].tolist()
    state["layers.0.weight"] = tenon.zeros(3, 5)
    del state["scale"]
    state["layers.9"] = tenon.zeros(1)
    before = net.layers[0].bias.tolist()
    with pytest.raises(RuntimeError) as error:
        net.load_state_dict(state)
    for text in (
        'Missing key(s) in state_dict: "scale"',
        'Unexpected key(s) in state_dict: "layers.9"',
        "size mismatch for layers.0.weight: copying a param with shape tenon.Size([3, 5])",
    ):
        assert text in str(error.value)
    assert net.layers[0].bias.tolist() == before
    del state["layers.0.weight"]
    found = net.load_state_dict(state, strict=False)
    assert found.missing_keys == ["scale", "layers.0.weight"] and found.unexpected_keys == ["layers.9"]


def test_load_state_dict_may_assign():
    net, state = nn.Linear(2, 2), {"weight": tenon.ones(2, 2, dtype=tenon.float64), "bias": tenon.ones(2)}
    net.load_state_dict(state, assign=True)
    assert net.weight.dtype == tenon.float64 and isinstance(net.weight, nn.Parameter)
    assert net.weight.data_ptr() == state["weight"].data_ptr()


def test_state_dict_hooks_and_extra_state():
    class Counted(nn.Module):
        def __init__(self):
            super().__init__()
            self.count = 3

        def get_extra_state(self):
            return {"count": self.count}

        def set_extra_state(self, state):
            self.count = state["count"]

    net = nn.Sequential(Counted())
    net.register_state_dict_post_hook(lambda m, state, prefix, metadata: state.update(more=1) or None)
    net.register_state_dict_pre_hook(lambda m, prefix, keep_vars: setattr(m, "told", prefix))
    state = net.state_dict()
    assert state == {"0._extra_state": {"count": 3}, "more": 1} and net.told == ""
    other = nn.Sequential(Counted())
    other[0].count = 0
    other.register_load_state_dict_pre_hook(lambda m, state, prefix, *rest: state.pop("more"))
    other.register_load_state_dict_post_hook(lambda m, keys: setattr(m, "keys", list(keys)))
    other.load_state_dict(state)
    assert other[0].count == 3 and other.keys == [[], []]


def test_containers():
    layers = nn.ModuleList([nn.Linear(1, 1), nn.ReLU()])
    assert layers.insert(1, nn.Tanh()) is None and layers.append(nn.Sigmoid()) is layers
    assert [type(m).__name__ for m in layers] == ["Linear", "Tanh", "ReLU", "Sigmoid"] and len(layers[1:3]) == 2
    del layers[0]
    assert list(layers._modules) == ["0", "1", "2"] and isinstance(layers[-1], nn.Sigmoid)
    with pytest.raises(IndexError, match="out of range"):
        layers[3]
    named = nn.Sequential(OrderedDict(first=nn.Linear(1, 2), second=nn.ReLU()))
    assert list(named.state_dict()) == ["first.weight", "first.bias"] and isinstance(named[:1].first, nn.Linear)
    table = nn.ModuleDict({"a": nn.Linear(1, 1)})
    table["b"] = nn.ReLU()
    assert list(table) == ["a", "b"] and "a" in table and len(list(table.parameters())) == 2
    values = nn.ParameterList([tenon.ones(1)])
    values.append(tenon.zeros(2))
    assert [p.shape[0] for p in values] == [1, 2] and list(values.state_dict()) == ["0", "1"]
    pairs = nn.ParameterDict({"x": tenon.ones(1)})
    assert list(pairs.state_dict()) == ["x"] and isinstance(pairs["x"], nn.Parameter)


def test_copies_and_pickles_are_modules_of_their_own():
    net = Net()
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert [n for n, _ in other.named_parameters()] == [n for n, _ in net.named_parameters()]
        with tenon.no_grad():
            other.layers[0].weight.zero_()
        assert net.layers[0].weight.abs().sum().item() > 0
        assert isinstance(other.layers[0].weight, nn.Parameter) and other.layers[0].weight.requires_grad


def test_a_tensor_of_one_element_is_loaded_into_one_of_no_dimension(lib):
    norm = lib.nn.BatchNorm1d(2)
    state = norm.state_dict()
    state["num_batches_tracked"] = lib.tensor([5])
    norm.load_state_dict(state)
    assert norm.num_batches_tracked.shape == () and norm.num_batches_tracked.item() == 5


def test_repr():
    assert (
        repr(Net())
        == """Net(
  (layers): Sequential(
    (0): Linear(in_features=4, out_features=3, bias=True)
    (1): BatchNorm1d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
    (2): ReLU()
  )
)"""
    )


def test_clip_grad_norm():
    p = nn.Parameter(tenon.zeros(2))
    p.grad = tenon.tensor([3.0, 4.0])
    assert nn.utils.clip_grad_norm_([p], 1.0).item() == 5
    assert p.grad.norm().item() == pytest.approx(1, rel=1e-5)


# ---- against PyTorch ----

LAYERS = {
    "Linear": ((4, 3), {}, (2, 4)),
    "Conv1d": ((2, 4, 3), {"padding": "same"}, (2, 2, 7)),
    "Conv2d": ((4, 6, 3), {"stride": 2, "padding": 1, "groups": 2, "bias": False}, (2, 4, 7, 7)),
    "BatchNorm1d": ((3,), {}, (4, 3)),
    "BatchNorm2d": ((3,), {"momentum": None}, (2, 3, 4, 4)),
    "LayerNorm": (((3, 4),), {}, (2, 3, 4)),
    "MaxPool2d": ((2,), {"padding": 1}, (1, 2, 5, 5)),
    "AvgPool2d": ((3,), {"stride": 1, "count_include_pad": False, "padding": 1}, (1, 2, 5, 5)),
    "AdaptiveAvgPool2d": (((None, 2),), {}, (1, 2, 6, 4)),
    "MaxPool3d": ((3,), {"stride": 2, "padding": 1, "dilation": (1, 2, 1), "ceil_mode": True}, (1, 2, 5, 6, 4)),
    "AvgPool3d": (
        (3,),
        {"stride": (1, 2, 3), "count_include_pad": False, "padding": 1, "ceil_mode": True},
        (2, 2, 3, 5, 4),
    ),
    "AdaptiveMaxPool1d": ((3,), {}, (2, 2, 7)),
    "AdaptiveMaxPool2d": (((None, 2),), {}, (1, 2, 6, 5)),
    "AdaptiveMaxPool3d": (((2, None, 3),), {}, (2, 2, 3, 2, 5)),
    "Flatten": ((), {}, (2, 3, 4)),
    "Unflatten": ((1, (2, 3)), {}, (2, 6)),
    "Softmax": ((-1,), {}, (2, 3)),
    "LogSoftmax": ((1,), {}, (2, 3)),
    **{
        name: ((), {}, (2, 3))
        for name in (
            "ReLU",
            "ReLU6",
            "SiLU",
            "Mish",
            "SELU",
            "Hardswish",
            "Hardsigmoid",
            "ELU",
            "LeakyReLU",
            "Hardtanh",
            "GELU",
            "Softplus",
            "Sigmoid",
            "Tanh",
            "LogSigmoid",
            "Identity",
        )
    },
}


def of_torch(t):
    return tenon.from_numpy(t.detach().numpy().copy())


def close(ours, theirs):
    return torch.allclose(torch.from_numpy(ours.detach().numpy()), theirs.detach(), rtol=1e-5, atol=1e-6)


@needs_torch
@pytest.mark.parametrize("name", LAYERS)
def test_layers_start_compute_and_learn_as_pytorchs(name):
    args, kwargs, shape = LAYERS[name]
    tenon.manual_seed(7)
    ours = getattr(nn, name)(*args, **kwargs)
    torch.manual_seed(7)
    theirs = getattr(torch.nn, name)(*args, **kwargs)
    assert repr(ours) == repr(theirs)
    for (key, mine), (other_key, other) in zip(ours.state_dict().items(), theirs.state_dict().items(), strict=True):
        assert key == other_key and close(mine, other), key
    their_x = torch.randn(shape, requires_grad=True)
    x = of_torch(their_x).requires_grad_()
    for _ in range(2):
        y, their_y = ours(x), theirs(their_x)
        assert close(y, their_y)
    weight = torch.randn(their_y.shape)
    (y * of_torch(weight)).sum().backward()
    (their_y * weight).sum().backward()
    assert close(x.grad, their_x.grad)
    for mine, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert close(mine.grad, other.grad)
    for mine, other in zip(ours.buffers(), theirs.buffers(), strict=True):
        assert close(mine, other)
    assert close(ours.eval()(x), theirs.eval()(their_x))


@needs_torch
@pytest.mark.parametrize(
    "name, kwargs",
    [
        ("CrossEntropyLoss", {"label_smoothing": 0.1}),
        ("NLLLoss", {"reduction": "sum"}),
        ("NLLLoss", {"ignore_index": 1}),
    ],
)
def test_losses_of_classes(name, kwargs):
    their_x, target = torch.randn(4, 3, requires_grad=True), torch.tensor([0, 1, 2, 1])
    x = of_torch(their_x).requires_grad_()
    loss, theirs = getattr(nn, name)(**kwargs)(x, of_torch(target)), getattr(torch.nn, name)(**kwargs)(their_x, target)
    assert close(loss, theirs)
    loss.backward()
    theirs.backward()
    assert close(x.grad, their_x.grad)


@needs_torch
def test_embedding():
    kwargs = {"padding_idx": 1}
    tenon.manual_seed(3)
    ours = nn.Embedding(5, 3, **kwargs)
    torch.manual_seed(3)
    theirs = torch.nn.Embedding(5, 3, **kwargs)
    index = torch.tensor([[0, 1], [4, 0]])
    y, their_y = ours(of_torch(index)), theirs(index)
    assert close(y, their_y)
    y.sum().backward()
    their_y.sum().backward()
    assert close(ours.weight.grad, theirs.weight.grad)


@needs_torch
def test_state_dicts_are_exchanged_by_files(tmp_path):
    class Theirs(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3), torch.nn.ReLU())
            self.scale = torch.nn.Parameter(torch.ones(3))
            self.register_buffer("offset", torch.zeros(3))

        def forward(self, x):
            return self.layers(x) * self.scale + self.offset

    ours, theirs = Net(), Theirs()
    tenon.save(ours.state_dict(), str(tmp_path / "ours.pt"))
    theirs.load_state_dict(torch.load(tmp_path / "ours.pt"))
    x = torch.randn(5, 4)
    assert close(ours.eval()(of_torch(x)), theirs.eval()(x))
    torch.save(Theirs().state_dict(), tmp_path / "theirs.pt")
    state = tenon.load(str(tmp_path / "theirs.pt"))
    ours.load_state_dict(state)
    theirs.load_state_dict(torch.load(tmp_path / "theirs.pt"))
    assert close(ours(of_torch(x)), theirs(x))


def test_to_with_a_memory_format_converts_images_and_volumes_alone():
    net = nn.Sequential(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.Linear(4, 4), nn.Conv1d(2, 2, 2)).to(
        memory_format=tenon.channels_last
    )
    assert net[0].weight.stride() == (18, 1, 6, 2) and net[0].bias.stride() == (1,) and net[2].weight.stride() == (4, 1)
    net = nn.Conv3d(2, 3, 2).to(tenon.float64, memory_format=tenon.channels_last_3d)
    assert net.weight.stride() == (16, 1, 8, 4, 2) and net.bias.dtype == tenon.float64
    with pytest.raises(RuntimeError, match="required rank 5 tensor to use channels_last_3d format"):
        nn.Conv2d(2, 3, 3).to(memory_format=tenon.channels_last_3d)
    for args, kwargs in (
        (("cpu",), {"copy": True}),
        (("cpu", tenon.float64, True, True), {}),
        ((tenon.float64, False, False), {}),
    ):
        with pytest.raises(RuntimeError, match=r"\.to\(\) does not accept copy argument"):
            nn.Linear(2, 2).to(*args, **kwargs)
    assert nn.Linear(2, 2).to("cpu", tenon.float64, True).weight.dtype == tenon.float64


def test_to_empty():
    net = nn.Sequential(nn.Linear(2, 3, device="meta"), nn.BatchNorm1d(3, device="meta"))
    assert net.to_empty(device="cpu", recurse=False)[0].weight.is_meta
    assert net.to_empty(device="cpu") is net
    assert {t.device.type for t in net.state_dict().values()} == {"cpu"} and net[0].weight.requires_grad
    assert net[0].weight.shape == (3, 2) and net[1].num_batches_tracked.dtype == tenon.int64
    net[0].reset_parameters()
    net(tenon.ones(2, 2)).sum().backward()
    assert net[0].weight.grad.shape == (3, 2)
    net = nn.Linear(2, 3)
    assert net.to("meta").weight.is_meta and net.weight.requires_grad
    with pytest.raises(RuntimeError, match="meta"):
        net.to("cpu")


def test_set_submodule():
    net = nn.Sequential(nn.Linear(1, 1), nn.Sequential(nn.ReLU()))
    net.set_submodule("1.0", nn.Tanh())
    net.set_submodule("1.new", nn.Tanh())
    net.set_submodule("0", nn.ReLU(), strict=True)
    assert [type(m).__name__ for m in net.modules()] == ["Sequential", "ReLU", "Sequential", "Tanh", "Tanh"]
    net.plain = 3
    for error, match, args in (
        (ValueError, "Cannot set the submodule without a target name!", ("", nn.Tanh())),
        (ValueError, "`module` is not an nn.Module, found <class 'int'>", ("1.0", 3)),
        (AttributeError, "Sequential has no attribute `missing`", ("1.missing", nn.Tanh(), True)),
        (AttributeError, "Sequential has no attribute `7`", ("7.0", nn.Tanh())),
        (AttributeError, "`plain` is not an nn.Module", ("plain", nn.Tanh())),
        (AttributeError, "`plain` is not an nn.Module", ("plain.x", nn.Tanh())),
    ):
        with pytest.raises(error, match=match):
            net.set_submodule(*args)


def test_paths_of_parameters_and_buffers():
    layer = nn.Linear(1, 1, bias=False)
    for get, name, match in (
        (layer.get_parameter, "x", "Linear has no attribute `x`"),
        (layer.get_buffer, "x", "Linear has no attribute `x`"),
        (layer.get_parameter, "in_features", "`in_features` is not an nn.Parameter"),
        (layer.get_parameter, "bias", "`bias` is not an nn.Parameter"),
        (layer.get_buffer, "weight", "`weight` is not a buffer"),
    ):
        with pytest.raises(AttributeError, match=match):
            get(name)


def test_parameters_without_data():
    assert nn.Parameter().shape == (0,) and nn.Parameter().requires_grad and nn.Buffer().shape == (0,)
    assert not nn.Parameter(requires_grad=False).requires_grad


def test_extra_state_that_is_only_set_or_only_got():
    class Taking(nn.Module):
        def set_extra_state(self, state):
            self.state = state

    taking = Taking()
    assert not taking.state_dict()
    taking.load_state_dict({"_extra_state": 3})
    assert taking.state == 3
    with pytest.raises(RuntimeError, match=r'Missing key\(s\) in state_dict: "_extra_state"'):
        taking.load_state_dict({})

    class Giving(nn.Module):
        def get_extra_state(self):
            return 1

    assert Giving().state_dict() == {"_extra_state": 1}
    Giving().load_state_dict({})
    with pytest.raises(RuntimeError, match=r'Unexpected key\(s\) in state_dict: "_extra_state"'):
        Giving().load_state_dict({"_extra_state": 1})


def test_one_element_is_loaded_into_a_tensor_without_dimensions():
    norm = nn.BatchNorm1d(2)
    state = norm.state_dict()
    norm.load_state_dict({**state, "num_batches_tracked": tenon.tensor([7])})
    assert norm.num_batches_tracked.item() == 7 and norm.num_batches_tracked.shape == ()
    for sizes in ((2,), (0,), (1, 1)):
        with pytest.raises(RuntimeError, match="size mismatch for num_batches_tracked"):
            norm.load_state_dict({**state, "num_batches_tracked": tenon.zeros(sizes, dtype=tenon.int64)})
    module = nn.Module()
    module.p = nn.Parameter(tenon.tensor(1.0))
    module.load_state_dict({"p": tenon.tensor([5.0])}, assign=True)
    assert module.p.shape == () and module.p.item() == 5 and isinstance(module.p, nn.Parameter)
