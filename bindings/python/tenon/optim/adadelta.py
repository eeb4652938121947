import math

import tenon
from tenon import _C
from tenon.optim.optimizer import Optimizer, check_paths, checked, decayed, pairs, scalar


class Adadelta(Optimizer):
    """Zeiler (2012): v = rho v + (1 - rho) g^2; d = sqrt(u + eps) / sqrt(v + eps) g; u = rho u + (1 - rho) d^2; p -= lr d."""

    def __init__(
        self,
        params,
        lr=1.0,
        rho=0.9,
        eps=1e-6,
        weight_decay=0,
        foreach=None,
        *,
        capturable=False,
        maximize=False,
        differentiable=False,
    ):
        if not 0 <= rho <= 1:
            raise ValueError(f"Invalid rho value: {rho}")
        checked(
            **{
                "learning rate": (lr, 0, math.inf),
                "epsilon value": (eps, 0, math.inf),
                "weight_decay value": (weight_decay, 0, math.inf),
            }
        )
        check_paths(self, capturable=capturable)
        super().__init__(
            params,
            {
                "lr": lr,
                "rho": rho,
                "eps": eps,
                "weight_decay": weight_decay,
                "maximize": maximize,
                "capturable": capturable,
                "foreach": foreach,
                "differentiable": differentiable,
            },
        )

    def start(self, param, state, group):
        state["step"] = scalar()
        state["square_avg"] = tenon.zeros_like(param)
        state["acc_delta"] = tenon.zeros_like(param)

    def update(self, param, grad, state, group):
        state["step"].add_(1)
        _C._adadelta_step_(
            *pairs(param, grad, state["square_avg"], state["acc_delta"]),
            lr=group["lr"],
            rho=group["rho"],
            eps=group["eps"],
            weight_decay=group["weight_decay"],
            maximize=group["maximize"],
        )

    def formula(self, p, g, state, group):
        p, g = decayed(p, g, group)
        rho, eps = group["rho"], group["eps"]
        squares = rho * state["square_avg"] + (1 - rho) * g * g
        d = (state["acc_delta"] + eps).sqrt() / (squares + eps).sqrt() * g
        return p - group["lr"] * d, {"square_avg": squares, "acc_delta": rho * state["acc_delta"] + (1 - rho) * d * d}
