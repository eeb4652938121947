import tenon
from tenon.optim._strong_wolfe import strong_wolfe
from tenon.optim.optimizer import Optimizer


class LBFGS(Optimizer):
    """Liu and Nocedal (1989): up to max_iter quasi-Newton iterations in each step(closure), whose inverse Hessian is known by the last
    history_size changes of the parameters and of the gradient. The state is of all parameters together, at the first one."""

    scalars = ()

    def __init__(
        self,
        params,
        lr=1,
        max_iter=20,
        max_eval=None,
        tolerance_grad=1e-7,
        tolerance_change=1e-9,
        history_size=100,
        line_search_fn=None,
        *,
        maximize=False,
    ):
        if not lr >= 0:
            raise ValueError(f"Invalid learning rate: {lr}")
        super().__init__(
            params,
            {
                "lr": lr,
                "max_iter": max_iter,
                "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
                "tolerance_grad": tolerance_grad,
                "tolerance_change": tolerance_change,
                "history_size": history_size,
                "line_search_fn": line_search_fn,
                "maximize": maximize,
            },
        )
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    @tenon.no_grad()
    def step(self, closure):
        """The closure clears the gradients, computes the loss and calls backward(); it is called several times."""
        group = self.param_groups[0]
        params, lr, max_iter = group["params"], float(group["lr"]), group["max_iter"]
        if group["line_search_fn"] not in (None, "strong_wolfe"):
            raise RuntimeError("only 'strong_wolfe' is supported")
        first_loss = self._evaluated(closure)
        if not params:
            return first_loss
        loss, grad, evaluations = self._loss(first_loss), self._flat_grad(), 1
        state = self.state[params[0]]
        state["func_evals"] = state.get("func_evals", 0) + 1
        state.setdefault("n_iter", 0)
        if _largest(grad) <= group["tolerance_grad"]:
            return first_loss
        for iteration in range(1, max_iter + 1):
            state["n_iter"] += 1
            d = state["d"] = self._direction(state, grad)
            state["prev_flat_grad"], state["prev_loss"] = grad.clone(), loss
            length = grad.abs().sum().item()
            t = state["t"] = lr / length if state["n_iter"] == 1 and length > 1 else lr
            slope = grad.dot(d).item()
            if slope > -group["tolerance_change"]:
                break
            calls = 0
            if group["line_search_fn"] is not None:
                before = [param.clone() for param in params]
                (t, loss, grad, _), calls = strong_wolfe(
                    lambda t, d=d, before=before: self._at(closure, before, t, d),
                    (0.0, loss, grad, slope),
                    t,
                    _largest(d),
                    group["max_eval"] - evaluations,
                )
                state["t"] = t
                self._move(t, d)
            else:
                self._move(t, d)
                # After the last iteration the loss would not be used.
                if iteration != max_iter:
                    loss, grad, calls = self._loss(self._evaluated(closure)), self._flat_grad(), 1
            evaluations += calls
            state["func_evals"] += calls
            if evaluations >= group["max_eval"] or _largest(grad) <= group["tolerance_grad"]:
                break
            if _largest(d * t) <= group["tolerance_change"]:
                break
            if abs(loss - state["prev_loss"]) < group["tolerance_change"]:
                break
        return first_loss

    def _direction(self, state, grad):
        """Minus the approximate inverse Hessian times the gradient, by the two loops over the history."""
        if state["n_iter"] == 1:
            state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
            return grad.neg()
        dirs, steps, ro = state["old_dirs"], state["old_stps"], state["ro"]
        history_size = self.param_groups[0]["history_size"]
        y, s = grad - state["prev_flat_grad"], state["d"] * state["t"]
        ys = y.dot(s)
        if ys.item() > 1e-10:
            if len(dirs) == history_size:
                for history in (dirs, steps, ro):
                    history.pop(0)
            dirs.append(y)
            steps.append(s)
            ro.append(1.0 / ys)
            state["H_diag"] = ys / y.dot(y)
        al = state.setdefault("al", [None] * history_size)
        q = grad.neg()
        for i in reversed(range(len(dirs))):
            al[i] = steps[i].dot(q) * ro[i]
            q.add_(dirs[i], alpha=-al[i].item())
        q = q * state["H_diag"]
        for i in range(len(dirs)):
            q.add_(steps[i], alpha=(al[i] - dirs[i].dot(q) * ro[i]).item())
        return q

    def _evaluated(self, closure):
        with tenon.enable_grad():
            return closure()

    def _loss(self, loss):
        return -float(loss) if self.param_groups[0]["maximize"] else float(loss)

    def _at(self, closure, before, t, d):
        """The point of a line search: (t, loss, gradient, slope)."""
        self._move(t, d)
        loss, grad = self._loss(self._evaluated(closure)), self._flat_grad()
        for param, value in zip(self.param_groups[0]["params"], before):
            param.copy_(value)
        return t, loss, grad, grad.dot(d).item()

    def _flat_grad(self):
        group = self.param_groups[0]
        parts = [_real(tenon.zeros_like(p) if p.grad is None else p.grad).reshape(-1) for p in group["params"]]
        grad = tenon.cat(parts)
        return grad.neg_() if group["maximize"] else grad

    def _move(self, t, d):
        offset = 0
        for param in self.param_groups[0]["params"]:
            target = _real(param)
            target.add_(d[offset : offset + target.numel()].view(target.shape), alpha=t)
            offset += target.numel()


def _real(t):
    return tenon.view_as_real(t) if t.is_complex() else t


def _largest(t):
    return t.abs().max().item()
