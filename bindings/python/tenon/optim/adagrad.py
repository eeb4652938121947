import math

import tenon
from tenon import _C
from tenon.optim.optimizer import Optimizer, checked, plain


class Adagrad(Optimizer):
    """Duchi, Hazan and Singer (2011): s += g^2; p -= lr / (1 + (t - 1) lr_decay) g / (sqrt(s) + eps)."""

    def __init__(self, params, lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10, foreach=None, *, maximize=False,
                 differentiable=False, fused=None):
        checked(**{"learning rate": (lr, 0, math.inf), "lr_decay value": (lr_decay, 0, math.inf),
                   "weight_decay value": (weight_decay, 0, math.inf),
                   "initial_accumulator_value value": (initial_accumulator_value, 0, math.inf), "epsilon value": (eps, 0, math.inf)})
        plain(self, differentiable)
        super().__init__(params, {"lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
                                  "initial_accumulator_value": initial_accumulator_value, "foreach": foreach, "maximize": maximize,
                                  "differentiable": differentiable, "fused": fused})
        for group in self.param_groups:
            for param in group["params"]:
                self._start(param, group)

    def _start(self, param, group):
        self.state[param]["step"] = tenon.tensor(0.0)
        self.state[param]["sum"] = tenon.full_like(param.detach(), group["initial_accumulator_value"])

    def update_all(self, params, grads, states, group):
        for param, state in zip(params, states):
            if not state:
                self._start(param, group)
        steps = [state["step"] for state in states]
        _C._foreach_add_(steps, 1)
        _C._fused_adagrad_(params, grads, [state["sum"] for state in states], steps, lr=group["lr"], lr_decay=group["lr_decay"],
                           weight_decay=group["weight_decay"], eps=group["eps"], maximize=group["maximize"])
