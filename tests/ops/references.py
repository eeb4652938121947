"""PyTorch expressions for the operators that PyTorch has under another form or not at all."""

import functools
import math

import mpmath
import torch
import torch.nn.functional as F
from torch.optim.adadelta import adadelta
from torch.optim.adagrad import adagrad
from torch.optim.adamax import adamax
from torch.optim.asgd import asgd
from torch.optim.nadam import nadam
from torch.optim.radam import radam
from torch.optim.rmsprop import rmsprop
from torch.optim.rprop import rprop


def lu_product(LU, pivots):
    P, L, U = torch.lu_unpack(LU, pivots)
    return P @ L @ U


def by_rows(function):
    """The function of each row of the tensors; other arguments are those of each call."""

    def rows(*args, **options):
        count = sum(isinstance(arg, torch.Tensor) for arg in args)
        return torch.stack([function(*row, *args[count:], **options) for row in zip(*args[:count], strict=True)])

    return rows


def linalg_lu_solve_backward(grad, X, LU, pivots, left, adjoint):
    B = (lu_product(LU, pivots) @ X).detach()
    return vjp(lambda LU: torch.linalg.lu_solve(LU, pivots, B, left=left, adjoint=adjoint), [LU], [grad])[0]


def linalg_solve_backward(grad, result, A, B, LU, pivots, left, output_mask):
    gB = torch.linalg.solve(A.mH, grad, left=left)
    return -gB @ result.mH if left else -result.mH @ gB, gB


def linalg_solve_triangular_backward(grad, result, self, B, upper, left, unitriangular, output_mask):
    gB = torch.linalg.solve_triangular(self.mH, grad, upper=not upper, left=left, unitriangular=unitriangular)
    full = -gB @ result.mH if left else -result.mH @ gB
    return full.triu(int(unitriangular)) if upper else full.tril(-int(unitriangular)), gB


def linalg_slogdet_backward(grad_sign, grad_logabsdet, sign, A, LU, pivots):
    return (grad_logabsdet - 1j * (grad_sign.conj() * sign).imag) * torch.linalg.inv(A.mH)


def vjp(function, inputs, grads):
    """Gradients of function(*inputs) with respect to inputs, themselves differentiable."""
    with torch.enable_grad():
        inputs = [x if x is None or x.requires_grad else x.detach().requires_grad_() for x in inputs]
        outputs = function(*inputs)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        pairs = [(o, g) for o, g in zip(outputs, grads) if g is not None]
        wanted = [x for x in inputs if x is not None]
        found = iter(
            torch.autograd.grad(
                [o for o, _ in pairs],
                wanted,
                [g for _, g in pairs],
                create_graph=True,
                allow_unused=True,
                materialize_grads=True,
            )
        )
        return tuple(None if x is None else next(found) for x in inputs)


def of_zeros(function, sizes, grad):
    """The gradient of a linear function of a tensor of these sizes."""
    return vjp(function, [torch.zeros(sizes, dtype=grad.dtype)], [grad])[0]


def reduced(function, dim, keepdim):
    """function over dim, where None or nothing means every dimension."""
    return lambda x: function(x, dim if dim else list(range(x.dim())), keepdim)


def prod_backward(grad, self, dim, keepdim):
    function = (lambda x: torch.prod(x, dim[0], keepdim)) if dim else torch.prod
    return vjp(function, [self], [grad])[0]


def restored(x, self, dim, keepdim):
    """A reduction's result with the reduced dimensions put back as ones."""
    dims = sorted(d % self.dim() for d in dim) if dim else list(range(self.dim()))
    if not keepdim:
        for d in dims:
            x = x.unsqueeze(d)
    return x, dims


def evenly_distribute_backward(grad, self, result, dim, keepdim):
    grad, dims = restored(grad, self, dim, keepdim)
    mask = self == restored(result, self, dim, keepdim)[0]
    return grad * mask / mask.sum(dims, True)


def var_backward(grad, self, dim, correction, keepdim):
    return vjp(
        lambda x: torch.var(x, dim, correction=1 if correction is None else correction, keepdim=keepdim), [self], [grad]
    )[0]


def std_backward(result, grad, self, dim, correction, keepdim):
    return var_backward((grad / (result * 2)).masked_fill(result == 0, 0), self, dim, correction, keepdim)


