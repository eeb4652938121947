"""Functions of the module that do more than one operator's work."""

from tenon import _C

Tensor = _C.Tensor


def nonzero(input, *, as_tuple=False, out=None):
    """The places of the elements that are not zero: [n, dimensions], or with as_tuple one tensor per dimension."""
    if not as_tuple:
        return _C.nonzero(input) if out is None else _C.nonzero(input, out=out)
    if out is not None:
        raise TypeError("nonzero(): as_tuple and out cannot be given together")
    return _C.nonzero(input.reshape(1) if input.dim() == 0 else input).unbind(1)


def norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    """The p-norm over `dim`, all dimensions by default; 'fro' is the 2-norm."""
    if isinstance(p, str):
        if p == "nuc":
            raise NotImplementedError("norm: the nuclear norm is not implemented for want of singular values")
        if p != "fro":
            raise RuntimeError(f"only valid string values are 'fro' and 'nuc', found {p}")
        if dtype is not None:
            raise ValueError("dtype argument is not supported in frobenius norm")
    order = 2.0 if p is None or p == "fro" else p
    if isinstance(dim, int):
        dim = [dim]
    if out is None:
        return _C._linalg.linalg_vector_norm(input, order, dim, keepdim, dtype=dtype)
    return _C._linalg.linalg_vector_norm(input, order, dim, keepdim, dtype=dtype, out=out)


def _tensor_nonzero(self, *, as_tuple=False):
    return nonzero(self, as_tuple=as_tuple)


def _tensor_norm(self, p="fro", dim=None, keepdim=False, dtype=None):
    return norm(self, p, dim, keepdim, dtype=dtype)


for _function in (nonzero, norm):
    _method = globals()[f"_tensor_{_function.__name__}"]
    _method.__name__, _method.__doc__ = _function.__name__, _function.__doc__
    setattr(Tensor, _function.__name__, _method)
