"""What is left out of the comparison, each with its reason: where PyTorch's result is undefined or is not promised, and what
docs/known_limits.md and docs/differences.md name. Each table is read in order; the first rule that holds gives the reason."""

import re

import torch

from .operands import STORED, Operand

# Results that are determined up to the choice among equal elements.
TIES = {"argsort", "kthvalue", "median", "mode", "msort", "nanmedian", "sort", "topk"}
# Vectors that may be multiplied by numbers of size 1: their elements' sizes are compared.
PHASES = re.compile("eig$|eigh$|svd$|svd_lowrank|lobpcg")
# Results, and so gradients, that are those of one of several equal elements.
CHOSEN = re.compile("(arg|m)?sort|topk|(nan)?quantile|(nan)?median|kthvalue|mode")
# Families of ill-conditioned problems: the result may move as far as PyTorch's does if the arguments are rounded.
CONDITIONED = {"factorizations", "linalg", "signals", "matmul"}
# Uninitialised memory.
UNINITIALISED = re.compile("(new_)?empty|_empty|resize_|as_strided$")
# Backward operators whose arguments are results of the same call forward, which chance does not draw.
SAVED = re.compile(
    "_?(cumprod|unfold|native_batch_norm|batch_norm|native_layer_norm|embedding|embedding_dense|segment_reduce|scaled_dot_product_flash_attention_for_cpu)_backward|_native_batch_norm_legit"
)
# Infinities give NaN or not by the order of products or sums, which is the library's choice.
REORDERED = re.compile(
    "(native_)?(layer|group|batch|instance|rms)_norm|(std|var)(_mean)?$|grid_sampler|_?convolution(_double)?_backward|chain_matmul|linalg_multi_dot|einsum|_?(tri|bi)linear$|_sparse_addmm|_ctc_loss|_upsample_.*_aa"
)
# Arguments that PyTorch does not check: it reads beside memory.
UNCHECKED = re.compile(
    "_?ctc_loss|(_?native)?_batch_norm|as_strided|linalg_solve_triangular|scaled_dot_product_attention|segment_reduce|binary_cross_entropy$"
)
STRIDES = re.compile(
    "_sparse_mm|log_sigmoid|bernoulli|(float_|_foreach_)?pow|_convolution_double_backward|rrelu|masked_fill|stack"
)
INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
OVERLAPS = ("argument", "overlapping", "expanded")  # kinds of out


# ---- the parts of a call ----


def flat(values):
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from flat(value)
        else:
            yield value


def values(call):
    return list(flat([*call.args, *call.kwargs.values()]))


def operands(call):
    return [v for v in values(call) if isinstance(v, Operand)]


def tensors(value):
    if isinstance(value, torch.Tensor):
        return [value]
    return [t for v in value for t in tensors(v)] if isinstance(value, (list, tuple)) else []


def named(call, pattern):
    return re.match(pattern, call.base.base)


def empty(call):
    return any(t.numel() == 0 for t in operands(call))


def special(call):
    """Whether an operand holds infinities, NaN or the largest numbers."""
    return any(t.special or t.cells and any(c != c or abs(c) == float("inf") for c in t.cells) for t in operands(call))


def has_ties(call):
    """Whether elements of an operand are equal, or are so many floats that some are."""
    return any(
        t.cells or t.special or t.range or t.layout == "expanded" or t.numel() > 500 or t.dtype.itemsize < 4
        for t in operands(call)
    )


def is_singular(call):
    """Whether an operand's rows are one row, so that vectors of its null space are free."""
    return any(t.layout == "expanded" and len(t.sizes) > 1 for t in operands(call))


def changes_an_argument(call):
    written = any(a.is_write for a in call.base.arguments)
    return call.form in ("in place", "out") or call.base.base.endswith("_") or written


def overlapping(call):
    """Whether an argument that is written shares memory with another one: what is written is undefined."""
    seen = operands(call)
    shared = len({id(o) for o in seen}) < len(seen) or any(o.view_of for o in seen)
    return changes_an_argument(call) and (shared or call.form == "out" and call.out in OVERLAPS)


def values_compared(call):
    """Whether the call determines its values: no random numbers, no uninitialised memory."""
    random = torch.Tag.nondeterministic_seeded in call.base.overload.tags or "dropout" in call.base.name
    return not (random or UNINITIALISED.match(call.base.base))


