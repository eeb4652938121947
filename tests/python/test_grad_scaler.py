"""Initial values and scaled losses against PyTorch's, memory shared by DLPack, seeds of generators."""

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


@needs_torch
@pytest.mark.parametrize(
    "name, shape, arguments",
    [
        ("trunc_normal_", (50, 40), {}),
        ("trunc_normal_", (50, 40), {"std": 3.0, "a": 1.0, "b": 2.0}),
        ("trunc_normal_", (50, 40), {"mean": 9.0, "std": 2.0, "a": -1.0, "b": 3.0}),
        ("dirac_", (6, 4, 3), {}),
        ("dirac_", (6, 2, 3, 4), {"groups": 3}),
        ("dirac_", (2, 3, 3, 4, 5), {}),
        ("sparse_", (20, 8), {"sparsity": 0.3}),
        ("orthogonal_", (3, 5), {}),
        ("orthogonal_", (5, 3, 1), {"gain": 2.0}),
        ("orthogonal_", (0, 3), {}),
    ],
)
def test_initial_values(name, shape, arguments):
    torch.manual_seed(3)
    tenon.manual_seed(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = getattr(torch.nn.init, name)(torch.empty(shape), **arguments)
        mine = tenon.empty(*shape)
        assert getattr(tenon.nn.init, name)(mine, **arguments) is mine
    torch.testing.assert_close(torch.from_numpy(mine.numpy()), wanted, rtol=1e-6, atol=1e-6)


def scaled_training(lib, scaler, steps):
    """A parameter's values and the scale after each step, of which some overflow."""
    parameter = lib.nn.Parameter(lib.ones(3))
    optimizer = lib.optim.SGD([parameter], lr=0.1)
    found = []
    for step in range(steps):
        optimizer.zero_grad()
        loss = (parameter * (float("inf") if step % 5 == 3 else 2.0)).sum()
        scaler.scale(loss).backward()
        if step % 2:
            scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
        found.append((parameter.tolist(), scaler.get_scale(), scaler.state_dict()["_growth_tracker"]))
    return found


@needs_torch
def test_grad_scaler():
    options = {"init_scale": 8.0, "growth_interval": 3}
    theirs, ours = torch.amp.GradScaler("cpu", **options), tenon.amp.GradScaler("cpu", **options)
    assert scaled_training(tenon, ours, 12) == scaled_training(torch, theirs, 12)
    assert ours.state_dict() == theirs.state_dict()
    again = pickle.loads(pickle.dumps(ours))
    assert again.state_dict() == ours.state_dict()
    assert scaled_training(tenon, again, 4) == scaled_training(torch, theirs, 4)


def test_grad_scaler_errors():
    scaler = tenon.amp.GradScaler("cpu")
    parameter = tenon.nn.Parameter(tenon.ones(3))
    optimizer = tenon.optim.SGD([parameter], lr=0.1)
    with pytest.raises(AssertionError, match="_scale is None"):
        scaler.step(optimizer)
    scaler.scale(parameter.sum()).backward()
    scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="already been called"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="already been called since"):
        scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="Closure use"):
        scaler.step(optimizer, closure=lambda: None)
    if not tenon.cuda.is_available():
        with pytest.warns(FutureWarning), pytest.warns(UserWarning, match="CUDA is not available"):
            assert not tenon.cuda.amp.GradScaler().is_enabled()


def test_dlpack_and_seeds():
    x = tenon.arange(6.0).view(2, 3)
    assert tenon.utils.dlpack.from_dlpack(tenon.utils.dlpack.to_dlpack(x)).data_ptr() == x.data_ptr()
    generator = tenon.Generator()
    seed = generator.seed()
    assert seed == generator.initial_seed()
    first = tenon.rand(3, generator=generator)
    assert tenon.equal(first, tenon.rand(3, generator=tenon.Generator().manual_seed(seed)))
