"""nn.utils: computed parameters, norms of weights, pruning, fusion, and modules called with other tensors."""

import copy
import pickle
import warnings
from importlib import import_module

import pytest


def part(lib, name):
    return import_module(f"{lib.__name__}.nn.utils.{name}")


def linear(lib, rows=3, columns=4):
    layer = lib.nn.Linear(columns, rows)
    with lib.no_grad():
        layer.weight.copy_(lib.arange(float(rows * columns)).view(rows, columns) - 5.25)
    return layer


def symmetric(lib):
    class Symmetric(lib.nn.Module):
        def forward(self, x):
            return x.triu() + x.triu(1).mT

        def right_inverse(self, a):
            return a.triu()

    return Symmetric()


def names(module):
    return sorted(module.state_dict())


# ---- parametrize ----


def test_a_parameter_is_computed(lib):
    parametrize, layer = part(lib, "parametrize"), linear(lib, 3, 3)
    plain, weight = type(layer), layer.weight
    assert parametrize.register_parametrization(layer, "weight", symmetric(lib)) is layer
    assert parametrize.is_parametrized(layer, "weight") and not parametrize.is_parametrized(layer, "bias")
    assert layer.parametrizations.weight.original is weight  # an optimizer that knows it goes on with it
    assert names(layer) == ["bias", "parametrizations.weight.original"]
    assert (layer.weight == layer.weight.mT).all() and layer.weight is not layer.weight
    with parametrize.cached():
        assert layer.weight is layer.weight
    layer(lib.ones(3)).sum().backward()
    assert weight.grad is not None
    layer.weight = lib.ones(3, 3)
    assert layer.weight.tolist() == [[1] * 3] * 3 and weight.tolist() == [[1, 1, 1], [0, 1, 1], [0, 0, 1]]
    assert type(layer).__name__ == "ParametrizedLinear" and parametrize.type_before_parametrizations(layer) is plain
    copied = copy.deepcopy(layer)
    copied.weight = lib.zeros(3, 3)
    assert layer.weight[0, 0] == 1 and copied.weight[0, 0] == 0
    with pytest.raises(RuntimeError, match="Serialization of parametrized modules"):
        pickle.dumps(layer)
    parametrize.remove_parametrizations(layer, "weight")
    assert type(layer) is plain and names(layer) == ["bias", "weight"] and layer.weight.tolist() == [[1] * 3] * 3


def test_parametrizations_are_checked(lib):
    parametrize = part(lib, "parametrize")

    class Sum(lib.nn.Module):
        def forward(self, x):
            return x.sum()

    class Double(lib.nn.Module):
        def forward(self, x):
            return x.double()

    with pytest.raises(ValueError, match="may not change the shape of the tensor, unless `unsafe` flag is enabled"):
        parametrize.register_parametrization(linear(lib), "weight", Sum())
    with pytest.raises(ValueError, match="may not change the dtype"):
        parametrize.register_parametrization(linear(lib), "bias", Double())
    with pytest.raises(
        ValueError, match="does not have a parameter, a buffer, or a parametrized element with name 'no'"
    ):
        parametrize.register_parametrization(linear(lib), "no", Sum())
    layer = parametrize.register_parametrization(linear(lib), "weight", Sum(), unsafe=True)
    assert layer.weight.shape == ()
    with pytest.raises(RuntimeError, match="parametrization Sum does not implement right_inverse"):
        layer.weight = lib.ones(3, 4)
    parametrize.remove_parametrizations(layer, "weight", leave_parametrized=False)
    assert layer.weight.shape == (3, 4)
    with pytest.raises(ValueError, match="does not have a parametrization on weight"):
        parametrize.remove_parametrizations(layer, "weight")


def test_parametrizations_of_a_state_dict(lib):
    parametrize = part(lib, "parametrize")
    a = parametrize.register_parametrization(linear(lib, 3, 3), "weight", symmetric(lib))
    b = parametrize.register_parametrization(lib.nn.Linear(3, 3), "weight", symmetric(lib))
    b.load_state_dict(a.state_dict())
    assert (a.weight == b.weight).all()
    to = parametrize.transfer_parametrizations_and_params(a, lib.nn.Linear(3, 3))
    assert parametrize.is_parametrized(to, "weight") and (to.weight == a.weight).all()


# ---- norms of weights ----


def test_weight_norm(lib):
    layer = linear(lib)
    weight = layer.weight.detach().clone()
    part(lib, "parametrizations").weight_norm(layer)
    assert names(layer) == ["bias", "parametrizations.weight.original0", "parametrizations.weight.original1"]
    assert layer.parametrizations.weight.original0.shape == (3, 1)
    assert (layer.weight - weight).abs().max() < 1e-5
    with lib.no_grad():
        layer.parametrizations.weight.original0.fill_(2)
    assert ((layer.weight**2).sum(1) - 4).abs().max() < 1e-5
    old = {"bias": layer.bias.detach(), "weight_g": lib.ones(3, 1), "weight_v": weight}
    layer.load_state_dict(old)
    assert ((layer.weight**2).sum(1) - 1).abs().max() < 1e-5