def converts_too_much(call, results):
    """Whether numbers that an integer cannot hold are converted to it: undefined in C++."""
    casts = changes_an_argument(call) or named(call, "copy$|fill$|full") or not operands(call)
    integer = casts and any(t.dtype in INTEGERS for t in tensors(results)) or any(v in INTEGERS for v in values(call))
    numbers = [v for v in values(call) if isinstance(v, (int, float, complex))]
    wide = any(t.special or t.range and max(map(abs, t.range)) > 100 for t in operands(call))
    return integer and (wide or any(n != n or abs(n) >= 2**7 for n in numbers))


# ---- the rules: (reason, whether it holds) ----


def reason(rules, *what):
    return next((why for why, holds in rules if holds(*what)), None)


OTHER_VALUES = [
    ("a conversion of what an integer cannot hold", converts_too_much),
    ("an out of another dtype is cast to at the end", lambda c, _: c.form == "out" and c.out == "other dtype"),
    (
        "docs/differences.md: other values at corners",
        lambda c, _: named(c, "special_bessel_[jy][01]|special_zeta|hypot|floor_divide|mode$|matrix_exp|linalg_lstsq"),
    ),
    ("saved results that are none of these arguments", lambda c, _: named(c, SAVED)),
    (
        "PyTorch's gradient of no dimensions counts otherwise",
        lambda c, _: named(c, "(std|var)(_mean)?$") and [] in [*c.args, *c.kwargs.values()],
    ),
    (
        "several values for one place, or bins without an order",
        lambda c, _: named(c, "max_unpool|histogram|_histogramdd_from_bin_tensors|put"),
    ),
    ("without sorted=True the order is free", lambda c, _: named(c, "topk") and any(v is False for v in values(c))),
    ("PyTorch leaves out the end of a strided diagonal", lambda c, _: named(c, "fill_diagonal_")),
    ("PyTorch's kernels differ by processor at NaN", lambda c, _: special(c) and named(c, "logit_backward")),
    (
        "PyTorch repeats one row of antialiased planes of one column",
        lambda c, _: named(c, "_upsample_.*_aa") and any(t.sizes[-1:] == [1] for t in operands(c)),
    ),
    ("of equal pivots either is taken", lambda c, _: named(c, "linalg_ldl")),
    (
        "factors of a singular matrix",
        lambda c, w: named(c, ".*(_ex|_with_info)$") and any(t.dtype == torch.int32 and t.any() for t in tensors(w)),
    ),
    ("factors of a singular matrix", lambda c, _: is_singular(c) and named(c, "(_?linalg_)?(svd|polar)$")),
    (
        "factors or transforms of what is not finite",
        lambda c, _: special(c) and c.base.family in ("factorizations", "linalg", "signals"),
    ),
    ("infinities in another order", lambda c, _: special(c) and named(c, REORDERED)),
]

OTHER_GRADIENTS = [
    *OTHER_VALUES,
    ("PyTorch's gradient is of other places than its result", lambda c, _: named(c, "upsample_nearest[13]d")),
    ("PyTorch takes an empty block for none", lambda c, _: named(c, "block_diag") and empty(c)),
    ("ill-conditioned", lambda c, _: c.base.family in CONDITIONED),
    ("of equal elements any is taken", lambda c, _: has_ties(c) and named(c, CHOSEN)),
    (
        "docs/differences.md: gradients of complex functions at infinities",
        lambda c, _: special(c) and c.base.family == "unary" and any(t.dtype.is_complex for t in operands(c)),
    ),
    ("docs/differences.md: PyTorch's gradient of polar is of |abs|", lambda c, _: special(c) and named(c, "polar")),
    (
        "docs/differences.md: other gradients at zeros",
        lambda c, _: named(c, "hypot|xlogy|special_xlog1py|floor_divide|as_strided_scatter"),
    ),
    (
        "docs/differences.md: other gradients at infinities and NaN",
        lambda c, _: (
            special(c)
            and named(
                c,
                "copysign|amax|amin|special_log_ndtr|_foreach_(max|min)imum|hardshrink|grid_sampler|std_mean|var_mean",
            )
        ),
    ),
]

