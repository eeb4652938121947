"""The line search of LBFGS by itself, which other optimizers take from PyTorch."""

from tenon.as_torch._missing import use
from tenon.optim._strong_wolfe import _CURVATURE, _DECREASE, _SMALLEST_MOVE, _least_of_cubic, strong_wolfe


def _strong_wolfe(
    obj_func, x, t, d, f, g, gtd, c1=_DECREASE, c2=_CURVATURE, tolerance_change=_SMALLEST_MOVE, max_ls=25
):
    """(loss, gradient, step, evaluations) at a step from x along d; obj_func(x, t, d) gives loss and gradient at x + t * d."""
    if (c1, c2, tolerance_change) != (_DECREASE, _CURVATURE, _SMALLEST_MOVE):
        use("torch.optim.lbfgs._strong_wolfe", "torch.optim.lbfgs._strong_wolfe with other constants")

    def evaluate(t):
        loss, grad = obj_func(x, t, d)
        return t, float(loss), grad.clone(), float(grad.dot(d))

    (t, loss, grad, _), calls = strong_wolfe(evaluate, (0.0, f, g, float(gtd)), t, d.abs().max().item(), max_ls)
    return loss, grad, t, calls


def _cubic_interpolate(x1, f1, g1, x2, f2, g2, bounds=None):
    """Where the cubic through two points with their slopes is least, within bounds: those of the points by default."""
    low, high = bounds if bounds is not None else (min(x1, x2), max(x1, x2))
    return _least_of_cubic((x1, f1, None, g1), (x2, f2, None, g2), low, high)
