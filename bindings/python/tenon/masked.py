"""Operators of tensors of which a mask says what counts: True keeps an element, False leaves it out.

mask: a tensor that broadcasts to the input, Bool or converted to it; None keeps all.
dim: a dimension, a tuple of them, or None or () for all.
dtype: that of the computation and the result; by default the input's, int64 for sums and products of integers.

What is left out counts as the operation's identity: 0 in a sum, -inf in a maximum. A row without any element gives the
identity, or NaN where the operation has none (mean, var, softmax).
"""

import functools

import tenon

__all__ = [
    "amax",
    "amin",
    "argmax",
    "argmin",
    "cumprod",
    "cumsum",
    "log_softmax",
    "logaddexp",
    "logsumexp",
    "mean",
    "median",
    "norm",
    "normalize",
    "prod",
    "softmax",
    "softmin",
    "std",
    "sum",
    "var",
]


def _dims(input, dim):
    """The dimensions as a tuple, without repetition."""
    if dim is None or dim == ():
        return tuple(range(input.dim()))
    found = _dims_of(dim, max(input.dim(), 1))
    return tuple(found) if input.dim() else ()


def _dims_of(dim, size):
    """The dimensions as a list, counted from the front."""
    found = []
    for d in (dim,) if isinstance(dim, int) else dim:
        if not -size <= d < size:
            raise IndexError(f"Dimension out of range (expected to be in range of [{-size}, {size - 1}], but got {d})")
        if d % size in found:
            raise RuntimeError(f"dim={d % size} appears multiple times in the list of dims")
        found.append(d % size)
    return found


def _dtype(input, dtype, integers_sum=False):
    if dtype is not None:
        return dtype
    is_number = input.dtype.is_floating_point or input.dtype.is_complex
    return tenon.int64 if integers_sum and not is_number else input.dtype


def _mask(name, input, mask):
    """The mask as Bool that broadcasts to the input; None if everything counts."""
    if mask is None:
        return None
    if mask.layout != tenon.strided:
        mask = mask.to_dense()
    if mask.dim() > input.dim():
        raise IndexError(
            f"{name} expected broadcastable mask (got mask dimensionality higher than of the input: "
            f"{mask.dim()} and {input.dim()})"
        )
    return mask.expand(input.shape).to(tenon.bool)


def _lowest(name, dtype):
    if dtype.is_floating_point or (dtype.is_complex and name == "logsumexp"):
        return float("-inf")
    if dtype.is_complex or dtype == tenon.bool:
        raise NotImplementedError(f"identity of {name} on {dtype} input")
    return tenon.iinfo(dtype).min


def _highest(name, dtype):
    if dtype.is_floating_point:
        return float("inf")
    if dtype.is_complex or dtype == tenon.bool:
        raise NotImplementedError(f"identity of {name} on {dtype} input")
    return tenon.iinfo(dtype).max


def _filled(name, input, mask, value):
    """The input with `value` in place of what is left out."""
    mask = _mask(name, input, mask)
    return input if mask is None else tenon.where(mask, input, tenon.full_like(input[()], value))


def _of_any_layout(function):
    """The reduction for sparse inputs too, whose missing elements are zeros; the result has the input's layout.

    Without a mask only a sum knows what they add. A result of which no element counts is missing.
    """

    @functools.wraps(function)
    def reduced(input, dim=None, *, keepdim=False, dtype=None, mask=None):
        if input.layout == tenon.strided:
            return function(input, dim, keepdim=keepdim, dtype=dtype, mask=mask)
        if mask is None and function.__name__ != "sum":
            layout = str(input.layout).partition(".")[2]
            raise ValueError(f"masked {function.__name__} expects explicit mask for {layout} tensor input")
        strided = input.to_dense()
        kept = tenon.ones_like(strided, dtype=tenon.bool) if mask is None else _mask(function.__name__, strided, mask)
        result = function(strided, dim, keepdim=keepdim, dtype=dtype, mask=kept)
        counts = kept.sum(_dims(kept, dim), bool(keepdim)) > 0
        return tenon.where(counts, result, tenon.zeros_like(result)).to_sparse(layout=input.layout)

    return reduced


