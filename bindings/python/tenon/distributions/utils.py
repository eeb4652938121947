"""Broadcasting of parameters, probabilities and logits, lazy attributes, triangles as vectors."""

from functools import update_wrapper
from numbers import Number

import tenon
from tenon.overrides import is_tensor_like

__all__ = [
    "broadcast_all",
    "clamp_probs",
    "lazy_property",
    "logits_to_probs",
    "probs_to_logits",
    "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]

euler_constant = 0.57721566490153286060


def broadcast_all(*values):
    """The values as tensors of one shape. Numbers take dtype and device of the first tensor, or the default dtype."""
    if not all(is_tensor_like(v) or isinstance(v, Number) for v in values):
        raise ValueError(
            "Input arguments must all be instances of Number, tenon.Tensor or objects implementing __torch_function__."
        )
    first = next((v for v in values if is_tensor_like(v)), None)
    if first is None:
        options = {"dtype": tenon.get_default_dtype()}
    else:
        options = {"dtype": first.dtype, "device": first.device}
    return tenon.broadcast_tensors(*[v if is_tensor_like(v) else tenon.tensor(v, **options) for v in values])


def sum_rightmost(value, dim):
    """The sum over the last `dim` dimensions."""
    return value.sum(tuple(range(-dim, 0))) if dim else value


def is_broadcastable(shape, other):
    """Whether the shapes broadcast."""
    return all(i == j or 1 in (i, j) for i, j in zip(reversed(shape), reversed(other)))


def is_only_numbers(*values):
    """Whether all parameters are Python's numbers, so that the distribution is one of scalars."""
    return all(isinstance(v, Number) for v in values)


def clamp_probs(probs):
    """The probabilities within [eps, 1 - eps], so that their logits are finite."""
    eps = tenon.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs, is_binary=False):
    """log(p), or of binary probabilities log(p / (1 - p))."""
    probs = clamp_probs(probs)
    return probs.log() - (-probs).log1p() if is_binary else probs.log()


def logits_to_probs(logits, is_binary=False):
    """The inverse of probs_to_logits()."""
    return logits.sigmoid() if is_binary else logits.softmax(-1)


class lazy_property:
    """An attribute that is computed when first asked for, with gradients even under no_grad, and kept."""

    def __init__(self, wrapped):
        self.wrapped = wrapped
        update_wrapper(self, wrapped)

    def __get__(self, instance, obj_type=None):
        if instance is None:
            return _lazy_property_of_class(self.wrapped)
        with tenon.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


class _lazy_property_of_class(lazy_property, property):
    """A lazy property as the class shows it: documentation tools take it for a property."""

    def __init__(self, wrapped):
        property.__init__(self, wrapped)


def _triangle(matrix_size, diag, device):
    """Row and column numbers of a lower triangle."""
    return tenon.tril_indices(matrix_size, matrix_size, diag, device=device).unbind()


def _triangle_size(matrix_size, diag):
    """How many entries of a square matrix are on and below a diagonal."""
    cut_off = max(matrix_size - 1 - diag, 0)  # rows and columns of the triangle above, for which there is no room
    if diag < 0:
        return (matrix_size + diag) * (matrix_size + diag + 1) // 2
    return matrix_size**2 - cut_off * (cut_off + 1) // 2


def tril_matrix_to_vec(mat, diag=0):
    """The entries on and below the diagonal `diag` of square matrices, row by row: [..., n, n] -> [..., k]."""
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    rows, columns = _triangle(n, diag, mat.device)
    return mat[..., rows, columns]


def vec_to_tril_matrix(vec, diag=0):
    """The square matrices of which tril_matrix_to_vec() gives the vectors, zero above the diagonal `diag`."""
    length = vec.shape[-1]
    n = max(1, 1 - diag)
    while _triangle_size(n, diag) < length:
        n += 1
    if _triangle_size(n, diag) != length:
        raise ValueError(
            f"The size of last dimension is {length} which cannot be expressed as "
            "the lower triangular part of a square D x D matrix."
        )
    matrix = vec.new_zeros(vec.shape[:-1] + (n, n))
    rows, columns = _triangle(n, diag, vec.device)
    matrix[..., rows, columns] = vec
    return matrix
