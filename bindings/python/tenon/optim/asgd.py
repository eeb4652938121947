import math

import tenon
from tenon import _C
from tenon.optim.optimizer import Optimizer, checked, plain


class ASGD(Optimizer):
    """Polyak and Juditsky (1992): p = (1 - lambd eta) p - eta g with eta = lr / (1 + lambd lr t)^alpha; "ax" in the state is the average of
    p from step t0 on."""

    def __init__(self, params, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0, foreach=None, maximize=False, differentiable=False,
                 capturable=False):
        checked(**{"learning rate": (lr, 0, math.inf), "lambd value": (lambd, 0, math.inf), "alpha value": (alpha, 0, math.inf),
                   "weight_decay value": (weight_decay, 0, math.inf)})
        plain(self, capturable, differentiable)
        super().__init__(params, {"lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay, "foreach": foreach,
                                  "maximize": maximize, "differentiable": differentiable, "capturable": capturable})

    def update(self, param, grad, state, group):
        if not state:
            state["step"] = tenon.tensor(0.0)
            state["eta"] = tenon.tensor(float(group["lr"]))
            state["mu"] = tenon.tensor(1.0)
            state["ax"] = tenon.zeros_like(param)
        state["step"].add_(1)
        step = state["step"].item()
        _C._asgd_step_(param, grad, state["ax"], eta=state["eta"].item(), mu=state["mu"].item(), lambd=group["lambd"],
                       weight_decay=group["weight_decay"], maximize=group["maximize"])
        # In the default dtype, as PyTorch has it, whatever the dtype that a loaded state has.
        state["eta"].copy_(tenon.tensor(group["lr"] / (1 + group["lambd"] * group["lr"] * step) ** group["alpha"]))
        state["mu"].copy_(tenon.tensor(1 / max(1, step - group["t0"])))