def sgd_step_(
    self,
    grad,
    momentum_buffer=None,
    *,
    lr,
    momentum=0,
    dampening=0,
    weight_decay=0,
    nesterov=False,
    maximize=False,
    is_first_step=False,
):
    torch._fused_sgd_(
        [self],
        [grad],
        [] if momentum_buffer is None else [momentum_buffer],
        lr=lr,
        momentum=momentum,
        dampening=dampening,
        weight_decay=weight_decay,
        nesterov=nesterov,
        maximize=maximize,
        is_first_step=is_first_step,
    )
    return self


def adam_step_(
    self,
    grad,
    exp_avg,
    exp_avg_sq,
    max_exp_avg_sq=None,
    *,
    step,
    lr=1e-3,
    beta1=0.9,
    beta2=0.999,
    eps=1e-8,
    weight_decay=0,
    decoupled_weight_decay=False,
    maximize=False,
):
    amsgrad = max_exp_avg_sq is not None
    fused = torch._fused_adamw_ if decoupled_weight_decay else torch._fused_adam_
    fused(
        [self],
        [grad],
        [exp_avg],
        [exp_avg_sq],
        [max_exp_avg_sq] if amsgrad else [],
        [torch.tensor(float(step))],
        lr=lr,
        beta1=beta1,
        beta2=beta2,
        weight_decay=weight_decay,
        eps=eps,
        amsgrad=amsgrad,
        maximize=maximize,
    )
    return self


def step_before(step):
    """What a step of PyTorch's counts up itself."""
    return [torch.tensor(float(step - 1))]


def rmsprop_step_(
    self,
    grad,
    square_avg,
    momentum_buffer=None,
    grad_avg=None,
    *,
    lr,
    alpha,
    eps,
    weight_decay=0,
    momentum=0,
    maximize=False,
):
    some = lambda x: [] if x is None else [x]
    rmsprop(
        [self],
        [grad],
        [square_avg],
        some(grad_avg),
        some(momentum_buffer),
        step_before(1),
        foreach=False,
        lr=lr,
        alpha=alpha,
        eps=eps,
        weight_decay=weight_decay,
        momentum=momentum,
        centered=grad_avg is not None,
        maximize=maximize,
    )
    return self


def adagrad_step_(self, grad, state_sum, *, step, lr, eps, lr_decay=0, weight_decay=0, maximize=False):
    adagrad(
        [self],
        [grad],
        [state_sum],
        step_before(step),
        foreach=False,
        lr=lr,
        eps=eps,
        lr_decay=lr_decay,
        weight_decay=weight_decay,
        maximize=maximize,
    )
    return self


def adadelta_step_(self, grad, square_avg, acc_delta, *, lr, rho, eps, weight_decay=0, maximize=False):
    adadelta(
        [self],
        [grad],
        [square_avg],
        [acc_delta],
        step_before(1),
        foreach=False,
        lr=lr,
        rho=rho,
        eps=eps,
        weight_decay=weight_decay,
        maximize=maximize,
    )
    return self


def adamax_step_(self, grad, exp_avg, exp_inf, *, step, lr, beta1, beta2, eps, weight_decay=0, maximize=False):
    adamax(
        [self],
        [grad],
        [exp_avg],
        [exp_inf],
        step_before(step),
        foreach=False,
        lr=lr,
        beta1=beta1,
        beta2=beta2,
        eps=eps,
        weight_decay=weight_decay,
        maximize=maximize,
    )
    return self


def nadam_step_(
    self,
    grad,
    exp_avg,
    exp_avg_sq,
    *,
    step,
    mu,
    mu_next,
    mu_product,
    lr,
    beta1,
    beta2,
    eps,
    weight_decay=0,
    decoupled_weight_decay=False,
    maximize=False,
):
    # Without a decay of the momentum both are half of beta1.
    assert mu == mu_next == beta1 / 2
    nadam(
        [self],
        [grad],
        [exp_avg],
        [exp_avg_sq],
        [torch.tensor(mu_product / mu, dtype=torch.float64)],
        step_before(step),
        foreach=False,
        momentum_decay=0,
        lr=lr,
        beta1=beta1,
        beta2=beta2,
        eps=eps,
        weight_decay=weight_decay,
        decoupled_weight_decay=decoupled_weight_decay,
        maximize=maximize,
    )
    return self