def test_weight_norm_by_a_hook(lib):
    layer, utils = linear(lib), lib.nn.utils
    before = layer(lib.ones(4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        utils.weight_norm(layer)
        assert names(layer) == ["bias", "weight_g", "weight_v"]
        assert (layer(lib.ones(4)) - before).abs().max() < 1e-5
        with pytest.raises(RuntimeError, match="Cannot register two weight_norm hooks"):
            utils.weight_norm(layer)
    layer(lib.ones(4)).sum().backward()
    assert layer.weight_g.grad.shape == (3, 1)
    utils.remove_weight_norm(layer)
    assert names(layer) == ["bias", "weight"]
    with pytest.raises(ValueError, match="weight_norm of 'weight' not found"):
        utils.remove_weight_norm(layer)


@pytest.mark.parametrize("form", ["parametrizations", "hook"])
def test_spectral_norm(lib, form):
    lib.manual_seed(3)
    layer = linear(lib, 5, 4)
    if form == "hook":
        lib.nn.utils.spectral_norm(layer)
        assert names(layer) == ["bias", "weight_orig", "weight_u", "weight_v"]
    else:
        part(lib, "parametrizations").spectral_norm(layer)
        ours = "parametrizations.weight."
        assert names(layer) == ["bias", ours + "0._u", ours + "0._v", ours + "original"]
    for _ in range(20):
        layer(lib.ones(4))
    assert abs(lib.linalg.svdvals(layer.weight.detach())[0].item() - 1) < 1e-4
    layer.eval()
    first = layer(lib.ones(4))
    assert (layer(lib.ones(4)) == first).all()
    layer(lib.ones(4)).sum().backward()
    with pytest.raises(ValueError, match="Expected n_power_iterations to be positive"):
        lib.nn.utils.spectral_norm(linear(lib), n_power_iterations=0)
    if form == "hook":
        lib.nn.utils.remove_spectral_norm(layer)
        assert names(layer) == ["bias", "weight"] and (layer(lib.ones(4)) - first).abs().max() < 1e-5


def test_spectral_norm_follows_the_same_vectors():
    torch = pytest.importorskip("torch")
    import tenon

    found = []
    for lib in (tenon, torch):
        lib.manual_seed(7)
        layer = part(lib, "parametrizations").spectral_norm(linear(lib))
        layer(lib.ones(4))
        found.append([*layer.weight.detach().flatten().tolist(), *layer.parametrizations.weight[0]._u.tolist()])
    assert found[0] == pytest.approx(found[1], rel=1e-4, abs=1e-6)


def test_orthogonal(lib):
    orthogonal = part(lib, "parametrizations").orthogonal
    for shape, maps in (
        ((3, 3), ("matrix_exp", "cayley", "householder")),
        ((2, 4), ("householder", "matrix_exp")),
        ((4, 2), (None,)),
    ):
        for name in maps:
            layer = orthogonal(lib.nn.Linear(shape[1], shape[0]).double(), orthogonal_map=name)
            weight = layer.weight if shape[0] <= shape[1] else layer.weight.mT
            assert (weight @ weight.mT - lib.eye(min(shape), dtype=lib.float64)).abs().max() < 1e-10
            layer.weight.sum().backward()
            assert layer.parametrizations.weight.original.grad.isfinite().all()
            layer.weight = lib.eye(*shape, dtype=lib.float64)
            assert (layer.weight - lib.eye(*shape, dtype=lib.float64)).abs().max() < 1e-10
    with pytest.raises(ValueError, match="orthogonal_map has to be one of"):
        orthogonal(lib.nn.Linear(2, 2), orthogonal_map="x")


# ---- pruning ----


def test_pruning_of_single_elements(lib):
    prune, layer = part(lib, "prune"), linear(lib)
    assert prune.l1_unstructured(layer, "weight", amount=3) is layer and prune.is_pruned(layer)
    assert layer.weight_mask.tolist() == [[1, 1, 1, 1], [0, 0, 0, 1], [1, 1, 1, 1]]
    assert names(layer) == ["bias", "weight_mask", "weight_orig"]
    prune.l1_unstructured(layer, "weight", amount=4)
    assert layer.weight_mask.tolist() == [[1, 1, 0, 0], [0, 0, 0, 0], [0, 1, 1, 1]]
    (hook,) = layer._forward_pre_hooks.values()
    assert isinstance(hook, prune.PruningContainer) and len(hook) == 2
    layer(lib.ones(4)).sum().backward()
    assert layer.weight_orig.grad.tolist() == layer.weight_mask.tolist()
    prune.remove(layer, "weight")
    assert names(layer) == ["bias", "weight"] and (layer.weight == 0).sum() == 7 and not prune.is_pruned(layer)
    with pytest.raises(ValueError, match="has to be pruned before pruning can be removed"):
        prune.remove(layer, "weight")


def test_pruning_of_slices_by_masks_and_at_random(lib):
    prune, layer = part(lib, "prune"), linear(lib)
    prune.ln_structured(layer, "weight", amount=1, n=2, dim=0)
    assert layer.weight_mask.tolist() == [[1] * 4, [0] * 4, [1] * 4]
    prune.ln_structured(layer, "weight", amount=1, n=1, dim=1)
    assert layer.weight_mask.sum() == 6
    lib.manual_seed(0)
    layer = prune.random_unstructured(linear(lib), "weight", amount=4)
    assert layer.weight_mask.tolist() == [[1, 1, 0, 1], [1, 1, 0, 1], [0, 1, 1, 0]]
    lib.manual_seed(0)
    layer = prune.random_structured(linear(lib), "weight", amount=1, dim=1)
    assert layer.weight_mask.tolist() == [[1, 1, 1, 0]] * 3
    layer = prune.custom_from_mask(linear(lib), "bias", lib.tensor([0, 1, 0.0]))
    assert layer.bias_mask.tolist() == [0, 1, 0] and prune.identity(layer, "weight").weight_mask.sum() == 12


def test_pruning_of_several_parameters(lib):
    prune, a, b = part(lib, "prune"), linear(lib), lib.nn.Linear(3, 2)
    with lib.no_grad():
        b.weight.fill_(0.1)
    prune.global_unstructured([(a, "weight"), (b, "weight")], pruning_method=prune.L1Unstructured, amount=0.5)
    assert b.weight_mask.sum() == 0 and a.weight_mask.tolist() == [[1, 1, 1, 1], [0, 0, 0, 1], [1, 1, 1, 1]]


@pytest.mark.parametrize(
    "amount, error", [(100, "should be smaller than"), (1.5, "in the range"), (-1, "non-negative integer")]
)
def test_amounts_are_checked(lib, amount, error):
    with pytest.raises(ValueError, match=error):
        part(lib, "prune").l1_unstructured(linear(lib), "weight", amount=amount)


# ---- fusion, initialization, other tensors ----


def test_fusion_with_batch_norm(lib):
    lib.manual_seed(0)
    conv, norm = lib.nn.Conv2d(3, 4, 3).eval(), lib.nn.BatchNorm2d(4).eval()
    layer, norm1 = lib.nn.Linear(3, 4).eval(), lib.nn.BatchNorm1d(4).eval()
    for one in (norm, norm1):
        one.running_mean.normal_(), one.running_var.uniform_(0.5, 2)
    x = lib.randn(2, 3, 5, 5)
    fused = lib.nn.utils.fuse_conv_bn_eval(conv, norm)
    assert (fused(x) - norm(conv(x))).abs().max() < 1e-5 and fused.weight.requires_grad
    assert (
        lib.nn.utils.fuse_linear_bn_eval(layer, norm1)(lib.ones(2, 3)) - norm1(layer(lib.ones(2, 3)))
    ).abs().max() < 1e-5
    with pytest.raises(AssertionError, match="Fusion only for eval"):
        lib.nn.utils.fuse_conv_bn_eval(conv.train(), norm)


def test_modules_that_are_not_initialized(lib):
    layer = lib.nn.utils.skip_init(lib.nn.Linear, 2, 3, dtype=lib.float64)
    assert layer.weight.shape == (3, 2) and layer.weight.dtype == lib.float64 and layer.weight.device.type == "cpu"
    with pytest.raises(RuntimeError, match="Expected a Module; got <class 'int'>"):
        lib.nn.utils.skip_init(int)


def test_a_module_with_other_tensors(lib):
    stateless = import_module(f"{lib.__name__}.nn.utils.stateless")
    layer = linear(lib)
    given = {"weight": lib.ones(3, 4, requires_grad=True), "bias": lib.zeros(3)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = stateless.functional_call(layer, given, (lib.ones(4),))
        result.sum().backward()
        assert result.tolist() == [4] * 3 and given["weight"].grad is not None and layer.weight[0, 0] == -5.25
        with pytest.raises(RuntimeError, match="Missing key"):
            stateless.functional_call(layer, {"weight": given["weight"]}, (lib.ones(4),), strict=True)


def test_hooks_are_kept_as_they_are(lib):
    layer, seen = linear(lib), []

    def before(module, args, kwargs):
        seen.append(kwargs)

    def after(module, args, output):
        seen.append(args)

    handle = layer.register_forward_pre_hook(before, with_kwargs=True)
    layer.register_forward_hook(after)
    assert list(layer._forward_pre_hooks.values()) == [before] and list(layer._forward_hooks.values()) == [after]
    x = lib.ones(4)
    layer(input=x)
    assert seen[0]["input"] is x and seen[1] == ()
    handle.remove()
    assert not layer._forward_pre_hooks
    loaded = []
    layer._register_load_state_dict_pre_hook(lambda state_dict, prefix, *_: loaded.append((prefix, sorted(state_dict))))
    layer.load_state_dict(layer.state_dict())
    assert loaded == [("", ["bias", "weight"])]
