import math

import tenon
from tenon import _C
from tenon.optim.optimizer import Optimizer, check_paths, checked, decayed, pairs, scalar


class NAdam(Optimizer):
    """Dozat (2016), Adam with Nesterov's momentum: mu_t = beta1 (1 - 0.96^(t momentum_decay) / 2); p -= lr ((1 - mu_t) / (1 - mu_1 ... mu_t)
    g + mu_(t+1) / (1 - mu_1 ... mu_(t+1)) m) / (sqrt(v / (1 - beta2^t)) + eps)."""

    scalars = ("step", "mu_product")

    def __init__(
        self,
        params,
        lr=2e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        momentum_decay=4e-3,
        decoupled_weight_decay=False,
        *,
        foreach=None,
        maximize=False,
        capturable=False,
        differentiable=False,
    ):
        checked(
            **{
                "learning rate": (lr, 0, math.inf),
                "epsilon value": (eps, 0, math.inf),
                "beta parameter at index 0": (betas[0], 0, 1),
                "beta parameter at index 1": (betas[1], 0, 1),
                "weight_decay value": (weight_decay, 0, math.inf),
                "momentum_decay value": (momentum_decay, 0, math.inf),
            }
        )
        check_paths(self, capturable=capturable)
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "momentum_decay": momentum_decay,
                "decoupled_weight_decay": decoupled_weight_decay,
                "maximize": maximize,
                "foreach": foreach,
                "capturable": capturable,
                "differentiable": differentiable,
            },
        )

    def start(self, param, state, group):
        state["step"] = scalar()
        state["mu_product"] = scalar(1.0)
        state["exp_avg"] = tenon.zeros_like(param)
        state["exp_avg_sq"] = tenon.zeros_like(param)

    def update(self, param, grad, state, group):
        beta1, beta2 = group["betas"]
        state["step"].add_(1)
        mu, mu_next = self._mu(state, group)
        _C._nadam_step_(
            *pairs(param, grad, state["exp_avg"], state["exp_avg_sq"]),
            step=int(state["step"].item()),
            mu=mu,
            mu_next=mu_next,
            mu_product=state["mu_product"].item(),
            lr=group["lr"],
            beta1=beta1,
            beta2=beta2,
            eps=group["eps"],
            weight_decay=group["weight_decay"],
            decoupled_weight_decay=group["decoupled_weight_decay"],
            maximize=group["maximize"],
        )

    def formula(self, p, g, state, group):
        (beta1, beta2), lr = group["betas"], group["lr"]
        p, g = decayed(p, g, group)
        mu, mu_next = self._mu(state, group)
        product = state["mu_product"].item()
        m = state["exp_avg"] + (1 - beta1) * (g - state["exp_avg"])
        v = beta2 * state["exp_avg_sq"] + (1 - beta2) * g * g
        direction = lr * (1 - mu) / (1 - product) * g + lr * mu_next / (1 - product * mu_next) * m
        return p - direction / ((v / (1 - beta2 ** state["step"].item())).sqrt() + group["eps"]), {
            "exp_avg": m,
            "exp_avg_sq": v,
        }

    def _mu(self, state, group):
        """mu of this step, which the product takes in, and of the next."""
        step = state["step"].item()
        mu, mu_next = (group["betas"][0] * (1 - 0.5 * 0.96 ** (t * group["momentum_decay"])) for t in (step, step + 1))
        state["mu_product"].mul_(mu)
        return mu, mu_next
