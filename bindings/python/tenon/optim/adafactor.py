import tenon
from tenon.optim.optimizer import Optimizer, scalar


class Adafactor(Optimizer):
    """Shazeer and Stern (2018). V, the running mean of g^2, is kept as the means of its rows and of its columns, whose product over their
    mean it is taken for; of vectors it is kept whole. u = g / max(sqrt(V), eps[0]); p -= max(eps[1], rms(p)) min(lr, 1 / sqrt(t))
    u / max(1, rms(u) / d), after p *= 1 - lr weight_decay. The newest g^2 has the weight t^beta2_decay. Without eps[0] it is the dtype's
    epsilon."""

    def __init__(
        self,
        params,
        lr=1e-2,
        beta2_decay=-0.8,
        eps=(None, 1e-3),
        d=1.0,
        weight_decay=0.0,
        *,
        foreach=None,
        maximize=False,
    ):
        if not lr >= 0:
            raise ValueError(f"Learning rate should be >= 0 but is: {lr}")
        if not beta2_decay <= 0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        if eps[0] is not None and not eps[0] >= 0:
            raise ValueError(f"epsilon1 should be >= 0 but is: {eps[0]}")
        if not eps[1] >= 0:
            raise ValueError(f"epsilon2 should be >= 0 but is: {eps[1]}")
        if not d >= 1:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        if not weight_decay >= 0:
            raise ValueError(f"weight_decay should be >= 0 but is: {weight_decay}")
        super().__init__(
            params,
            {
                "lr": lr,
                "beta2_decay": beta2_decay,
                "eps": eps,
                "d": d,
                "weight_decay": weight_decay,
                "foreach": foreach,
                "maximize": maximize,
            },
        )

    def start(self, param, state, group):
        if param.is_complex():
            raise RuntimeError("Adafactor does not support complex parameters")
        if state:
            return False
        state["step"] = scalar()
        if param.dim() > 1:
            state["row_var"] = param.grad.new_zeros((*param.shape[:-1], 1))
            state["col_var"] = param.grad.new_zeros((*param.shape[:-2], 1, param.shape[-1]))
        else:
            state["variance"] = tenon.zeros_like(param.grad)
        return True

    def update(self, param, grad, state, group):
        state["step"].add_(1)
        step, (least, least_scale) = state["step"].item(), group["eps"]
        if least is None:
            least = tenon.finfo(param.dtype).eps
        grad = -grad if group["maximize"] else grad
        scale = max(least_scale, _rms(param)) * min(group["lr"], step**-0.5)
        weight = step ** group["beta2_decay"]
        if group["weight_decay"] != 0:
            param.mul_(1 - group["lr"] * group["weight_decay"])
        if param.dim() > 1:
            rows, columns = state["row_var"], state["col_var"]
            rows.lerp_(_mean_square(grad, -1), weight)
            columns.lerp_(_mean_square(grad, -2), weight)
            variance = (rows @ columns).div_(rows.mean(dim=-2, keepdim=True).clamp_(min=least))
        else:
            variance = state["variance"].lerp_(grad * grad, weight)
        update = grad / variance.clamp(min=least * least).sqrt_()
        param.add_(update, alpha=-scale / max(1.0, _rms(update) / group["d"]))


def _rms(t):
    return t.norm(2).item() / t.numel() ** 0.5


def _mean_square(t, dim):
    """Of a row or a column, without the squares of all in memory."""
    return tenon.linalg.vector_norm(t, dim=dim, keepdim=True).square_().div_(t.size(dim))
