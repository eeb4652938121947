import math

import tenon
from tenon import _C
from tenon.optim.optimizer import Optimizer, check_paths, checked, decayed, pairs_like, repeats, scalar


class Adam(Optimizer):
    """Kingma and Ba (2015): m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2; p -= lr / (1 - beta1^t) m /
    (sqrt(v) / sqrt(1 - beta2^t) + eps). g has weight_decay p added, or with decoupled_weight_decay p *= 1 - lr weight_decay before.
    With amsgrad the largest v so far takes the place of v."""

    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        amsgrad=False,
        *,
        foreach=None,
        maximize=False,
        capturable=False,
        differentiable=False,
        fused=None,
        decoupled_weight_decay=False,
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
        check_paths(self, capturable=capturable, differentiable=differentiable, foreach=foreach, fused=fused)
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "amsgrad": amsgrad,
                "maximize": maximize,
                "foreach": foreach,
                "capturable": capturable,
                "differentiable": differentiable,
                "fused": fused,
                "decoupled_weight_decay": decoupled_weight_decay,
            },
        )

    def start(self, param, state, group):
        state["step"] = scalar(fused=group["fused"])
        state["exp_avg"] = tenon.zeros_like(param)
        state["exp_avg_sq"] = tenon.zeros_like(param)
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = tenon.zeros_like(param)

    def update_all(self, params, grads, states, group):
        if repeats(params):
            for one in zip(params, grads, states):
                self.update_all(*([each] for each in one), group)
            return

        real = pairs_like(params)

        def moments(name):
            return real(state[name] for state in states)

        steps = [state["step"] for state in states]
        _C._foreach_add_(steps, 1)
        beta1, beta2 = group["betas"]
        fused = _C._fused_adamw_ if group["decoupled_weight_decay"] else _C._fused_adam_
        fused(
            real(params),
            real(grads),
            moments("exp_avg"),
            moments("exp_avg_sq"),
            moments("max_exp_avg_sq") if group["amsgrad"] else [],
            steps,
            lr=group["lr"],
            beta1=beta1,
            beta2=beta2,
            weight_decay=group["weight_decay"],
            eps=group["eps"],
            amsgrad=group["amsgrad"],
            maximize=group["maximize"],
        )

    def formula(self, p, g, state, group):
        (beta1, beta2), step = group["betas"], state["step"].item()
        p, g = decayed(p, g, group)
        m = state["exp_avg"] + (1 - beta1) * (g - state["exp_avg"])
        v = beta2 * state["exp_avg_sq"] + (1 - beta2) * g * g
        changed = {"exp_avg": m, "exp_avg_sq": v}
        if group["amsgrad"]:
            v = changed["max_exp_avg_sq"] = tenon.maximum(state["max_exp_avg_sq"], v)
        denominator = v.sqrt() / (1 - beta2**step) ** 0.5 + group["eps"]
        return p - group["lr"] / (1 - beta1**step) * m / denominator, changed


class AdamW(Adam):
    """Adam with decoupled weight decay: Loshchilov and Hutter (2019)."""

    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=1e-2,
        amsgrad=False,
        *,
        maximize=False,
        foreach=None,
        capturable=False,
        differentiable=False,
        fused=None,
    ):
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )
