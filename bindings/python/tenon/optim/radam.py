import math

import tenon
from tenon import _C
from tenon.optim.optimizer import Optimizer, checked, plain


class RAdam(Optimizer):
    """Liu and others (2020), Adam whose step is scaled by the variance of its second moment, and without that moment while it is of few
    steps."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, decoupled_weight_decay=False, *, foreach=None,
                 maximize=False, capturable=False, differentiable=False):
        checked(**{"learning rate": (lr, 0, math.inf), "epsilon value": (eps, 0, math.inf), "beta parameter at index 0": (betas[0], 0, 1),
                   "beta parameter at index 1": (betas[1], 0, 1), "weight_decay value": (weight_decay, 0, math.inf)})
        plain(self, capturable, differentiable)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
                                  "foreach": foreach, "capturable": capturable, "decoupled_weight_decay": decoupled_weight_decay,
                                  "differentiable": differentiable})

    def update(self, param, grad, state, group):
        if not state:
            state["step"] = tenon.tensor(0.0)
            state["exp_avg"] = tenon.zeros_like(param)
            state["exp_avg_sq"] = tenon.zeros_like(param)
        beta1, beta2 = group["betas"]
        state["step"].add_(1)
        _C._radam_step_(param, grad, state["exp_avg"], state["exp_avg_sq"], step=int(state["step"].item()), lr=group["lr"], beta1=beta1,
                        beta2=beta2, eps=group["eps"], weight_decay=group["weight_decay"],
                        decoupled_weight_decay=group["decoupled_weight_decay"], maximize=group["maximize"])
