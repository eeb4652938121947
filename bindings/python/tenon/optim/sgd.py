import math

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
        momentum = group["momentum"]
        if group["maximize"]:
            grad = -grad
        if group["weight_decay"] != 0:
            grad = grad.add(param, alpha=group["weight_decay"])
        if momentum != 0:
            buffer = state.get("momentum_buffer")
            if buffer is None:
                buffer = state["momentum_buffer"] = grad.detach().clone()
            else:
                buffer.mul_(momentum).add_(grad, alpha=1 - group["dampening"])
            grad = grad.add(buffer, alpha=momentum) if group["nesterov"] else buffer
        param.add_(grad, alpha=-group["lr"])
