import math

import tenon
from tenon import _C
from tenon.optim.optimizer import Optimizer, checked, plain


class NAdam(Optimizer):
    """Dozat (2016), Adam with Nesterov's momentum: mu_t = beta1 (1 - 0.96^(t momentum_decay) / 2); p -= lr ((1 - mu_t) / (1 - mu_1 ... mu_t)
    g + mu_(t+1) / (1 - mu_1 ... mu_(t+1)) m) / (sqrt(v / (1 - beta2^t)) + eps)."""

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, momentum_decay=4e-3, decoupled_weight_decay=False, *,
                 foreach=None, maximize=False, capturable=False, differentiable=False):
        checked(**{"learning rate": (lr, 0, math.inf), "epsilon value": (eps, 0, math.inf), "beta parameter at index 0": (betas[0], 0, 1),
                   "beta parameter at index 1": (betas[1], 0, 1), "weight_decay value": (weight_decay, 0, math.inf),
                   "momentum_decay value": (momentum_decay, 0, math.inf)})
        plain(self, capturable, differentiable)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "momentum_decay": momentum_decay,
                                  "decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize, "foreach": foreach,
                                  "capturable": capturable, "differentiable": differentiable})

    def update(self, param, grad, state, group):
        if not state:
            state["step"] = tenon.tensor(0.0)
            state["mu_product"] = tenon.tensor(1.0)
            state["exp_avg"] = tenon.zeros_like(param)
            state["exp_avg_sq"] = tenon.zeros_like(param)
        beta1, beta2 = group["betas"]
        state["step"].add_(1)
        step = int(state["step"].item())
        mu, mu_next = (beta1 * (1 - 0.5 * 0.96 ** (t * group["momentum_decay"])) for t in (step, step + 1))
        state["mu_product"].mul_(mu)
        _C._nadam_step_(param, grad, state["exp_avg"], state["exp_avg_sq"], step=step, mu=mu, mu_next=mu_next,
                        mu_product=state["mu_product"].item(), lr=group["lr"], beta1=beta1, beta2=beta2, eps=group["eps"],
                        weight_decay=group["weight_decay"], decoupled_weight_decay=group["decoupled_weight_decay"],
                        maximize=group["maximize"])