@_of_any_layout
def sum(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The sum of the elements that count; 0 of none."""
    input = input.to(_dtype(input, dtype, integers_sum=True))
    filled = _filled("sum", input, mask, 0)
    return filled.sum(_dims(input, dim), bool(keepdim), dtype=input.dtype) if input.dim() else filled.clone()


@_of_any_layout
def prod(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The product of the elements that count; 1 of none."""
    input = input.to(_dtype(input, dtype, integers_sum=True))
    result = _filled("prod", input, mask, 1)
    for d in sorted(_dims(input, dim), reverse=True):
        result = result.prod(d, bool(keepdim))
    return result.to(input.dtype) if input.dim() or dim is None or dim == () else result.clone()


def cumsum(input, dim, *, dtype=None, mask=None):
    """Sums of the elements up to each one."""
    dtype = _dtype(input, dtype)
    return _filled("cumsum", input.to(dtype), mask, 0).cumsum(_dims(input, dim)[0] if input.dim() else 0).to(dtype)


def cumprod(input, dim, *, dtype=None, mask=None):
    """Products of the elements up to each one."""
    dtype = _dtype(input, dtype)
    return _filled("cumprod", input.to(dtype), mask, 1).cumprod(_dims(input, dim)[0] if input.dim() else 0).to(dtype)


@_of_any_layout
def amax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The largest element that counts; the least value of the dtype of none."""
    input = input.to(_dtype(input, dtype))
    filled = _filled("amax", input, mask, _lowest("amax", input.dtype))
    return filled.amax(_dims(input, dim), bool(keepdim))


@_of_any_layout
def amin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The smallest element that counts; the largest value of the dtype of none."""
    input = input.to(_dtype(input, dtype))
    filled = _filled("amin", input, mask, _highest("amin", input.dtype))
    return filled.amin(_dims(input, dim), bool(keepdim))


def argmax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Where the largest element that counts is, in the input's dtype."""
    dtype = _dtype(input, dtype)
    filled = _filled("argmax", input, mask, _lowest("argmax", input.dtype))
    return filled.argmax(dim, bool(keepdim)).to(dtype)


def argmin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Where the smallest element that counts is, in the input's dtype."""
    dtype = _dtype(input, dtype)
    filled = _filled("argmin", input, mask, _highest("argmin", input.dtype))
    return filled.argmin(dim, bool(keepdim)).to(dtype)


def _count(input, dims, mask, keepdim=True):
    ones = tenon.ones(input.shape, dtype=tenon.int64, device=input.device)
    return sum(ones, dims, keepdim=keepdim, mask=mask)


@_of_any_layout
def mean(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The mean of the elements that count; NaN of none."""
    dtype = _dtype(input, dtype)
    if not (dtype.is_floating_point or dtype.is_complex):
        raise ValueError(
            "mean(): Could not infer output dtype. Input dtype must be either a floating point or complex dtype. "
            f"Got: {dtype}"
        )
    dims = _dims(input, dim)
    total = sum(input, dims, keepdim=keepdim, dtype=dtype, mask=mask)
    return total / _count(input, dims, mask, bool(keepdim))


def median(input, dim=-1, *, keepdim=False, dtype=None, mask=None):
    """The lower median of the elements that count; NaN of none."""
    dtype = _dtype(input, dtype)
    input = input.to(dtype)
    dim = _dims(input, dim)[0] if input.dim() else 0
    kept = _mask("median", input, mask)
    if kept is None:
        return input.median(dim, bool(keepdim)).values
    if dtype.is_floating_point:
        return tenon.where(kept, input, float("nan")).nanmedian(dim, bool(keepdim)).values
    if not kept.any(dim).all():
        raise ValueError("masked median expects no fully masked out rows if dtype is not floating point")
    # The largest value comes last, so that the place of the median follows from how many count.
    values = tenon.where(kept, input, tenon.iinfo(dtype).max).sort(dim).values
    place = (kept.sum(dim, True) - 1) // 2
    result = values.gather(dim, place)
    return result if keepdim else result.squeeze(dim)


def norm(input, ord=2.0, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The vector norm of the elements that count."""
    input = input.to(_dtype(input, dtype))
    filled = _filled("norm", input, mask, float("inf") if ord == float("-inf") else 0)
    return tenon.linalg.vector_norm(filled, ord, _dims(input, dim) or None, bool(keepdim))


def _variance(name, input, dim, unbiased, correction, keepdim, dtype, mask, root):
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    if correction is None:
        correction = 1 if unbiased is None else int(unbiased)
    dtype = _dtype(input, dtype)
    compute = dtype if dtype.is_floating_point or dtype.is_complex else tenon.get_default_dtype()
    dims = _dims(input, dim)
    count = _count(input, dims, mask)
    center = sum(input, dims, keepdim=True, dtype=compute, mask=mask) / count
    difference = input.to(compute) - center
    if compute.is_complex:
        difference = difference * difference.conj()
    else:
        difference = difference * difference
    total = sum(difference, dims, keepdim=bool(keepdim), dtype=compute, mask=mask)
    count = count.reshape(total.shape) - correction
    count = tenon.maximum(count, tenon.zeros_like(count))
    result = total / count
    return (result.sqrt() if root else result).to(compute)


def var(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    """The variance of the elements that count, by their number less `correction` (1); NaN of none."""
    return _variance("var", input, dim, unbiased, correction, keepdim, dtype, mask, False)


def std(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    """The square root of var()."""
    return _variance("std", input, dim, unbiased, correction, keepdim, dtype, mask, True)


def softmax(input, dim, *, dtype=None, mask=None):
    """The softmax of the elements that count, 0 elsewhere; NaN in rows of none."""
    input = input.to(_dtype(input, dtype))
    return tenon.softmax(_filled("softmax", input, mask, _lowest("softmax", input.dtype)), dim)


def log_softmax(input, dim, *, dtype=None, mask=None):
    """The logarithm of softmax(), -inf elsewhere."""
    input = input.to(_dtype(input, dtype))
    return tenon.log_softmax(_filled("log_softmax", input, mask, _lowest("log_softmax", input.dtype)), dim)


def softmin(input, dim, *, dtype=None, mask=None):
    """softmax() of the negative elements."""
    input = input.to(_dtype(input, dtype))
    return tenon.softmax(-_filled("softmin", input, mask, _highest("softmin", input.dtype)), dim)


def normalize(input, ord, dim, *, eps=1e-12, dtype=None, mask=None):
    """The elements that count by their norm, which is at least eps."""
    input = input.to(_dtype(input, dtype))
    size = norm(input, ord, dim, keepdim=True, mask=mask)
    return _filled("normalize", input, mask, 0) / tenon.maximum(size, tenon.full_like(size, eps))


def logaddexp(input, other, *, dtype=None, input_mask=None, other_mask=None):
    """log(exp(input) + exp(other)), where what is left out of one of them is not added."""
    dtype = _dtype(input, dtype)
    input, other = input.to(dtype), other.to(dtype)
    lowest = _lowest("logaddexp", dtype)
    return tenon.logaddexp(
        _filled("logaddexp", input, input_mask, lowest), _filled("logaddexp", other, other_mask, lowest)
    )


def logsumexp(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The logarithm of the sum of the exponentials; -inf of none."""
    input = input.to(_dtype(input, dtype))
    filled = _filled("logsumexp", input, mask, _lowest("logsumexp", input.dtype))
    return tenon.logsumexp(filled, _dims(input, dim), bool(keepdim)).to(input.dtype)


def _reduction_identity(op_name, input, *args):
    """The value that masked elements have in this reduction, a tensor of no dimensions; None if there is none."""
    name = op_name.rsplit(".", 1)[-1]
    value = {"sum": 0, "cumsum": 0, "prod": 1, "cumprod": 1, "logsumexp": float("-inf"), "median": float("nan")}.get(
        name
    )
    if name in ("amax", "argmax"):
        value = _lowest(name, input.dtype)
    elif name in ("amin", "argmin"):
        value = _highest(name, input.dtype)
    elif name == "norm":
        value = float("inf") if args[0] == float("-inf") else 0
    elif value is None and name not in ("mean", "var", "std"):
        raise NotImplementedError(f"identity of {op_name} on {input.dtype} input")
    if value is None:
        return None
    return tenon.tensor(value, dtype=input.dtype, device=input.device)


def _output_mask(op, input, *args, **kwargs):
    """Which elements of op(input, *args, **kwargs) have elements of the input that count: of a reduction, where it has any."""
    name = op if isinstance(op, str) else op.__name__
    if name not in __all__:
        raise ValueError(f"_output_mask expected masked operation (got {name})")
    mask = kwargs.get("mask")
    mask = tenon.ones_like(input, dtype=tenon.bool) if mask is None else _mask(name, input, mask)
    if name in ("softmax", "log_softmax", "softmin", "normalize", "cumsum", "cumprod"):
        return mask
    if name == "norm":
        args = args[1:]
    dim = args[0] if args else kwargs.get("dim")
    return _any(mask, _dims(input, dim), bool(kwargs.get("keepdim", False)))


def _any(mask, dims, keepdim):
    for dim in sorted(dims, reverse=True):
        mask = mask.any(dim, keepdim)
    return mask


def _input_mask(input, *args, **kwargs):
    """The mask as a Bool of the input's shape."""
    if kwargs.get("mask") is None:
        raise ValueError("_input_mask requires explicit mask")
    return _mask("_input_mask", input, kwargs["mask"])


def _canonical_dim(dim, ndim):
    """The dimensions, counted from the front, in ascending order; None and () are all."""
    if dim is None or dim == ():
        return tuple(range(ndim))
    return tuple(sorted(_dims_of(dim, max(ndim, 1))))