def radam_step_(
    self,
    grad,
    exp_avg,
    exp_avg_sq,
    *,
    step,
    lr,
    beta1,
    beta2,
    eps,
    weight_decay=0,
    decoupled_weight_decay=False,
    maximize=False,
):
    radam(
        [self],
        [grad],
        [exp_avg],
        [exp_avg_sq],
        step_before(step),
        foreach=False,
        lr=lr,
        beta1=beta1,
        beta2=beta2,
        eps=eps,
        weight_decay=weight_decay,
        decoupled_weight_decay=decoupled_weight_decay,
        maximize=maximize,
    )
    return self


def asgd_step_(self, grad, ax, *, eta, mu, lambd, weight_decay=0, maximize=False):
    number = lambda x: [torch.tensor(x, dtype=torch.float64)]
    asgd(
        [self],
        [grad],
        [ax],
        number(mu),
        number(eta),
        step_before(1),
        foreach=False,
        lambd=lambd,
        lr=0.1,
        t0=1,
        alpha=0.5,
        weight_decay=weight_decay,
        maximize=maximize,
    )
    return self


def rprop_step_(self, grad, prev, step_size, *, eta_minus, eta_plus, step_size_min, step_size_max, maximize=False):
    rprop(
        [self],
        [grad],
        [prev],
        [step_size],
        step_before(1),
        foreach=False,
        step_size_min=step_size_min,
        step_size_max=step_size_max,
        etaminus=eta_minus,
        etaplus=eta_plus,
        maximize=maximize,
    )
    return self


def fft_c2r_backward(grad, dim, normalization):
    half = torch._fft_r2c(grad, dim, normalization, True)
    inner = (grad.shape[dim[-1]] - 1) // 2
    weights = torch.tensor([2.0 if 0 < k <= inner else 1.0 for k in range(half.shape[dim[-1]])], dtype=grad.dtype)
    return half * weights.reshape([-1 if d == dim[-1] % grad.dim() else 1 for d in range(grad.dim())])


def fft_r2c_backward(grad, dim, normalization, onesided, last_dim_size):
    if onesided:
        zeros = list(grad.shape)
        zeros[dim[-1]] = last_dim_size - grad.shape[dim[-1]]
        grad = torch.cat([grad, grad.new_zeros(zeros)], dim[-1])
    return torch._fft_c2c(grad, dim, normalization, False).real


def linalg_vector_norm_backward(grad, self, ord, result, dim, keepdim):
    assert ord == 2
    return self * (restored(grad, self, dim, keepdim)[0] / restored(result, self, dim, keepdim)[0])


def permute_backward(grad, dims):
    return grad.permute([dims.index(d) for d in range(len(dims))])


def as_strided_backward(grad, self_sizes, self_strides, self_offset, size, stride, storage_offset):
    return of_zeros(lambda x: torch.as_strided(x, size, stride, storage_offset), self_sizes, grad)


def linear_backward(self, grad_output, weight, output_mask):
    return grad_output @ weight, grad_output.t() @ self, grad_output.sum(0)


def linear_double_backward(ggI, ggW, ggb, self, grad_output, weight, output_mask):
    first = lambda x, go, w: linear_backward(x, go, w, None)
    return vjp(first, [self, grad_output, weight], [ggI, ggW, ggb])


def batch_norm_double_backward(ggI, ggW, ggb, grad_out, input, weight, running_mean, running_var, train, eps, mask):
    norm = lambda x, w, b: F.batch_norm(x, running_mean, running_var, w, b, train, 0.1, eps)
    first = lambda go, x, w: vjp(norm, [x, w, torch.zeros_like(w)], [go])
    return vjp(first, [grad_out, input, weight], [ggI, ggW, ggb])


def embedding_dense_double_backward(grad, indices, padding_idx):
    return F.embedding(indices, grad) * (indices != padding_idx).unsqueeze(-1)


def logit_backward(grad_output, self, eps=None):
    if eps is None:
        return grad_output / (self * (1 - self))
    inside = (self >= eps) & (self <= 1 - eps)
    self = torch.where(inside, self, 0.5)
    return torch.where(inside, grad_output / (self * (1 - self)), 0)


