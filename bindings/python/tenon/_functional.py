"""Functions of the module that do more than one operator's work."""

import functools
import warnings

import tenon
from tenon import _C
from tenon.overrides import overridable

Tensor = _C.Tensor
_as_given = functools.partial(overridable, as_given=True)


def of_list_in_place(function):
    """The operator of a list in place, `_foreach_add_`, as PyTorch's: it returns the list's tensors."""

    @functools.wraps(function)
    def changed(*args, **kwargs):
        result = function(*args, **kwargs)
        return list(args[0] if args else kwargs["self"]) if result is None else result

    return changed


@_as_given
def nonzero(input, *, as_tuple=False, out=None):
    """The places of the elements that are not zero: [n, dimensions], or with as_tuple one tensor per dimension."""
    if not as_tuple:
        return _C.nonzero(input) if out is None else _C.nonzero(input, out=out)
    if out is not None:
        raise RuntimeError("nonzero does not support the out kwarg when as_tuple is True")
    return _C.nonzero(input.reshape(1) if input.dim() == 0 else input).unbind(1)


@overridable
def norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    """The p-norm over `dim`, all dimensions by default; 'fro' is the 2-norm, 'nuc' the nuclear norm of matrices."""
    if isinstance(p, str):
        if p == "nuc":
            given = {} if out is None else {"out": out}
            return _C._linalg.linalg_matrix_norm(
                input, p, (-2, -1) if dim is None else dim, keepdim, dtype=dtype, **given
            )
        if p != "fro":
            raise RuntimeError(f"only valid string values are 'fro' and 'nuc', found {p}")
    order = 2.0 if p is None or p == "fro" else p
    if isinstance(dim, int):
        dim = [dim]
    if out is None:
        return _C._linalg.linalg_vector_norm(input, order, dim, keepdim, dtype=dtype)
    return _C._linalg.linalg_vector_norm(input, order, dim, keepdim, dtype=dtype, out=out)


@overridable
def lu(A, pivot=True, get_infos=False, out=None):
    """LU and pivots of linalg.lu_factor, of singular matrices too; with get_infos also `info` of each matrix."""
    parts = _C._lu_with_info(A, pivot, not get_infos)
    parts = tuple(parts) if get_infos else (parts[0], parts[1])
    if out is None:
        return parts
    if not isinstance(out, (tuple, list)) or len(out) != len(parts):
        raise TypeError(f"lu(): out must be a tuple of {len(parts)} tensors")
    for to, part in zip(out, parts):
        to.resize_(part.shape).copy_(part)
    return out


def _into(name, results, out):
    """The results, or None after they have been copied into the tensors of `out`."""
    if out is None:
        return results
    if len(out) != len(results):
        raise RuntimeError(f"{name}_out expected an out= argument of size {len(results)}, got size {len(out)}")
    for to, result in zip(out, results):
        _C.alias_copy(result, out=to)
    return None


@_as_given
def unbind_copy(input, dim=0, *, out=None):
    """unbind() as copies; with `out`, as many tensors, into these."""
    return _into("unbind_copy_int", _C.unbind_copy(input, dim) if out is None else input.unbind(dim), out)


@_as_given
def split_copy(input, split_size, dim=0, *, out=None):
    """split() as copies; with `out`, into tensors of these sizes."""
    if out is None:
        return _C.split_copy(input, split_size, dim)
    parts = input.split(split_size, dim)
    if len(out) != len(parts):
        raise RuntimeError(
            f"split_copy_Tensor_out() expected an out= argument of size {len(parts)}, got size {len(out)}"
        )
    for to, part in zip(out, parts):
        to.copy_(part)
    return None


@_as_given
def split_with_sizes_copy(input, split_sizes, dim=0, *, out=None):
    """split_with_sizes() as copies; with `out`, as many tensors, into these."""
    if out is None:
        return _C.split_with_sizes_copy(input, split_sizes, dim)
    return _into("split_with_sizes_copy", input.split_with_sizes(split_sizes, dim), out)


