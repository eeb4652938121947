import math

from tenon import _C
from tenon.optim.optimizer import Optimizer, check_paths, checked, decayed, filled, pairs_like, repeats, scalar


class Adagrad(Optimizer):
    """Duchi, Hazan and Singer (2011): s += g^2; p -= lr / (1 + (t - 1) lr_decay) g / (sqrt(s) + eps)."""

    def __init__(
        self,
        params,
        lr=1e-2,
        lr_decay=0,
        weight_decay=0,
        initial_accumulator_value=0,
        eps=1e-10,
        foreach=None,
        *,
        maximize=False,
        differentiable=False,
        fused=None,
    ):
        checked(
            **{
                "learning rate": (lr, 0, math.inf),
                "lr_decay value": (lr_decay, 0, math.inf),
                "weight_decay value": (weight_decay, 0, math.inf),
                "initial_accumulator_value value": (initial_accumulator_value, 0, math.inf),
                "epsilon value": (eps, 0, math.inf),
            }
        )
        check_paths(self, differentiable=differentiable, foreach=foreach, fused=fused)
        super().__init__(
            params,
            {
                "lr": lr,
                "lr_decay": lr_decay,
                "eps": eps,
                "weight_decay": weight_decay,
                "initial_accumulator_value": initial_accumulator_value,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "fused": fused,
            },
        )
        for group in self.param_groups:
            for param in group["params"]:
                self.start(param, self.state[param], group)

    def start(self, param, state, group):
        state["step"] = scalar(fused=group["fused"])
        state["sum"] = filled(param, group["initial_accumulator_value"])

    def update_all(self, params, grads, states, group):
        if repeats(params):
            for one in zip(params, grads, states):
                self.update_all(*([each] for each in one), group)
            return
        real, steps = pairs_like(params), [state["step"] for state in states]
        _C._foreach_add_(steps, 1)
        _C._fused_adagrad_(
            real(params),
            real(grads),
            real(state["sum"] for state in states),
            steps,
            lr=group["lr"],
            lr_decay=group["lr_decay"],
            weight_decay=group["weight_decay"],
            eps=group["eps"],
            maximize=group["maximize"],
        )

    def formula(self, p, g, state, group):
        p, g = decayed(p, g, group)
        total = state["sum"] + g * g
        lr = group["lr"] / (1 + (state["step"].item() - 1) * group["lr_decay"])
        return p - lr * g / (total.sqrt() + group["eps"]), {"sum": total}
