import math

import tenon
from tenon import _C
from tenon.optim.optimizer import Optimizer, checked, plain


class Rprop(Optimizer):
    """Riedmiller and Braun (1993): each element has a step size of its own, times etas[1] where the gradient keeps its sign and etas[0]
    where it turns, when the element stays and the gradient counts as 0; p -= sign(g) step_size."""

    def __init__(self, params, lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50), *, capturable=False, foreach=None, maximize=False,
                 differentiable=False):
        if not 0 < etas[0] < 1 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        checked(**{"learning rate": (lr, 0, math.inf)})
        plain(self, capturable, differentiable)
        super().__init__(params, {"lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach, "maximize": maximize,
                                  "differentiable": differentiable, "capturable": capturable})

    def update(self, param, grad, state, group):
        if not state:
            state["step"] = tenon.tensor(0.0)
            state["prev"] = tenon.zeros_like(param)
            state["step_size"] = tenon.full_like(param, group["lr"])
        state["step"].add_(1)
        (eta_minus, eta_plus), (low, high) = group["etas"], group["step_sizes"]
        _C._rprop_step_(param, grad, state["prev"], state["step_size"], eta_minus=eta_minus, eta_plus=eta_plus, step_size_min=low,
                        step_size_max=high, maximize=group["maximize"])
