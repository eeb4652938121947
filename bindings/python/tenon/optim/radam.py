import math

import tenon
from tenon import _C
from tenon.optim.optimizer import Optimizer, check_paths, checked, decayed, pairs, scalar


class RAdam(Optimizer):
    """Liu and others (2020), Adam whose step is scaled by the variance of its second moment, and without that moment while it is of few
    steps."""

    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        decoupled_weight_decay=False,
        *,
        foreach=None,
        maximize=False,
        capturable=False,
        differentiable=False,
    ):
        checked(
            **{
                "learning rate": (lr, 0, math.inf),
                "epsilon value": (eps, 0, math.inf),
                "beta parameter at index 0": (betas[0], 0, 1),
                "beta parameter at index 1": (betas[1], 0, 1),
                "weight_decay value": (weight_decay, 0, math.inf),
            }
        )
        check_paths(self, capturable=capturable)
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "maximize": maximize,
                "foreach": foreach,
                "capturable": capturable,
                "decoupled_weight_decay": decoupled_weight_decay,
                "differentiable": differentiable,
            },
        )

    def start(self, param, state, group):
        state["step"] = scalar()
        state["exp_avg"] = tenon.zeros_like(param)
        state["exp_avg_sq"] = tenon.zeros_like(param)

    def update(self, param, grad, state, group):
        beta1, beta2 = group["betas"]
        state["step"].add_(1)
        _C._radam_step_(
            *pairs(param, grad, state["exp_avg"], state["exp_avg_sq"]),
            step=int(state["step"].item()),
            lr=group["lr"],
            beta1=beta1,
            beta2=beta2,
            eps=group["eps"],
            weight_decay=group["weight_decay"],
            decoupled_weight_decay=group["decoupled_weight_decay"],
            maximize=group["maximize"],
        )

    def formula(self, p, g, state, group):
        (beta1, beta2), step = group["betas"], state["step"].item()
        p, g = decayed(p, g, group)
        m = state["exp_avg"] + (1 - beta1) * (g - state["exp_avg"])
        v = beta2 * state["exp_avg_sq"] + (1 - beta2) * g * g
        d = m / (1 - beta1**step)
        longest = 2 / (1 - beta2) - 1
        length = longest - 2 * step * beta2**step / (1 - beta2**step)
        if length > 5:
            rectified = math.sqrt((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length))
            d = d * (rectified * math.sqrt(1 - beta2**step)) / (v.sqrt() + group["eps"])
        return p - group["lr"] * d, {"exp_avg": m, "exp_avg_sq": v}