def cross_entropy_rows(self, target, weight, ignore_index, dim):
    assert dim == 1
    kept = torch.where(target == ignore_index, 0, weight[target.where(target != ignore_index, 0)])
    loss = F.cross_entropy(self, target, weight, ignore_index=ignore_index, reduction="none")
    largest = self.amax(dim).detach()
    return loss, kept.detach(), largest, (self - largest.unsqueeze(dim)).exp().sum(dim)


def resample(self, dim, starts, indices, weights, *back):
    rows = torch.arange(len(starts) - 1).repeat_interleave(starts.diff())
    if indices.max() >= self.shape[dim] or len(weights) != len(indices):
        raise IndexError("indices lie within the dimension, and have a weight each")
    matrix = weights.new_zeros(len(starts) - 1, self.shape[dim]).index_put((rows, indices), weights, accumulate=True)
    return torch.tensordot(matrix, self, ([1], [dim])).movedim(0, dim).contiguous()


def resample_grid(self, dim, filter, size, output_size, align_corners, scale, transposed=False):
    if self.shape[dim] != (output_size if transposed else size):
        raise ValueError("self has as many elements as the grid")
    rows = torch.eye(size, dtype=torch.float64)[None]
    matrix = (
        torch.ops.aten.upsample_linear1d(rows, [output_size], align_corners, scale)
        if filter == 2
        else torch.ops.aten.upsample_nearest1d(rows, [output_size], scale)
    )[0].to(self.dtype)
    return torch.tensordot(self, matrix.T if transposed else matrix, ([dim], [0])).movedim(-1, dim).contiguous()


REDUCTIONS = ("none", "mean", "sum")


def linear_scan(self, factors, dim, adjoint=False):
    if self.shape != factors.shape:
        raise ValueError("factors must have self's shape")
    x, f = self.unbind(dim), factors.unbind(dim)
    y = [None] * len(x)
    for i in reversed(range(len(x))) if adjoint else range(len(x)):
        before = i + 1 if adjoint else i - 1
        y[i] = x[i] + f[max(i, before)] * y[before] if 0 <= before < len(x) else x[i]
    return torch.stack(y, dim)


def delayed(self, dim, first=0):
    if self.dim() == 0:
        return torch.full_like(self, first)
    length = self.shape[dim]
    return torch.cat([torch.full_like(self.narrow(dim, 0, 1), first), self.narrow(dim, 0, length - 1)], dim)


def cumprod_backward(grad, input, dim, output):
    scanned = grad * 1 if grad.dim() == 0 else linear_scan(grad, input.conj(), dim, True)
    return scanned * delayed(output, dim, 1).conj()


def group_norm_backward(grad, grad_mean, grad_rstd, input, weight, n, c, hxw, group, eps, output_mask):
    with torch.enable_grad():
        leaves = [t.detach().requires_grad_() for t in (input, weight, torch.zeros_like(weight))]
        results = torch.native_group_norm(*leaves, n, c, hxw, group, eps)
        return torch.autograd.grad(results, leaves, (grad, grad_mean, grad_rstd))


def attention_double_backward(ggq, ggk, ggv, grad, query, key, value, is_causal, attn_mask, scale, output_mask):
    with torch.enable_grad():
        leaves = [t.detach().requires_grad_() for t in (grad, query, key, value)]
        out, _ = torch.ops.aten._scaled_dot_product_attention_math(*leaves[1:], attn_mask, 0.0, is_causal, scale=scale)
        grads = torch.autograd.grad(out, leaves[1:], leaves[0], create_graph=True)
        return torch.autograd.grad(sum((a * b).sum() for a, b in zip(grads, (ggq, ggk, ggv))), leaves)


def lstm_gates(input, forget, candidate, output, c):
    c = torch.sigmoid(forget) * c + torch.sigmoid(input) * torch.tanh(candidate)
    return torch.sigmoid(output) * torch.tanh(c), c


def gru_gates(r, z, input_n, state_n, h):
    r, z = torch.sigmoid(r), torch.sigmoid(z)
    return (1 - z) * torch.tanh(input_n + r * state_n) + z * h


