import math

import tenon
from tenon import _C
from tenon.optim.optimizer import Optimizer, check_paths, checked, filled, pairs, scalar


class Rprop(Optimizer):
    """Riedmiller and Braun (1993): each element has a step size of its own, times etas[1] where the gradient keeps its sign and etas[0]
    where it turns, when the element stays and the gradient counts as 0; p -= sign(g) step_size."""

    def __init__(
        self,
        params,
        lr=1e-2,
        etas=(0.5, 1.2),
        step_sizes=(1e-6, 50),
        *,
        capturable=False,
        foreach=None,
        maximize=False,
        differentiable=False,
    ):
        if not 0 < etas[0] < 1 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        checked(**{"learning rate": (lr, 0, math.inf)})
        check_paths(self, capturable=capturable)
        super().__init__(
            params,
            {
                "lr": lr,
                "etas": etas,
                "step_sizes": step_sizes,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "capturable": capturable,
            },
        )

    def start(self, param, state, group):
        state["step"] = scalar()
        state["prev"] = tenon.zeros_like(param)
        state["step_size"] = filled(param, group["lr"])

    def update(self, param, grad, state, group):
        state["step"].add_(1)
        (eta_minus, eta_plus), (low, high) = group["etas"], group["step_sizes"]
        _C._rprop_step_(
            *pairs(param, grad, state["prev"], state["step_size"]),
            eta_minus=eta_minus,
            eta_plus=eta_plus,
            step_size_min=low,
            step_size_max=high,
            maximize=group["maximize"],
        )

    def formula(self, p, g, state, group):
        (eta_minus, eta_plus), (low, high) = group["etas"], group["step_sizes"]
        turn, size = g * state["prev"], state["step_size"]
        size = tenon.where(turn > 0, size * eta_plus, tenon.where(turn < 0, size * eta_minus, size)).clamp(low, high)
        d = tenon.where(turn < 0, 0.0, g)
        return p - d.sign() * size, {"prev": d, "step_size": size}
