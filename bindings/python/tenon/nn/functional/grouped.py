"""Products of matrices in groups."""

import tenon

__all__ = ["grouped_mm"]


def _bounds(offs, last):
    """The groups' places: (begin, end) of each."""
    ends = offs.tolist()
    if any(end < begin for begin, end in zip([0, *ends], ends)) or ends and ends[-1] > last:
        raise RuntimeError(f"[grouped_mm] offs must ascend up to {last}, got {ends}")
    return zip([0, *ends], ends)


def grouped_mm(mat_a, mat_b, *, offs=None, bias=None, out_dtype=None):
    """A product for each of G groups; offs, [G], has the end of each group along the dimension that is divided.

    [S, K], [G, K, N] -> [S, N]     rows of mat_a are divided; rows behind the last end are 0
    [G, M, K], [K, S] -> [M, S]     columns of mat_b are divided
    [M, S], [S, N] -> [G, M, N]     the sum's terms are divided
    [G, M, K], [G, K, N] -> [G, M, N]     without offs
    """
    dims = mat_a.dim(), mat_b.dim()
    if not set(dims) <= {2, 3}:
        raise RuntimeError(
            f"[grouped_mm] matrices or batches of them are required, got shapes {mat_a.shape} and {mat_b.shape}"
        )
    if bias is not None:
        raise RuntimeError("[grouped_mm] bias is not supported")
    if (offs is None) != (dims == (3, 3)):
        raise RuntimeError("[grouped_mm] offs is required if there is a matrix among the arguments, and only then")
    if out_dtype not in (None, mat_a.dtype):
        raise RuntimeError(f"[grouped_mm] out_dtype must be that of the arguments, {mat_a.dtype}, got {out_dtype}")
    if dims == (3, 3):
        return mat_a @ mat_b
    if dims == (2, 3):
        parts = [mat_a[begin:end] @ b for (begin, end), b in zip(_bounds(offs, mat_a.shape[0]), mat_b)]
        rest = mat_a.shape[0] - sum(part.shape[0] for part in parts)
        return tenon.cat([*parts, mat_a.new_zeros(rest, mat_b.shape[2])] if rest else parts)
    if dims == (3, 2):
        parts = [a @ mat_b[:, begin:end] for (begin, end), a in zip(_bounds(offs, mat_b.shape[1]), mat_a)]
        rest = mat_b.shape[1] - sum(part.shape[1] for part in parts)
        return tenon.cat([*parts, mat_a.new_zeros(mat_a.shape[1], rest)] if rest else parts, 1)
    return tenon.stack([mat_a[:, begin:end] @ mat_b[begin:end] for begin, end in _bounds(offs, mat_a.shape[1])])