# PyTorch raises and Tenon does not, or with another class.
ERRORS_OF_PYTORCH = [
    ("a form with out= that only Tenon has", lambda c, e, t: c.form == "out" and isinstance(e, TypeError)),
    ("Tenon's overloads take numbers as tensors", lambda c, e, t: c.form == "overload" and "Expected a value of" in t),
    (
        "elementwise operators cast into an out of another dtype",
        lambda c, e, t: (
            c.form == "out" and c.out == "other dtype" and c.base.family in ("unary", "binary", "comparison")
        ),
    ),
    (
        "a dtype that PyTorch has no kernel for may work",
        lambda c, e, t: re.search(
            "not implemented (for|on)|Could not run '|is not supported for|does not support|Unsupported dtype", t
        ),
    ),
    (
        "memory",
        lambda c, e, t: re.search("not enough memory|can't allocate|out of memory|bad_alloc|size calculation", t),
    ),
    (
        "a limit of PyTorch's integers or dtypes",
        lambda c, e, t: re.search(
            "without overflow|multiplication overflow|Stride calculation overflow|SymInt|Autograd not support dtype", t
        ),
    ),
    (
        "PyTorch has no view or no kernel of this layout",
        lambda c, e, t: re.search(
            "view size is not compatible|Unsupported memory format|Negative strides|setStorage: ", t
        ),
    ),
    ("an argument without a derivative is a constant", lambda c, e, t: "not differentiable with respect to" in t),
    (
        "a list of one number stands for all",
        lambda c, e, t: re.search(
            r"equals to 2, but got size 1|output_size(\.size\(\))? must be|in output_size, but got 1|of size 2, but got 1",
            t,
        ),
    ),
    ("lists of optional tensors take None", lambda c, e, t: "expected Tensor as element" in t),
    ("PyTorch has another method of this name", lambda c, e, t: "Tensor.index() missing" in t),
    ("PyTorch's own mistake", lambda c, e, t: re.search("INTERNAL ASSERT|[Pp]lease report a", t)),
    ("an out that overlaps may work", lambda c, e, t: c.form == "out" and c.out in OVERLAPS),
    ("PyTorch's own callers give no wrong arguments", lambda c, e, t: c.base.trusting),
]

# Tenon raises and PyTorch does not.
ERRORS_OF_OURS = [
    (
        "PyTorch's overloads take more kinds of values",
        lambda c, e, t: c.form == "overload" and isinstance(e, TypeError),
    ),
    (
        "Float8, uint16, uint32 and uint64 are only stored",
        lambda c, e, t: any(v in STORED for v in [*values(c), *(o.dtype for o in operands(c))]),
    ),
    ("an out that overlaps may be refused", lambda c, e, t: c.form == "out" and c.out in OVERLAPS),
    (
        "a dtype without a kernel, which nothing reaches in PyTorch",
        lambda c, e, t: (
            re.search("not implemented for|not supported. Got|floating point", t) and (c.base.trusting or empty(c))
        ),
    ),
    (
        "PyTorch's own callers give no wrong arguments",
        lambda c, e, t: named(c, SAVED) or c.base.trusting and empty(c),
    ),
    (
        "sparse constructors always check",
        lambda c, e, t: c.base.family == "sparse" and (named(c, "sparse_.*tensor$") or "values" in t),
    ),
    (
        "factors of a matrix that is not finite",
        lambda c, e, t: re.search("non-finite|infs or NaNs|failed to converge", t),
    ),
    (
        "docs/known_limits.md: integers in convolutions, half types in complex ones",
        lambda c, e, t: re.search(r"\[convolution\] is not implemented|float and double tensors, but got", t),
    ),
    ("PyTorch does not check this argument", lambda c, e, t: named(c, UNCHECKED)),
    ("a storage grows for its one owner alone", lambda c, e, t: "needs memory of its own" in t),
    ("memory", lambda c, e, t: re.search("can't allocate|not enough memory|out of memory", t)),
]

MISSING_FORMS = [
    (
        "an alias has no overload of its own",
        lambda c: c.form == "overload" and c.base.name in ("max.other", "min.other", "swapaxes", "swapdims"),
    ),
    ("tenon.as_torch adds the method", lambda c: c.form == "in place" and c.base.name in ("swapaxes", "swapdims")),
    ("an in-place operator takes no out", lambda c: c.form == "out" and c.base.base.endswith("_")),
]

OTHER_CLASSES = [("PyTorch's error is of an operator inside", lambda c: c.base.family == "sparse")]

OTHER_STRIDES = [
    ("an out of another size becomes contiguous", lambda c: c.form == "out"),
    ("docs/differences.md: other strides", lambda c: named(c, STRIDES)),
]
