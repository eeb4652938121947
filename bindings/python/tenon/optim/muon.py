import math

import tenon
from tenon.optim.optimizer import Optimizer

_SCALES = ("original", "match_rms_adamw", "spectral_unclamped")


class Muon(Optimizer):
    """Jordan (2024), for matrices: b = momentum b + (1 - momentum) g; p *= 1 - lr weight_decay; p -= scale lr u. u is b, or with nesterov
    (1 - momentum) g + momentum b, with its singular values brought near 1. For a matrix of m rows and n columns the scale is
    sqrt(max(1, m / n)), with adjust_lr_fn="match_rms_adamw" 0.2 sqrt(max(m, n)), with "spectral_unclamped" sqrt(m / n)."""

    def __init__(
        self,
        params,
        lr=1e-3,
        weight_decay=0.1,
        momentum=0.95,
        nesterov=True,
        ns_coefficients=(3.4445, -4.775, 2.0315),
        eps=1e-7,
        ns_steps=5,
        adjust_lr_fn=None,
    ):
        if not lr >= 0:
            raise ValueError(f"Learning rate should be >= 0 but is: {lr}")
        if not momentum >= 0:
            raise ValueError(f"momentum should be >= 0 but is: {momentum}")
        if not weight_decay >= 0:
            raise ValueError(f"weight decay should be >= 0 but is: {weight_decay}")
        if adjust_lr_fn is not None and adjust_lr_fn not in _SCALES:
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        super().__init__(
            params,
            {
                "lr": lr,
                "weight_decay": weight_decay,
                "momentum": momentum,
                "nesterov": nesterov,
                "ns_coefficients": ns_coefficients,
                "eps": eps,
                "ns_steps": ns_steps,
                "adjust_lr_fn": adjust_lr_fn,
            },
        )
        for group in self.param_groups:
            for param in group["params"]:
                if param.dim() != 2:
                    raise ValueError(
                        f"Muon only supports 2D parameters whereas we found a parameter with size: {param.size()}"
                    )

    scalars = ()

    def start(self, param, state, group):
        if param.is_complex():
            raise RuntimeError("Muon does not support complex parameters")
        if "momentum_buffer" in state:
            return False
        state["momentum_buffer"] = tenon.zeros_like(param.grad)
        return True

    def update(self, param, grad, state, group):
        buffer = state["momentum_buffer"].lerp_(grad, 1 - group["momentum"])
        update = grad.lerp(buffer, group["momentum"]) if group["nesterov"] else buffer
        param.mul_(1 - group["lr"] * group["weight_decay"])
        param.add_(_orthogonal(update, group), alpha=-group["lr"] * _scale(param, group["adjust_lr_fn"]))


def _orthogonal(matrix, group):
    """A quintic Newton-Schulz iteration, in bfloat16: the singular values go to about 0.5 to 1.5, the singular vectors stay."""
    if group["ns_steps"] >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(group["ns_coefficients"]) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = group["ns_coefficients"]
    is_tall = matrix.size(0) > matrix.size(1)
    x = matrix.to(tenon.bfloat16, copy=True)
    x = x.T if is_tall else x  # so that the products of its rows are the smaller matrix
    x.div_(x.norm().clamp(min=group["eps"]))
    for _ in range(group["ns_steps"]):
        products = x @ x.T
        x = tenon.addmm(x, tenon.addmm(products, products, products, beta=b, alpha=c), x, beta=a)
    return x.T if is_tall else x


def _scale(param, name):
    rows, columns = param.shape
    if name == "match_rms_adamw":
        return 0.2 * math.sqrt(max(rows, columns))
    ratio = rows / columns
    return math.sqrt(ratio if name == "spectral_unclamped" else max(1, ratio))
