"""Averages of a model's weights over its training (Izmailov et al. 2018), and the schedule that goes with them."""

import copy
import itertools
import math

import tenon
from tenon.nn.modules.batchnorm import _BatchNorm
from tenon.nn.modules.module import Module
from tenon.optim.lr_scheduler import LRScheduler, _per_group


def get_swa_avg_fn():
    """The mean of all models so far."""
    return lambda averaged, current, count: averaged + (current - averaged) / (count + 1)


def get_ema_avg_fn(decay=0.999):
    """What is averaged so far keeps `decay`, the new model gets the rest."""
    if not 0.0 <= decay <= 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")
    return lambda averaged, current, count: decay * averaged + (1 - decay) * current


def _of_lists(function):
    def average(averaged, current, count):
        for mine, other in zip(averaged, current, strict=True):
            mine.copy_(function(mine, other, count))

    return average


def get_swa_multi_avg_fn():
    """get_swa_avg_fn() of lists, in place."""
    return _of_lists(get_swa_avg_fn())


def get_ema_multi_avg_fn(decay=0.999):
    return _of_lists(get_ema_avg_fn(decay))


class AveragedModel(Module):
    """A copy of the model whose parameters are means, by avg_fn(averaged, current, number averaged) or by multi_avg_fn of lists in
    place; the first update_parameters() copies. With use_buffers buffers are averaged too, else they are the last model's."""

    def __init__(self, model, device=None, avg_fn=None, multi_avg_fn=None, use_buffers=False):
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer(
            "n_averaged", tenon.tensor(0, dtype=tenon.int64, **({} if device is None else {"device": device}))
        )
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    def update_parameters(self, model):
        def tensors(module):
            return itertools.chain(module.parameters(), module.buffers() if self.use_buffers else ())

        with tenon.no_grad():
            averaged = [t.detach() for t in tensors(self.module)]
            current = [t.detach().to(mine.device) for mine, t in zip(averaged, tensors(model), strict=True)]
            if self.n_averaged == 0:
                for mine, other in zip(averaged, current):
                    mine.copy_(other)
            elif self.avg_fn is not None:
                for mine, other in zip(averaged, current):
                    mine.copy_(self.avg_fn(mine, other, self.n_averaged))
            else:
                (self.multi_avg_fn or get_swa_multi_avg_fn())(averaged, current, self.n_averaged)
            if not self.use_buffers:
                for mine, other in zip(self.module.buffers(), model.buffers(), strict=True):
                    mine.copy_(other)
            self.n_averaged += 1


def update_bn(loader, model, device=None):
    """The running statistics of the model's normalizations anew, over one pass through the loader."""
    momenta = {layer: layer.momentum for layer in model.modules() if isinstance(layer, _BatchNorm)}
    if not momenta:
        return
    was_training = model.training
    model.train()
    with tenon.no_grad():
        for layer in momenta:
            layer.reset_running_stats()
            layer.momentum = None
        for batch in loader:
            x = batch[0] if isinstance(batch, (list, tuple)) else batch
            model(x if device is None else x.to(device))
    for layer, momentum in momenta.items():
        layer.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """From the rate that there is to swa_lr in anneal_epochs, and no further."""

    def __init__(self, optimizer, swa_lr, anneal_epochs=10, anneal_strategy="cos", last_epoch=-1):
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self._anneal_strategy, self.anneal_epochs = anneal_strategy, anneal_epochs
        for rate, group in zip(_per_group("swa_lr", optimizer, swa_lr), optimizer.param_groups):
            group["swa_lr"] = rate
        super().__init__(optimizer, last_epoch)

    def _share(self, step):
        t = max(0, min(1, step / max(1, self.anneal_epochs)))
        return t if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * t)) / 2

    def get_lr(self):
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._share(step - 1), self._share(step)
        rates = []
        for group in self.optimizer.param_groups:
            # The rate that it began with follows from the last one.
            first = group["swa_lr"] if before == 1 else (group["lr"] - before * group["swa_lr"]) / (1 - before)
            rates.append(group["swa_lr"] * now + first * (1 - now))
        return rates
