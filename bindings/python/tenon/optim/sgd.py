import math

import tenon
from tenon.optim.optimizer import Optimizer, checked


class SGD(Optimizer):
    """d = grad + weight_decay p; with momentum b = momentum b + (1 - dampening) d, the first time d itself, and d becomes b, or
    d + momentum b with nesterov; p -= lr d."""

    def __init__(self, params, lr=1e-3, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False, *, maximize=False, foreach=None,
                 differentiable=False, fused=None):
        checked(**{"learning rate": (lr, 0, math.inf), "momentum value": (momentum, 0, math.inf),
                   "weight_decay value": (weight_decay, 0, math.inf)})
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        if differentiable:
            raise NotImplementedError("SGD: differentiable")
        super().__init__(params, {"lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov,
                                  "maximize": maximize, "foreach": foreach, "differentiable": differentiable, "fused": fused})

    def update(self, param, grad, state, group):
        momentum, buffer = group["momentum"], state.get("momentum_buffer")
        is_first_step = momentum != 0 and buffer is None
        if is_first_step:
            buffer = state["momentum_buffer"] = tenon.zeros_like(param)
        tenon.sgd_step_(param, grad, buffer if momentum != 0 else None, lr=group["lr"], momentum=momentum, dampening=group["dampening"],
                        weight_decay=group["weight_decay"], nesterov=group["nesterov"], maximize=group["maximize"],
                        is_first_step=is_first_step)