def _between_numbers(name):
    """linspace or logspace, whose ends may be tensors without dimensions."""
    made = getattr(_C, name)

    def between(start, end, *args, **options):
        if isinstance(start, Tensor) or isinstance(end, Tensor):
            dims = [end_.dim() if isinstance(end_, Tensor) else 0 for end_ in (start, end)]
            if any(dims):
                raise RuntimeError(
                    f"{name} only supports 0-dimensional start and end tensors, "
                    f"but got start with {dims[0]} dimension(s) and end with {dims[1]} dimension(s)."
                )
        return made(start, end, *args, **options)

    between.__name__ = between.__qualname__ = name
    between.__doc__ = made.__doc__
    return _as_given(between)


linspace, logspace = _between_numbers("linspace"), _between_numbers("logspace")


# Operators of several tensors, which Python passes one by one or as one list


def _listed(tensors):
    return list(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else list(tensors)


_of_list = functools.partial(overridable, leaves=lambda args: tuple(_listed(args)) if args else ())


@_of_list
def broadcast_tensors(*tensors):
    """The tensors as views of the shape that all broadcast to."""
    return _C.broadcast_tensors(_listed(tensors))


def broadcast_shapes(*shapes):
    """The shape that all broadcast to."""
    shapes = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    result = [1] * max((len(s) for s in shapes), default=0)
    for shape in shapes:
        for i, n in enumerate(reversed(shape), 1):
            if n < 0:
                raise RuntimeError(f"Trying to create tensor with negative dimension ({n}): ({n})")
            if n != 1 and result[-i] not in (1, n):
                raise RuntimeError(f"Shape mismatch: objects cannot be broadcast to a single shape, got {shapes}")
            result[-i] = n if n != 1 else result[-i]
    return _C.Size(result)


@_of_list
def meshgrid(*tensors, indexing=None):
    """Grids of the vectors' elements; `indexing` "ij", as by default, or "xy", with the first two dimensions exchanged."""
    if indexing is None:
        warnings.warn(
            "meshgrid: in an upcoming release, it will be required to pass the indexing argument.", stacklevel=2
        )
        indexing = "ij"
    return _C.meshgrid(_listed(tensors), indexing=indexing)


@_of_list
def cartesian_prod(*tensors):
    """Every combination of the vectors' elements, a row each."""
    return _C.cartesian_prod(_listed(tensors))


@_of_list
def block_diag(*tensors):
    """The matrices along the diagonal of one."""
    return _C.block_diag(list(tensors))


_CDIST_MODES = {
    "use_mm_for_euclid_dist_if_necessary": 0,
    "use_mm_for_euclid_dist": 1,
    "donot_use_mm_for_euclid_dist": 2,
}


@overridable
def cdist(x1, x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary"):
    """The distances in the p-norm between the rows of x1 [..., P, M] and x2 [..., R, M]: [..., P, R].

    compute_mode: whether a matrix product is used for p = 2, which is faster and less exact:
    "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist", or "use_mm_for_euclid_dist_if_necessary", for more than 25
    rows. ValueError for another one.
    """
    if compute_mode not in _CDIST_MODES:
        raise ValueError(
            f"{compute_mode} is not a valid value for compute_mode: it is one of {', '.join(_CDIST_MODES)}"
        )
    return _C.cdist(x1, x2, p, _CDIST_MODES[compute_mode])


@overridable
def stft(
    input,
    n_fft,
    hop_length=None,
    win_length=None,
    window=None,
    center=True,
    pad_mode="reflect",
    normalized=False,
    onesided=None,
    return_complex=None,
    align_to_window=None,
):
    """The Fourier transforms of frames of n_fft samples of input [L] or [B, L], hop_length (n_fft // 4) apart: a tensor
    [n_fft // 2 + 1, frames] or [B, n_fft // 2 + 1, frames], with all n_fft values unless onesided.

    center: frame t has sample t * hop_length in its middle, and the signal's ends are padded by pad_mode. window: factors of
    win_length (n_fft) samples. return_complex=False gives pairs of real values in a last dimension.
    """
    return _C.stft(
        input,
        n_fft,
        hop_length,
        win_length,
        window,
        center,
        pad_mode,
        normalized=normalized,
        onesided=onesided,
        return_complex=return_complex,
        align_to_window=align_to_window,
    )


@functools.partial(overridable, leaves=lambda args: (*args[:1], *(_listed(args[1:]) if len(args) > 1 else ())))
def einsum(*args):
    """Einstein's sum over the operands' dimensions, named by letters ("ij,jk->ik"), or (x, [0, 1], y, [1, 2], [0, 2])."""
    if len(args) < 2 or (isinstance(args[0], str) and not _listed(args[1:])):
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one operand and its subscripts list"
        )
    equation, *operands = args
    if not isinstance(equation, str):
        parts = [equation, *operands]
        result = parts.pop() if len(parts) % 2 else None
        terms = ["".join("..." if i is Ellipsis else _letter(i) for i in labels) for labels in parts[1::2]]
        operands = parts[::2]
        equation = ",".join(terms)
        if result is not None:
            equation += "->" + "".join("..." if i is Ellipsis else _letter(i) for i in result)
    return _C.einsum(equation, _listed(operands))


def _letter(number):
    if not 0 <= number < 52:
        raise RuntimeError(f"einsum(): subscript in subscript list is not within the valid range [0, 52), got {number}")
    return chr(ord("A") + number) if number < 26 else chr(ord("a") + number - 26)


@overridable
def tensordot(a, b, dims=2, out=None):
    """The sum over pairs of dimensions: a's last `dims` with b's first, or those of two lists."""
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.dim(), b.dim()):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        dims = list(range(a.dim() - dims, a.dim())), list(range(dims))
    of_a, of_b = ([d] if isinstance(d, int) else list(d) for d in dims)
    return _C.tensordot(a, b, of_a, of_b) if out is None else _C.tensordot(a, b, of_a, of_b, out=out)


