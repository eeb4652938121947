"""What must be the same in a result of the subject and in PyTorch's."""

import torch

from .subject import short


class Differs(Exception):
    """Text: which property, what PyTorch has, what the subject has."""

    by_value = False


# The tensors that a sparse one consists of, by its layout.
PARTS = {
    "sparse_coo": ("_indices", "_values"),
    "sparse_csr": ("crow_indices", "col_indices", "values"),
    "sparse_csc": ("ccol_indices", "row_indices", "values"),
    "sparse_bsr": ("crow_indices", "col_indices", "values"),
    "sparse_bsc": ("ccol_indices", "row_indices", "values"),
}


def parts_of(t):
    return [getattr(t, name)() for name in PARTS[short(t.layout)]]


def significant(sizes, strides):
    """Strides that an element's place depends on."""
    return [] if 0 in sizes else [(d, s) for d, (n, s) in enumerate(zip(sizes, strides)) if n > 1]


def same(subject, wanted, got, tolerance, what="result", values=True, strides=True, bits=False):
    """Differs unless `got` is `wanted`; both may be nested. `tolerance` is None or {"rtol", "atol"}. `bits`: those of
    views too. Memory of a result's own may hold conjugates or not."""
    if isinstance(wanted, torch.Tensor):
        if not isinstance(got, subject.Tensor):
            raise Differs(f"{what}: a tensor, got {type(got).__name__}")
        if short(wanted.dtype) != short(got.dtype):
            raise Differs(f"{what}: dtype {short(wanted.dtype)}, got {short(got.dtype)}")
        if tuple(wanted.shape) != tuple(got.shape):
            raise Differs(f"{what}: shape {tuple(wanted.shape)}, got {tuple(got.shape)}")
        for bit in ("is_conj", "is_neg") if bits and wanted._is_view() else ():
            if getattr(wanted, bit)() != getattr(got, bit)():
                raise Differs(f"{what}: {bit} {getattr(wanted, bit)()}, got {getattr(got, bit)()}")
        if short(wanted.layout) != short(got.layout):
            raise Differs(f"{what}: layout {short(wanted.layout)}, got {short(got.layout)}")
        if short(wanted.layout) in PARTS:
            return same(subject, parts_of(wanted), parts_of(got), tolerance, what, values, strides)
        mine, yours = significant(wanted.shape, wanted.stride()), significant(got.shape, got.stride())
        if strides and mine != yours:
            raise Differs(f"{what}: strides {tuple(wanted.stride())}, got {tuple(got.stride())}")
        if values:
            try:
                torch.testing.assert_close(
                    subject.torch(got),
                    wanted.detach().resolve_conj().resolve_neg(),
                    equal_nan=True,
                    check_stride=False,
                    **(tolerance or {}),
                )
            except AssertionError as error:
                text = " ".join(str(error).split())
                differs = Differs(f"{what}: {text[:200]}")
                differs.by_value = True
                raise differs from None
    elif isinstance(wanted, (list, tuple)):
        if not isinstance(got, (list, tuple)) or len(got) != len(wanted):
            raise Differs(
                f"{what}: {len(wanted)} results, got {type(got).__name__}"
                f"{f' of {len(got)}' if isinstance(got, (list, tuple)) else ''}"
            )
        for i, (one, other) in enumerate(zip(wanted, got)):
            same(subject, one, other, tolerance, f"{what} {i}", values, strides, bits)
    elif isinstance(wanted, torch.dtype):
        if short(wanted) != short(got):
            raise Differs(f"{what}: {short(wanted)}, got {short(got)}")
    elif isinstance(wanted, (bool, int, float, complex, str, type(None))):
        close = type(wanted) is type(got) and (wanted == got or wanted != wanted and got != got)
        if not close and isinstance(wanted, (float, complex)) and isinstance(got, (float, complex)):
            close = torch.isclose(torch.tensor(got), torch.tensor(wanted), equal_nan=True).item()
        if not close and values:
            raise Differs(f"{what}: {wanted!r}, got {got!r}")


def tensors_of(value):
    if isinstance(value, (list, tuple)):
        return [t for v in value for t in tensors_of(v)]
    if not hasattr(value, "data_ptr") or not hasattr(value, "shape"):
        return []
    return parts_of(value) if short(value.layout) in PARTS else [value]


def same_memory(memory, wanted, got):
    """Results share memory with the arguments where PyTorch's do, at the same place."""
    for i, (one, other) in enumerate(zip(tensors_of(wanted), tensors_of(got))):
        if one.numel() == 0:
            continue
        mine, yours = memory.place(one.data_ptr(), False), memory.place(other.data_ptr(), True)
        if mine != yours:
            say = lambda p: "own memory" if p is None else f"memory of argument {p[0]} at byte {p[1]}"  # noqa: E731
            raise Differs(f"result {i}: {say(mine)}, got {say(yours)}")