def of_mpmath(name, order, values):
    """A Bessel function of each element, rounded from 30 digits."""

    def one(x):
        if math.isnan(x) or (name == "bessely" and x < 0):
            return math.nan
        if name == "bessely" and x == 0:
            return -math.inf
        with mpmath.workdps(30):
            return float(getattr(mpmath, name)(order, x))

    found = [one(x) for x in values.detach().double().flatten().tolist()]
    return torch.tensor(found, dtype=torch.float64).reshape(values.shape).to(values.dtype)


def grid_sample(input, grid, mode, padding, align_corners, order):
    """The derivatives of grid_sampler's values by the coordinates, coordinate i as often as order[i] says."""
    with torch.enable_grad():
        grid = grid if grid.requires_grad else grid.detach().requires_grad_()
        values = torch.grid_sampler(input, grid, mode, padding, align_corners)
        for i, times in enumerate(order):
            for _ in range(times):
                # A value depends on the place of its own point alone.
                values = torch.stack([vjp_of_one(values[:, c].sum(), grid)[..., i] for c in range(values.shape[1])], 1)
        return values


def vjp_of_one(value, argument):
    return torch.autograd.grad(value, argument, create_graph=True, allow_unused=True, materialize_grads=True)[0]


def grid_sample_along(input, grid, direction, *options_and_order):
    *options, order = options_and_order
    sums = 0
    for i in range(len(order)):
        more = [n + (j == i) for j, n in enumerate(order)]
        sums = sums + direction[..., i].unsqueeze(1) * grid_sample(input, grid, *options, more)
    return sums


def grid_sample_backward(grad, input, grid, *options_and_mask):
    *options, mask = options_and_mask
    found = vjp(lambda x, g: grid_sample(x, g, *options), [input, grid], [grad])
    return tuple(g if wanted else None for g, wanted in zip(found, mask))


def grid_sample_double_backward(ggI, ggG, grad, input, grid, *options_and_mask):
    *options, mask = options_and_mask
    backward = lambda dy, x, g: grid_sample_backward(dy, x, g, *options, (True, True))  # noqa: E731
    return vjp(backward, [grad, input, grid], [ggI, ggG])


def pushed_forward(function, point, tangent):
    return torch.func.jvp(function, (point,), (tangent,))[1]


# Of matrices whose factors are what the rows give.


def linalg_qr_backward(grad_Q, grad_R, Q, R, mode):
    return vjp(torch.linalg.qr, [Q @ R], [grad_Q, grad_R])[0]


def linalg_eig_backward(grad_values, grad_vectors, values, vectors, hermitian):
    decompose = torch.linalg.eigh if hermitian else torch.linalg.eig
    return vjp(decompose, [vectors * values @ vectors.mH], [grad_values, grad_vectors])[0]


def linalg_eig_jvp(A_t, values, vectors, hermitian):
    # eigh reads one triangle, and is taken for the function of the Hermitian part.
    return tuple(pushed_forward(torch.linalg.eigh, vectors * values @ vectors.mH, (A_t + A_t.mH) / 2))


def linalg_svd_jvp(A_t, U, S, Vh):
    decompose = functools.partial(torch.linalg.svd, full_matrices=False)
    return tuple(pushed_forward(decompose, U * S @ Vh, A_t))


def linalg_lyapunov(S, G):
    unit = torch.eye(len(S), dtype=S.dtype)
    return torch.linalg.solve(torch.kron(S, unit) + torch.kron(unit, S.T.contiguous()), G.flatten()).view(G.shape)


def matrix_exp_differential(self, direction, adjoint):
    return pushed_forward(torch.matrix_exp, self.mH if adjoint else self, direction)


def linalg_pinv_backward(grad, result, self):
    g, H = grad.mH, result.mH
    outer, inner = g @ result @ H, H @ result @ g
    return outer - self @ result @ outer + inner - inner @ result @ self - H @ grad @ H


def linalg_lstsq_backward(grad_solution, grad_residuals, self, b, solution, mask):
    return None, torch.linalg.pinv(self).mH @ grad_solution


def needs_sparse(*args, **kwargs):
    raise RuntimeError("a sparse tensor is required")


