"""Constructors of sparse tensors, their pickles and copies."""

from tenon import _C
from tenon._tensor import as_tensor


def _values_of(values, dtype, device):
    if isinstance(values, _C.Tensor):
        return values if dtype is None or values.dtype == dtype else values.to(dtype)
    return as_tensor(values, dtype=dtype, device=device)


def _indices_of(indices, dtype=None):
    if not isinstance(indices, _C.Tensor):
        indices = as_tensor(indices)
        if indices.numel() == 0 and dtype is None:
            dtype = _C.int64
    return indices.detach() if dtype is None or indices.dtype == dtype else indices.detach().to(dtype)


def _finished(tensor, requires_grad):
    return tensor.requires_grad_() if requires_grad else tensor


def sparse_coo_tensor(
    indices=None,
    values=None,
    size=None,
    *,
    dtype=None,
    device=None,
    pin_memory=False,
    requires_grad=False,
    check_invariants=None,
    is_coalesced=None,
):
    """A tensor in coordinate format: values[i] is at the place indices[:, i]. Values of one place are added.

    sparse_coo_tensor(indices, values, size): indices is [sparse_dim, nnz], values [nnz, *dense sizes]; without size it is
    the smallest that holds the indices. sparse_coo_tensor(size) has no elements. is_coalesced: places ascend and differ.
    """
    if values is None:
        sizes = indices if size is None else size
        return _finished(_C.sparse_coo_tensor(sizes, dtype=dtype, device=device), requires_grad)
    values = _values_of(values, dtype, device)
    places = _indices_of(indices, _C.int64)
    options = {"dtype": dtype, "device": device, "is_coalesced": is_coalesced}
    made = (
        _C.sparse_coo_tensor(places, values, **options)
        if size is None
        else _C.sparse_coo_tensor(places, values, size, **options)
    )
    return _finished(made, requires_grad)


def sparse_compressed_tensor(
    compressed_indices,
    plain_indices,
    values,
    size=None,
    *,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=False,
    requires_grad=False,
    check_invariants=None,
):
    """A tensor of layout CSR, CSC, BSR or BSC.

    compressed_indices [*batch, rows + 1] says where each row (CSR, BSR) or column (CSC, BSC) starts among plain_indices
    and values. Values of BSR and BSC are blocks.
    """
    values = _values_of(values, dtype, device)
    parts = _indices_of(compressed_indices), _indices_of(plain_indices), values
    options = {"dtype": dtype, "layout": layout, "device": device}
    made = (
        _C.sparse_compressed_tensor(*parts, **options)
        if size is None
        else _C.sparse_compressed_tensor(*parts, size, **options)
    )
    return _finished(made, requires_grad)


def sparse_csr_tensor(crow_indices, col_indices, values, size=None, **options):
    """sparse_compressed_tensor() of layout CSR: rows are compressed."""
    return sparse_compressed_tensor(crow_indices, col_indices, values, size, **_with_layout(options, _C.sparse_csr))


def sparse_csc_tensor(ccol_indices, row_indices, values, size=None, **options):
    """sparse_compressed_tensor() of layout CSC: columns are compressed."""
    return sparse_compressed_tensor(ccol_indices, row_indices, values, size, **_with_layout(options, _C.sparse_csc))


def sparse_bsr_tensor(crow_indices, col_indices, values, size=None, **options):
    """sparse_compressed_tensor() of layout BSR: rows of blocks are compressed."""
    return sparse_compressed_tensor(crow_indices, col_indices, values, size, **_with_layout(options, _C.sparse_bsr))


def sparse_bsc_tensor(ccol_indices, row_indices, values, size=None, **options):
    """sparse_compressed_tensor() of layout BSC: columns of blocks are compressed."""
    return sparse_compressed_tensor(ccol_indices, row_indices, values, size, **_with_layout(options, _C.sparse_bsc))


def _with_layout(options, layout):
    if options.get("layout", layout) != layout:
        raise RuntimeError(f"expected layout {layout}, got {options['layout']}")
    return {**options, "layout": layout}


def parts_of(tensor):
    """What a sparse tensor consists of: indices and values, or the two kinds of indices and values."""
    tensor = tensor.detach()
    if tensor.layout == _C.sparse_coo:
        return tensor._indices(), tensor._values()
    if tensor.layout in (_C.sparse_csr, _C.sparse_bsr):
        return tensor.crow_indices(), tensor.col_indices(), tensor.values()
    return tensor.ccol_indices(), tensor.row_indices(), tensor.values()


def names_of_parts(tensor):
    """The names of parts_of()."""
    if tensor.layout == _C.sparse_coo:
        return "indices", "values"
    if tensor.layout in (_C.sparse_csr, _C.sparse_bsr):
        return "crow_indices", "col_indices", "values"
    return "ccol_indices", "row_indices", "values"


def rebuild(layout, parts, size, is_coalesced, requires_grad):
    """The tensor of parts_of()."""
    if layout == _C.sparse_coo:
        return sparse_coo_tensor(*parts, size, is_coalesced=is_coalesced, requires_grad=requires_grad)
    return sparse_compressed_tensor(*parts, size, layout=layout, requires_grad=requires_grad)


def reduced(tensor, requires_grad):
    """The function and the arguments that make it again."""
    coalesced = tensor.layout == _C.sparse_coo and tensor.is_coalesced()
    return rebuild, (tensor.layout, parts_of(tensor), tuple(tensor.size()), coalesced, requires_grad)
