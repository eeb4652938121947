"""Sparse tensors: COO, CSR, CSC, BSR and BSC (docs/sparse.md)."""

from tenon import _C

__all__ = [
    "addmm",
    "check_sparse_tensor_invariants",
    "log_softmax",
    "mm",
    "sampled_addmm",
    "softmax",
    "spdiags",
    "sum",
]


def mm(mat1, mat2, reduce=None):
    """The product of a sparse and a strided matrix, or of two sparse ones.

    The gradient of a sparse matrix has its places alone. reduce: "sum", "mean", "amax" or "amin" of each row's products;
    mat1 is CSR.
    """
    return _C._sparse_mm(mat1, mat2) if reduce is None else _C._sparse_mm(mat1, mat2, reduce)


def addmm(mat, mat1, mat2, *, beta=1.0, alpha=1.0):
    """beta * mat + alpha * (mat1 @ mat2) of a sparse mat1, whose gradient has its places alone."""
    return _C._sparse_addmm(mat, mat1, mat2, beta=beta, alpha=alpha)


def sampled_addmm(input, mat1, mat2, *, beta=1.0, alpha=1.0, out=None):
    """beta * input + alpha * (mat1 @ mat2) at the places of input, which is CSR."""
    result = _C.sparse_sampled_addmm(input, mat1, mat2, beta=beta, alpha=alpha)
    return result if out is None else out.copy_(result)


def sum(input, dim=None, dtype=None):
    """The sum of a sparse tensor, over all or the given dimensions.

    Without the sparse dimensions it is strided. The gradient has the places of input alone.
    """
    options = {} if dtype is None else {"dtype": dtype}
    return _C._sparse_sum(input, **options) if dim is None else _C._sparse_sum(input, dim, **options)


def softmax(input, dim, *, dtype=None):
    """Softmax of the elements that there are: the others count as -inf, not as 0."""
    return _C._sparse_softmax(input, dim, dtype=dtype)


def log_softmax(input, dim, *, dtype=None):
    """The logarithm of softmax()."""
    return _C._sparse_log_softmax(input, dim, dtype=dtype)


def spdiags(diagonals, offsets, shape, layout=None):
    """A matrix with diagonals[k, j] at row j - offsets[k] and column j. layout: COO, CSR or CSC."""
    return _C._spdiags(diagonals, offsets, shape, layout)


class check_sparse_tensor_invariants:
    """Whether constructors check what they are given, as PyTorch's switch has it.

    They always do here, so that indices never lead out of memory: the switch only keeps its state.
    """

    _enabled = False

    def __init__(self, enable=True):
        self.state, self.saved_state = enable, None

    @staticmethod
    def is_enabled():
        return check_sparse_tensor_invariants._enabled

    @staticmethod
    def enable():
        check_sparse_tensor_invariants._enabled = True

    @staticmethod
    def disable():
        check_sparse_tensor_invariants._enabled = False

    def __enter__(self):
        if self.saved_state is not None:
            raise RuntimeError(
                "This context manager instance is already activated. Use a different context manager instance for context "
                "nesting."
            )
        self.saved_state = self.is_enabled()
        check_sparse_tensor_invariants._enabled = self.state

    def __exit__(self, type, value, traceback):
        check_sparse_tensor_invariants._enabled = self.saved_state
        self.saved_state = None

    def __call__(self, function):
        import functools

        @functools.wraps(function)
        def checked(*args, **kwargs):
            with self.__class__(self.state):
                return function(*args, **kwargs)

        return checked


def __getattr__(name):
    from tenon._tensor_types import tensor_type

    found = tensor_type(name, "sparse")
    if found is None:
        raise AttributeError(f"module 'tenon.sparse' has no attribute '{name}'")
    return found
