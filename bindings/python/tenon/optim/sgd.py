import math

import tenon
from tenon import _C
from tenon.optim.optimizer import Optimizer, check_paths, checked, decayed


class SGD(Optimizer):
    """d = grad + weight_decay p; with momentum b = momentum b + (1 - dampening) d, the first time d itself, and d becomes b, or
    d + momentum b with nesterov; p -= lr d."""

    def __init__(
        self,
        params,
        lr=1e-3,
        momentum=0,
        dampening=0,
        weight_decay=0,
        nesterov=False,
        *,
        maximize=False,
        foreach=None,
        differentiable=False,
        fused=None,
    ):
        checked(
            **{
                "learning rate": (lr, 0, math.inf),
                "momentum value": (momentum, 0, math.inf),
                "weight_decay value": (weight_decay, 0, math.inf),
            }
        )
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        check_paths(self, differentiable=differentiable, foreach=foreach, fused=fused)
        super().__init__(
            params,
            {
                "lr": lr,
                "momentum": momentum,
                "dampening": dampening,
                "weight_decay": weight_decay,
                "nesterov": nesterov,
                "maximize": maximize,
                "foreach": foreach,
                "differentiable": differentiable,
                "fused": fused,
            },
        )

    scalars = ()

    def update_all(self, params, grads, states, group):
        momentum = group["momentum"]
        new = [momentum != 0 and state.get("momentum_buffer") is None for state in states]
        for first in {*new}:
            chosen = [i for i, one in enumerate(new) if one == first]
            if first:
                for i in chosen:
                    states[i]["momentum_buffer"] = tenon.zeros_like(params[i])
            _C._fused_sgd_(
                [params[i] for i in chosen],
                [grads[i] for i in chosen],
                [states[i]["momentum_buffer"] for i in chosen] if momentum != 0 else [],
                weight_decay=group["weight_decay"],
                momentum=momentum,
                lr=group["lr"],
                dampening=group["dampening"],
                nesterov=group["nesterov"],
                maximize=group["maximize"],
                is_first_step=first,
            )

    def formula(self, p, g, state, group):
        momentum, buffer = group["momentum"], state.get("momentum_buffer")
        p, g = decayed(p, g, group)
        changed = {}
        if momentum != 0:
            buffer = g.clone() if buffer is None else momentum * buffer + (1 - group["dampening"]) * g
            changed["momentum_buffer"] = buffer
            g = g + momentum * buffer if group["nesterov"] else buffer
        return p - group["lr"] * g, changed