def _at_least(function):
    def at_least(*tensors):
        if len(tensors) == 1 and not isinstance(tensors[0], (list, tuple)):
            return function(tensors[0])
        return function(_listed(tensors))

    at_least.__name__ = at_least.__qualname__ = function.__name__
    return at_least


atleast_1d, atleast_2d, atleast_3d = _at_least(_C.atleast_1d), _at_least(_C.atleast_2d), _at_least(_C.atleast_3d)


@overridable
def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """The different elements, or slices along dim; on demand which each is, and how often each is there."""
    if dim is None:
        found = _C._unique2(input, sorted, return_inverse, return_counts)
    else:
        found = _C.unique_dim(input, dim, sorted, return_inverse, return_counts)
    return _wanted(found, return_inverse, return_counts)


@overridable
def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    """The same of neighbours only."""
    return _wanted(_C.unique_consecutive(input, return_inverse, return_counts, dim), return_inverse, return_counts)


def _wanted(found, inverse, counts):
    wanted = (found[0], *([found[1]] if inverse else []), *([found[2]] if counts else []))
    return wanted if len(wanted) > 1 else wanted[0]


_deterministic = [False, False]  # mode, warn_only


def use_deterministic_algorithms(mode, *, warn_only=False):
    """On a CPU nothing changes: every operator gives the same bits again, for the same number of threads. On CUDA sums by index then
    sort what they add."""
    if not isinstance(mode, bool):
        raise TypeError(
            f"_set_deterministic_algorithms(): argument 'mode' (position 1) must be bool, not {type(mode).__name__}"
        )
    if not isinstance(warn_only, bool):
        raise TypeError(
            f"_set_deterministic_algorithms(): argument 'warn_only' must be bool, not {type(warn_only).__name__}"
        )
    _deterministic[:] = mode, warn_only
    _C._set_deterministic_algorithms(bool(mode))


