import math

import tenon
from tenon import _C
from tenon.optim.optimizer import Optimizer, check_paths, checked, decayed, pairs, scalar


class Adamax(Optimizer):
    """Kingma and Ba (2015), section 7: m = beta1 m + (1 - beta1) g; u = max(beta2 u, |g| + eps); p -= lr / (1 - beta1^t) m / u."""

    def __init__(
        self,
        params,
        lr=2e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        foreach=None,
        *,
        maximize=False,
        differentiable=False,
        capturable=False,
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
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "capturable": capturable,
            },
        )

    def start(self, param, state, group):
        state["step"] = scalar()
        state["exp_avg"] = tenon.zeros_like(param)
        state["exp_inf"] = tenon.zeros_like(param)

    def update(self, param, grad, state, group):
        beta1, beta2 = group["betas"]
        state["step"].add_(1)
        _C._adamax_step_(
            *pairs(param, grad, state["exp_avg"], state["exp_inf"]),
            step=int(state["step"].item()),
            lr=group["lr"],
            beta1=beta1,
            beta2=beta2,
            eps=group["eps"],
            weight_decay=group["weight_decay"],
            maximize=group["maximize"],
        )

    def formula(self, p, g, state, group):
        beta1, beta2 = group["betas"]
        p, g = decayed(p, g, group)
        m = state["exp_avg"] + (1 - beta1) * (g - state["exp_avg"])
        largest = tenon.maximum(beta2 * state["exp_inf"], g.abs() + group["eps"])
        return p - group["lr"] / (1 - beta1 ** state["step"].item()) * m / largest, {"exp_avg": m, "exp_inf": largest}
