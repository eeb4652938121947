"""Averages of models: PyTorch's numbers and state dicts."""

import pytest
import tenon
from tenon import nn, optim
from tenon.optim import swa_utils

try:
    import torch
except ImportError:
    torch = None
needs_torch = pytest.mark.skipif(
    torch is None, reason="needs PyTorch: ./tenon setup --oracle, and run with build/venv-oracle"
)


def models():
    pair = []
    for library in (tenon, torch):
        library.manual_seed(3)
        pair.append(library.nn.Sequential(library.nn.Linear(2, 3), library.nn.BatchNorm1d(3)))
    return pair


def numbers(model):
    return {name: [float(x) for x in value.reshape(-1).tolist()] for name, value in model.state_dict().items()}


def agree(ours, theirs):
    mine, other = numbers(ours), numbers(theirs)
    assert list(mine) == list(other)
    for name in mine:
        assert mine[name] == pytest.approx(other[name], rel=1e-5, abs=1e-6), name


AVERAGES = {
    "mean": lambda s: {},
    "exponential": lambda s: {"multi_avg_fn": s.get_ema_multi_avg_fn(0.8)},
    "exponential, one by one": lambda s: {"avg_fn": s.get_ema_avg_fn(0.7)},
    "with buffers": lambda s: {"multi_avg_fn": s.get_ema_multi_avg_fn(0.8), "use_buffers": True},
}


@needs_torch
@pytest.mark.parametrize("name", AVERAGES)
def test_averages_are_pytorchs(name):
    ours, theirs = models()
    mine = swa_utils.AveragedModel(ours, **AVERAGES[name](swa_utils))
    torchs = torch.optim.swa_utils.AveragedModel(theirs, **AVERAGES[name](torch.optim.swa_utils))
    for step in range(4):
        for library, model in ((tenon, ours), (torch, theirs)):
            with library.no_grad():
                for weight in model.parameters():
                    weight.mul_(1.1).add_(step)
            model(library.ones(4, 2) * library.arange(4.0).reshape(4, 1))
        mine.update_parameters(ours)
        torchs.update_parameters(theirs)
        agree(mine, torchs)
    batches = [[float(i), i * i / 4, 1.0, -i] for i in range(3)]
    swa_utils.update_bn([(tenon.tensor(b).reshape(2, 2), 0) for b in batches], mine)
    torch.optim.swa_utils.update_bn([(torch.tensor(b).reshape(2, 2), 0) for b in batches], torchs)
    agree(mine, torchs)
    assert mine.module[1].momentum == 0.1 and mine.training


@needs_torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("options", [{}, {"anneal_epochs": 4, "anneal_strategy": "linear"}, {"anneal_epochs": 0}])
def test_rates_are_pytorchs(options):
    found = []
    for library, utils in ((tenon, swa_utils), (torch, torch.optim.swa_utils)):
        groups = [
            {"params": [library.zeros(1, requires_grad=True)]},
            {"params": [library.zeros(1, requires_grad=True)], "lr": 0.5},
        ]
        optimizer = library.optim.SGD(groups, lr=0.1)
        scheduler = utils.SWALR(optimizer, [0.02, 0.7], **options)
        rates = []
        for _ in range(12):
            optimizer.step()
            scheduler.step()
            rates += scheduler.get_last_lr()
        found.append(rates)
    assert found[0] == pytest.approx(found[1], rel=1e-10)


def test_arguments_that_do_not_fit():
    with pytest.raises(ValueError, match="Invalid decay value 2"):
        swa_utils.get_ema_avg_fn(2)
    with pytest.raises(AssertionError, match="Only one of avg_fn"):
        swa_utils.AveragedModel(
            nn.Linear(1, 1), avg_fn=swa_utils.get_swa_avg_fn(), multi_avg_fn=swa_utils.get_swa_multi_avg_fn()
        )
    with pytest.raises(ValueError, match="'cos' or 'linear'"):
        swa_utils.SWALR(optim.SGD([tenon.zeros(1, requires_grad=True)], lr=0.1), 0.1, anneal_strategy="sin")