def are_deterministic_algorithms_enabled():
    return _deterministic[0]


def is_deterministic_algorithms_warn_only_enabled():
    return _deterministic[1]


@_as_given
def is_signed(input):
    """Whether the dtype has negative numbers."""
    return input.dtype not in (_C.uint8, _C.bool)


def get_num_threads():
    """Threads that a kernel on the CPU may use."""
    return _C._get_num_threads()


def set_num_threads(int):
    if not isinstance(int, type(1)) or int <= 0:  # noqa: UP003
        raise RuntimeError(f"set_num_threads expects a positive integer, got {int}")
    _C._set_num_threads(int)


def _tensor_nonzero(self, *, as_tuple=False):
    return nonzero(self, as_tuple=as_tuple)


def _tensor_norm(self, p="fro", dim=None, keepdim=False, dtype=None):
    return norm(self, p, dim, keepdim, dtype=dtype)


def _tensor_stft(
    self,
    n_fft,
    hop_length=None,
    win_length=None,
    window=None,
    center=True,
    pad_mode="reflect",
    normalized=False,
    onesided=None,
    return_complex=None,
    align_to_window=None,
):
    return stft(
        self,
        n_fft,
        hop_length,
        win_length,
        window,
        center,
        pad_mode,
        normalized,
        onesided,
        return_complex,
        align_to_window,
    )


def _tensor_unique(self, sorted=True, return_inverse=False, return_counts=False, dim=None):
    return unique(self, sorted, return_inverse, return_counts, dim)


def _tensor_unique_consecutive(self, return_inverse=False, return_counts=False, dim=None):
    return unique_consecutive(self, return_inverse, return_counts, dim)


for _function in (nonzero, norm, stft, unique, unique_consecutive):
    _method = globals()[f"_tensor_{_function.__name__}"]
    _method.__name__, _method.__doc__ = _function.__name__, _function.__doc__
    setattr(Tensor, _function.__name__, _method)


def _differences(input, dim, spacing, edge_order):
    """Derivatives along `dim` by central differences, at the ends by one-sided ones of `edge_order`."""
    n = input.shape[dim]
    if n <= edge_order:
        raise RuntimeError("tenon.gradient expected each dimension size to be at least edge_order+1")
    at = functools.partial(input.narrow, dim)
    if isinstance(spacing, tenon.Tensor) and spacing.dim() > 0:
        shape = [-1 if d == dim else 1 for d in range(input.dim())]
        steps = (spacing[1:] - spacing[:-1]).reshape(shape)
        first = functools.partial(steps.narrow, dim)
        left, right = first(0, n - 2), first(1, n - 2)
        inner = (
            -right / (left * (left + right)) * at(0, n - 2)
            + (right - left) / (left * right) * at(1, n - 2)
            + left / (right * (left + right)) * at(2, n - 2)
        )
    else:

        def first(start, length):
            return spacing

        inner = (at(2, n - 2) - at(0, n - 2)) / (2 * spacing)
    if edge_order == 1:
        head = (at(1, 1) - at(0, 1)) / first(0, 1)
        tail = (at(n - 1, 1) - at(n - 2, 1)) / first(n - 2, 1)
    else:
        a, b = first(0, 1), first(1, 1)
        head = -(2 * a + b) / (a * (a + b)) * at(0, 1) + (a + b) / (a * b) * at(1, 1) - a / (b * (a + b)) * at(2, 1)
        a, b = first(n - 3, 1), first(n - 2, 1)
        tail = (
            b / (a * (a + b)) * at(n - 3, 1)
            - (a + b) / (a * b) * at(n - 2, 1)
            + (2 * b + a) / (b * (a + b)) * at(n - 1, 1)
        )
    return tenon.cat([head, inner, tail], dim)


