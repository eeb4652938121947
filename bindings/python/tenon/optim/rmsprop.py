import math

import tenon
from tenon import _C
from tenon.optim.optimizer import Optimizer, check_paths, checked, decayed, pairs, scalar


class RMSprop(Optimizer):
    """Hinton's (2012): v = alpha v + (1 - alpha) g^2; d = g / (sqrt(v) + eps), of v minus the square of g's running mean if centered; with
    momentum b = momentum b + d takes the place of d; p -= lr d."""

    def __init__(
        self,
        params,
        lr=1e-2,
        alpha=0.99,
        eps=1e-8,
        weight_decay=0,
        momentum=0,
        centered=False,
        capturable=False,
        foreach=None,
        maximize=False,
        differentiable=False,
    ):
        checked(
            **{
                "learning rate": (lr, 0, math.inf),
                "epsilon value": (eps, 0, math.inf),
                "momentum value": (momentum, 0, math.inf),
                "weight_decay value": (weight_decay, 0, math.inf),
                "alpha value": (alpha, 0, math.inf),
            }
        )
        check_paths(self, capturable=capturable)
        super().__init__(
            params,
            {
                "lr": lr,
                "momentum": momentum,
                "alpha": alpha,
                "eps": eps,
                "centered": centered,
                "weight_decay": weight_decay,
                "capturable": capturable,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
            },
        )

    def start(self, param, state, group):
        state["step"] = scalar()
        state["square_avg"] = tenon.zeros_like(param)
        if group["momentum"] > 0:
            state["momentum_buffer"] = tenon.zeros_like(param)
        if group["centered"]:
            state["grad_avg"] = tenon.zeros_like(param)

    def update(self, param, grad, state, group):
        state["step"].add_(1)
        buffer = state["momentum_buffer"] if group["momentum"] > 0 else None
        mean = state["grad_avg"] if group["centered"] else None
        _C._rmsprop_step_(
            *pairs(param, grad, state["square_avg"], buffer, mean),
            lr=group["lr"],
            alpha=group["alpha"],
            eps=group["eps"],
            weight_decay=group["weight_decay"],
            momentum=group["momentum"],
            maximize=group["maximize"],
        )

    def formula(self, p, g, state, group):
        alpha = group["alpha"]
        p, g = decayed(p, g, group)
        v = alpha * state["square_avg"] + (1 - alpha) * g * g
        changed, deviation = {"square_avg": v}, v
        if group["centered"]:
            mean = changed["grad_avg"] = state["grad_avg"] + (1 - alpha) * (g - state["grad_avg"])
            deviation = v - mean * mean
        d = g / (deviation.sqrt() + group["eps"])
        if group["momentum"] > 0:
            d = changed["momentum_buffer"] = group["momentum"] * state["momentum_buffer"] + d
        return p - group["lr"] * d, changed