REFERENCES = {
    "to_dense_backward": lambda grad, input, masked_grad=None: grad,
    "to_sparse_backward": lambda grad, self: grad,
    "sparse_mask_backward": lambda grad, self, mask: grad,
    "values_backward": needs_sparse,
    "sparse_constructor_values_backward": lambda grad, indices: grad[tuple(indices)],
    "_sparse_mm": lambda sparse, dense: sparse @ dense,
    "_sparse_addmm": lambda self, mat1, mat2, beta=1, alpha=1: torch.addmm(self, mat1, mat2, beta=beta, alpha=alpha),
    "mm_mat1_sparse_backward": lambda grad, mat1, mat2, alpha: grad @ mat2.mH * alpha,
    "gather_sparse_backward": lambda grad, self_sizes, dim, index: grad,
    "_sparse_sum_backward": needs_sparse,
    "embedding_sparse_backward": needs_sparse,
    "_sparse_adam_step_": needs_sparse,
    "_linalg_eig_backward": linalg_eig_backward,
    "_linalg_eig_jvp": linalg_eig_jvp,
    "_linalg_lstsq_backward": linalg_lstsq_backward,
    "_linalg_lyapunov": linalg_lyapunov,
    "_linalg_pinv_backward": linalg_pinv_backward,
    "_linalg_polar": lambda A: torch.linalg.polar(A)[0],
    "_linalg_qr_backward": linalg_qr_backward,
    "_linalg_qr_jvp": lambda A_t, Q, R, mode: tuple(pushed_forward(torch.linalg.qr, Q @ R, A_t)),
    "_linalg_svd_jvp": linalg_svd_jvp,
    "_matrix_exp_differential": matrix_exp_differential,
    "_ormqr_backward": lambda grad, self, tau, other, left, transpose, mask: vjp(
        lambda *t: torch.ormqr(*t, left, transpose), [self, tau, other], [grad]
    ),
    "_orgqr_backward": lambda grad, self, tau: vjp(torch.orgqr, [self, tau], [grad]),
    "adam_step_": adam_step_,
    "sgd_step_": sgd_step_,
    "_linalg_cholesky_backward": lambda grad, L, upper: vjp(
        lambda A: torch.linalg.cholesky(A, upper=upper), [L.mH @ L if upper else L @ L.mH], [grad]
    )[0],
    "_linalg_lu_factor_backward": lambda grad, LU, pivots: vjp(
        lambda A: torch.linalg.lu_factor(A)[0], [lu_product(LU, pivots)], [grad]
    )[0],
    "_lu_unpack_backward": lambda grad_L, grad_U, m, n: (
        F.pad(grad_L.tril(-1), (0, n - min(m, n))) + F.pad(grad_U.triu(), (0, 0, 0, m - min(m, n)))
    ),
    "_linalg_lu_solve_backward": linalg_lu_solve_backward,
    "_linalg_solve_backward": linalg_solve_backward,
    "_linalg_solve_triangular_backward": linalg_solve_triangular_backward,
    "_linalg_det_backward": lambda grad, result, A, LU, pivots: grad * result.conj() * torch.linalg.inv(A.mH),
    "_linalg_slogdet_backward": linalg_slogdet_backward,
    "_polygamma": torch.polygamma,
    "_trigamma": lambda self: of_mpmath("polygamma", 1, self),
    "_linalg_svd_backward": lambda grad_U, grad_S, grad_Vh, U, S, Vh: (U * grad_S) @ Vh,
    "_adadelta_step_": adadelta_step_,
    "_adagrad_step_": adagrad_step_,
    "_adamax_step_": adamax_step_,
    "_asgd_step_": asgd_step_,
    "_nadam_step_": nadam_step_,
    "_radam_step_": radam_step_,
    "_rmsprop_step_": rmsprop_step_,
    "_rprop_step_": rprop_step_,
    "_nan_to_num": torch.nan_to_num,
    "_nextafter": torch.nextafter,
    "_kth_place": lambda self, k, dim: torch.kthvalue(self, k + 1, dim, keepdim=True)[1],
    "_delayed": delayed,
    "_embedding_bags": lambda weight, indices, starts, mean=False: F.embedding_bag(
        indices.long(), weight, starts, mode="mean" if mean else "sum", include_last_offset=True
    ),
    "_fft_c2r_backward": fft_c2r_backward,
    "_fft_r2c_backward": fft_r2c_backward,
    "_gru_gates": gru_gates,
    "_linear_scan": linear_scan,
    "_dot_batched": lambda self, other: (self * other).sum(-1),
    "_linalg_solve_triangular_batched": by_rows(torch.linalg.solve_triangular),
    "_cholesky_solve_batched": by_rows(lambda self, other, upper: torch.cholesky_solve(self, other, upper=upper)),
    "_linalg_lu_solve_batched": by_rows(torch.linalg.lu_solve),
    "_lstm_gates": lstm_gates,
    "_moments": lambda self, eps: (self.mean(-1), (self.var(-1, correction=0) + eps).rsqrt()),
    "_rms_norm": torch.rms_norm,
    "_scale_rows": lambda self, scale, shift: self * scale[..., None] + shift[..., None],
    "cumprod_backward": cumprod_backward,
    "_trunc_divide": lambda self, other: torch.div(self, other, rounding_mode="trunc"),
    "_trunc_divide.Scalar": lambda self, other: torch.div(self, other, rounding_mode="trunc"),
    # PyTorch's are right to nine digits: they round pi / 4 to float.
    "special_bessel_j0": lambda self: of_mpmath("besselj", 0, self),
    "special_bessel_j1": lambda self: of_mpmath("besselj", 1, self),
    "special_bessel_y0": lambda self: of_mpmath("bessely", 0, self),
    "special_bessel_y1": lambda self: of_mpmath("bessely", 1, self),
    "_softmax_gradient": lambda grad, output, dim: torch.ops.aten._softmax_backward_data(grad, output, dim, grad.dtype),
    "_log_softmax_gradient": lambda grad, output, dim: torch.ops.aten._log_softmax_backward_data(
        grad, output, dim, grad.dtype
    ),
    "_mse_loss": lambda self, target, reduction: F.mse_loss(self, target, reduction=REDUCTIONS[reduction]),
    "_l1_loss": lambda self, target, reduction: F.l1_loss(self, target, reduction=REDUCTIONS[reduction]),
    "_huber_loss.reduced": lambda self, target, reduction, delta: F.huber_loss(
        self, target, reduction=REDUCTIONS[reduction], delta=delta
    ),
    "_smooth_l1_loss.reduced": lambda self, target, reduction, beta: F.smooth_l1_loss(
        self, target, reduction=REDUCTIONS[reduction], beta=beta
    ),
    "_kl_div": lambda self, target, reduction: torch.kl_div(self, target, reduction),
    "_kl_div_log_target": lambda self, target, reduction: torch.kl_div(self, target, reduction, log_target=True),
    "_poisson_nll_loss": lambda input, target, log_input, eps: torch.poisson_nll_loss(
        input, target, log_input, False, eps, 0
    ),
    "_poisson_nll_loss.reduced": lambda target, input, reduction: torch.poisson_nll_loss(
        input, target, True, False, 0, reduction
    ),
    "_margin_ranking_loss": torch.margin_ranking_loss,
    "_hinge_embedding_loss": torch.hinge_embedding_loss,
    "_soft_margin_loss": lambda self, target, reduction: F.soft_margin_loss(
        self, target, reduction=REDUCTIONS[reduction]
    ),
    "_full_poisson_nll_loss": lambda input, target, log_input, eps: torch.poisson_nll_loss(
        input, target, log_input, True, eps, 0
    ),
    "_stirling": lambda self: (self * self.log() - self + 0.5 * (2 * math.pi * self).log()).where(self > 1, 0),
    "_in_one_pass": lambda self, target, reduction: (
        reduction > 0 and self.is_floating_point() and self.dtype == target.dtype
    ),
    "_cross_entropy_loss": cross_entropy_rows,
    "_bce": lambda self, target: F.binary_cross_entropy(self, target, reduction="none"),
    "_bce_with_logits": lambda self, target: F.binary_cross_entropy_with_logits(self, target, reduction="none"),
    "_clamp_min_max": torch.clamp,
    "_clamp_Tensor_min_max": torch.clamp,
    "_huber_loss": lambda self, target, delta: F.huber_loss(self, target, reduction="none", delta=delta),
    "_logit": torch.logit,
    "_logit_eps": torch.logit,
    "logit_backward": logit_backward,
    "_logit_backward": logit_backward,
    "_logit_backward_eps": logit_backward,
    "logcumsumexp_backward": lambda grad, self, result, dim: (
        self.exp() * (grad * (-result).exp()).flip(dim).cumsum(dim).flip(dim)
    ),
    "_reduced": lambda self, reduction: (self, self.mean(), self.sum())[reduction],
    "_smooth_l1_loss": lambda self, target, beta: F.smooth_l1_loss(self, target, reduction="none", beta=beta),
    "_gelu_none": F.gelu,
    "_gelu_tanh": lambda self: F.gelu(self, approximate="tanh"),
    "sum_backward": lambda grad, sizes, dim, keepdim: of_zeros(reduced(torch.sum, dim, keepdim), sizes, grad),
    "mean_backward": lambda grad, sizes, dim, keepdim: of_zeros(reduced(torch.mean, dim, keepdim), sizes, grad),
    "prod_backward": prod_backward,
    "evenly_distribute_backward": evenly_distribute_backward,
    "var_backward": var_backward,
    "std_backward": std_backward,
    "_var": lambda self, dim, correction, keepdim: torch.var(self, dim, correction=correction, keepdim=keepdim),
    "_std": lambda self, dim, correction, keepdim: torch.std(self, dim, correction=correction, keepdim=keepdim),
    "_var_mean": lambda self, dim, correction, keepdim: torch.var_mean(
        self, dim, correction=correction, keepdim=keepdim
    ),
    "_std_mean": lambda self, dim, correction, keepdim: torch.std_mean(
        self, dim, correction=correction, keepdim=keepdim
    ),
    "_prod_gradient": lambda grad, self, dim: prod_backward(
        grad, self, None if dim is None else [dim], dim is not None and grad.dim() == self.dim()
    ).detach(),
    "_var_gradient": lambda grad, self, dim, correction: var_backward(
        grad, self, dim, correction, grad.dim() == self.dim()
    ),
    "linalg_vector_norm_backward": linalg_vector_norm_backward,
    "_logsumexp": torch.logsumexp,
    "cumsum_backward": lambda grad, dim: grad.flip(dim).cumsum(dim).flip(dim),
    "scatter_reduce_self_backward": lambda grad, self, dim, index, src, reduce, result: vjp(
        lambda x: x.scatter_reduce(dim, index, src, reduce), [self], [grad]
    )[0],
    "scatter_reduce_src_backward": lambda grad, self, dim, index, src, reduce, include_self, result: vjp(
        lambda x: self.scatter_reduce(dim, index, x, reduce, include_self=include_self), [src], [grad]
    )[0],
    "_differentiable_once": lambda self: self.clone(),
    "gather_backward": lambda grad, sizes, dim, index: of_zeros(lambda x: x.gather(dim, index), sizes, grad),
    "_grid_sample": grid_sample,
    "_grid_sample_along": grid_sample_along,
    "_grid_sample_backward": grid_sample_backward,
    "_grid_sample_double_backward": grid_sample_double_backward,
    "_pixel_shuffle_channels_last": lambda self, factor, inverse: (
        torch.pixel_unshuffle if inverse else torch.pixel_shuffle
    )(self, factor),
    "_resample": resample,
    "_resample_grid": resample_grid,
    "index_backward": lambda grad, sizes, indices: of_zeros(lambda x: torch.ops.aten.index(x, indices), sizes, grad),
    "masked_select_backward": lambda grad, sizes, mask: of_zeros(lambda x: x.masked_select(mask), sizes, grad),
    "repeat_backward": lambda grad, repeats, sizes: of_zeros(lambda x: x.repeat(repeats), sizes, grad),
    "constant_pad_nd_backward": lambda grad, pad: F.pad(grad, [-p for p in pad]),
    "roll_backward": lambda grad, shifts, dims: torch.roll(grad, [-s for s in shifts], dims),
    "index_add_source_backward": lambda grad, dim, index, sizes, alpha: (
        grad.index_select(dim, index).expand(sizes) * alpha
    ),
    "permute_backward": permute_backward,
    "as_strided_backward": as_strided_backward,
    "linear_backward": linear_backward,
    "_linear_double_backward": linear_double_backward,
    "_max_pool2d_gather": lambda self, indices: self.flatten(2).gather(2, indices.flatten(2)).view(indices.shape),
    "_group_norm_backward": group_norm_backward,
    "_attention_double_backward": attention_double_backward,
    "_batch_norm_double_backward": batch_norm_double_backward,
    "_embedding_dense_double_backward": embedding_dense_double_backward,
}
