"""Modules under transforms: per-sample gradients, ensembles, functional_call; beside PyTorch where it is installed."""

import pytest


def network(lib, seed=0):
    lib.manual_seed(seed)
    return lib.nn.Sequential(lib.nn.Linear(6, 5), lib.nn.ReLU(), lib.nn.LayerNorm(5), lib.nn.Linear(5, 3)).double()


def data(lib, count=7):
    x = lib.arange(count * 6.0, dtype=lib.float64).mul(0.37).sin().reshape(count, 6)
    return x, lib.arange(count) % 3


def equal(lib, one, other):
    assert one.shape == other.shape and lib.allclose(one, other, rtol=1e-9, atol=1e-9), (one, other)


def loss_of(lib, module):
    def loss(parameters, x, y):
        output = lib.func.functional_call(module, parameters, (x.unsqueeze(0),))
        return lib.nn.functional.cross_entropy(output, y.unsqueeze(0))

    return loss


def test_per_sample_gradients(lib):
    module, (x, y) = network(lib), data(lib)
    parameters = {name: p.detach() for name, p in module.named_parameters()}
    found = lib.vmap(lib.func.grad(loss_of(lib, module)), (None, 0, 0))(parameters, x, y)
    for i in range(len(x)):
        module.zero_grad()
        lib.nn.functional.cross_entropy(module(x[i : i + 1]), y[i : i + 1]).backward()
        for name, p in module.named_parameters():
            equal(lib, found[name][i], p.grad)
    assert not any(grad.requires_grad for grad in found.values())
    assert all(p.grad is not None for p in module.parameters())  # that of backward(), which the transform left alone


def test_ensembles(lib):
    modules, (x, _) = [network(lib, seed) for seed in range(4)], data(lib)
    parameters, buffers = lib.func.stack_module_state(modules)
    assert buffers == {} and parameters["0.weight"].shape == (4, 5, 6) and parameters["0.weight"].is_leaf

    def call(parameters, buffers, x):
        return lib.func.functional_call(modules[0], (parameters, buffers), (x,))

    found = lib.vmap(call, (0, 0, None))(parameters, buffers, x)
    equal(lib, found.detach(), lib.stack([module(x) for module in modules]).detach())
    found.square().sum().backward()
    for i, module in enumerate(modules):
        module(x).square().sum().backward()
        for name, p in module.named_parameters():
            equal(lib, parameters[name].grad[i], p.grad)


def test_convolutions_by_sample(lib):
    lib.manual_seed(0)
    module = lib.nn.Sequential(
        lib.nn.Conv2d(2, 4, 3, padding=1), lib.nn.GroupNorm(2, 4), lib.nn.ReLU(), lib.nn.MaxPool2d(2), lib.nn.Flatten(0), lib.nn.Linear(36, 3)
    ).double()  # fmt: skip
    x = lib.arange(3 * 72.0, dtype=lib.float64).mul(0.37).sin().reshape(3, 2, 6, 6)

    def loss(parameters, x):
        for layer in ("1",):  # a group norm takes a batch
            x = lib.nn.functional.conv2d(x, parameters["0.weight"], parameters["0.bias"], padding=1)
            x = lib.nn.functional.group_norm(
                x.unsqueeze(0), 2, parameters[f"{layer}.weight"], parameters[f"{layer}.bias"]
            )[0]
        x = lib.nn.functional.max_pool2d(x.relu(), 2).flatten()
        return lib.nn.functional.linear(x, parameters["5.weight"], parameters["5.bias"]).square().sum()

    parameters = {name: p.detach() for name, p in module.named_parameters()}
    found = lib.vmap(lib.func.grad(loss), (None, 0))(parameters, x)
    for i, row in enumerate(x):
        wanted = lib.func.grad(loss)(parameters, row)
        for name in parameters:
            equal(lib, found[name][i], wanted[name])


def test_functional_call(lib):
    module, (x, _) = network(lib), data(lib)
    changed = {"0.weight": lib.zeros(5, 6, dtype=lib.float64)}
    before = module[0].weight
    found = lib.func.functional_call(module, changed, x)
    module.load_state_dict({**module.state_dict(), **changed})
    equal(lib, found.detach(), module(x).detach())
    assert module[0].weight is before
    equal(lib, lib.func.functional_call(module, [changed, {"0.bias": module[0].bias}], (x,)).detach(), found.detach())
    for tensors, message in (
        (3, "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got <class 'int'>"),
        ([3], "Expected all elements of parameter_and_buffer_dicts to be dictionaries"),
        ([changed, changed], "appeared in multiple dictionaries; behavior of functional call is ambiguous"),
    ):
        with pytest.raises(ValueError, match=message):
            lib.func.functional_call(module, tensors, x)


def test_states_that_cannot_be_stacked(lib):
    state = lib.func.stack_module_state
    with pytest.raises(RuntimeError, match="Expected at least one model, got 0"):
        state([])
    with pytest.raises(RuntimeError, match="to have the same training/eval mode"):
        state([network(lib), network(lib).eval()])
    with pytest.raises(RuntimeError, match="to be of the same class"):
        state([network(lib), lib.nn.Linear(2, 2)])
    frozen = network(lib)
    frozen[0].weight.requires_grad_(False)
    with pytest.raises(RuntimeError, match="Expected 0.weight from each model to have the same .requires_grad"):
        state([network(lib), frozen])


def test_batch_norms_without_running_statistics(lib):
    module = lib.nn.Sequential(lib.nn.BatchNorm1d(3), lib.nn.Linear(3, 2))
    assert lib.func.replace_all_batch_norm_modules_(module) is module
    norm = module[0]
    assert norm.running_mean is None and norm.running_var is None and norm.track_running_stats is False
    x = lib.arange(24.0).mul(0.37).sin().reshape(2, 4, 3)
    found = lib.vmap(module)(x)
    assert lib.allclose(found, lib.stack([module(row) for row in x]), atol=1e-6)


def test_dropout_in_a_module(lib):
    module = lib.nn.Sequential(lib.nn.Linear(6, 32), lib.nn.Dropout(0.5))
    x = data(lib)[0].float()
    with pytest.raises(RuntimeError, match="while in randomness error mode"):
        lib.vmap(module)(x)
    found = lib.vmap(module, randomness="different")(x)
    dropped = (found == 0).double().mean()
    assert 0.3 < dropped < 0.7