@_as_given
def gradient(input, *, spacing=None, dim=None, edge_order=1):
    """The partial derivatives of the function whose values on a grid `input` has, a tensor for each dimension of `dim`.

    spacing: the distance of neighbours, 1 by default; one for each dimension; or the coordinates along each, tensors of one dimension.
    edge_order: 1 or 2, the accuracy at the ends. Inside it is 2.
    """
    spacing = 1 if spacing is None else spacing
    if edge_order not in (1, 2):
        raise RuntimeError("tenon.gradient only supports edge_order=1 and edge_order=2.")
    dims = list(range(input.dim())) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    if isinstance(spacing, (list, tuple)):
        if len(spacing) != len(dims):
            raise RuntimeError(
                "tenon.gradient expected spacing to be unspecified, a scalar or a list of as many numbers or tensors as "
                f"there are {'dimensions' if dim is None else 'in dim'}, {len(dims)}, but got a list of length {len(spacing)}"
            )
        for coordinates in spacing:
            if isinstance(coordinates, tenon.Tensor) and coordinates.device != input.device:
                raise RuntimeError(
                    "tenon.gradient expected each tensor to be on the same device, but got devices "
                    f"{input.device} and {coordinates.device}!"
                )
        spacings = list(spacing)
    else:
        if isinstance(spacing, tenon.Tensor) and spacing.dim() > 0:
            raise TypeError("[gradient] coordinates are given as a list of tensors, one for each dimension")
        spacings = [spacing] * len(dims)
    found = []
    for d in dims:
        size = max(input.dim(), 1)
        if not -size <= d < size:
            raise IndexError(f"Dimension out of range (expected to be in range of [{-size}, {size - 1}], but got {d})")
        if d % size in found:
            raise RuntimeError(f"dim {d % size} appears multiple times in the list of dims")
        found.append(d % size)
    if not (input.dtype.is_floating_point or input.dtype.is_complex):
        input = input.to(tenon.get_default_dtype())
    return tuple(_differences(input, d, h, edge_order) for d, h in zip(found, spacings))


@overridable
def unravel_index(indices, shape):
    """The coordinates, a tensor for each dimension of `shape`, of places in a contiguous tensor of that shape."""
    if indices.dtype.is_floating_point or indices.dtype.is_complex or indices.dtype == tenon.bool:
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    if any(not isinstance(size, int) for size in shape):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {shape}")
    if any(size < 0 for size in shape):
        raise ValueError(f"'shape' cannot have negative values, but got {shape}")
    result, step = [], 1
    for size in reversed(shape):
        result.append(tenon.floor_divide(indices.to(tenon.int64), step).remainder(size))
        step *= size
    return tenon.stack(result[::-1], -1).unbind(-1) if result else ()


# ---- methods as functions ----


@_as_given
def detach(input):
    """The same elements, without the graph behind them."""
    return input.detach()


@_as_given
def detach_(input):
    """Takes the graph behind the tensor away."""
    return input.detach_()


@_as_given
def get_device(input):
    """The number of the tensor's GPU; -1 on the CPU."""
    return input.get_device()


@_as_given
def is_conj(input):
    """Whether the tensor's memory holds the conjugates of its elements."""
    return input.is_conj()


@_as_given
def is_neg(input):
    """Whether the tensor's memory holds the negatives of its elements."""
    return input.is_neg()


@_as_given
def is_same_size(input, other):
    """Whether both have the same sizes."""
    return input.size() == other.size()


def set_flush_denormal(mode):
    """False: Tenon does not change how the processor treats denormal numbers."""
    return False


def _assert(condition, message):
    """AssertionError with the message unless the condition is true."""
    if type(condition) is not Tensor and _C._has_torch_function((condition,)):
        return _C._call_override(_assert, (condition,), (condition, message), {}, "_assert")
    assert condition, message  # noqa: S101  what it is for


@_as_given
def _assert_async(input, assert_msg=None):
    """RuntimeError, with the message if there is one, unless the tensor's only value is not zero."""
    if not bool(input):
        raise RuntimeError(
            "Expected Tensor with single nonzero value, but got zero" if assert_msg is None else assert_msg
        )
