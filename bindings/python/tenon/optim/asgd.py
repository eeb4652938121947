import math

import tenon
from tenon import _C
from tenon.optim.optimizer import Optimizer, check_paths, checked, decayed, pairs, scalar


class ASGD(Optimizer):
    """Polyak and Juditsky (1992): p = (1 - lambd eta) p - eta g with eta = lr / (1 + lambd lr t)^alpha; "ax" in the state is the average of
    p from step t0 on."""

    scalars = ("step", "eta", "mu")

    def __init__(
        self,
        params,
        lr=1e-2,
        lambd=1e-4,
        alpha=0.75,
        t0=1e6,
        weight_decay=0,
        foreach=None,
        maximize=False,
        differentiable=False,
        capturable=False,
    ):
        checked(
            **{
                "learning rate": (lr, 0, math.inf),
                "lambd value": (lambd, 0, math.inf),
                "alpha value": (alpha, 0, math.inf),
                "weight_decay value": (weight_decay, 0, math.inf),
            }
        )
        check_paths(self, capturable=capturable)
        super().__init__(
            params,
            {
                "lr": lr,
                "lambd": lambd,
                "alpha": alpha,
                "t0": t0,
                "weight_decay": weight_decay,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "capturable": capturable,
            },
        )

    def start(self, param, state, group):
        state["step"] = scalar()
        state["eta"] = scalar(group["lr"])
        state["mu"] = scalar(1.0)
        state["ax"] = tenon.zeros_like(param)

    def update(self, param, grad, state, group):
        state["step"].add_(1)
        _C._asgd_step_(
            *pairs(param, grad, state["ax"]),
            eta=state["eta"].item(),
            mu=state["mu"].item(),
            lambd=group["lambd"],
            weight_decay=group["weight_decay"],
            maximize=group["maximize"],
        )
        self._anneal(state, group)

    def formula(self, p, g, state, group):
        p, g = decayed(p, g, group)
        eta, mu = state["eta"].item(), state["mu"].item()
        p = (1 - group["lambd"] * eta) * p - eta * g
        self._anneal(state, group)
        return p, {"ax": p if mu == 1 else state["ax"] + mu * (p - state["ax"])}

    def _anneal(self, state, group):
        # In the default dtype, as PyTorch has it, whatever the dtype that a loaded state has.
        step, lr = state["step"].item(), float(group["lr"])
        state["eta"].copy_(tenon.tensor(lr / (1 + group["lambd"] * lr * step) ** group["alpha"]))
        state["mu"].copy_(tenon.tensor(1 / max(1, step - group["t0"])))
