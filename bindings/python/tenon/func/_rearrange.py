"""rearrange: dimensions moved, split and joined, by names."""

import math

from tenon import _C

_ELLIPSIS = "..."


def _parsed(side):
    """(for each dimension of one side its names, "..." for all that have none, the names of all)."""
    found, group = [], None
    text = side.replace(_ELLIPSIS, " \0 ").replace("(", " ( ").replace(")", " ) ")
    for word in text.split():
        if word == "\0":
            if any(_ELLIPSIS in names for names in [*found, group or ()]):
                raise ValueError(
                    "Expression may contain dots only inside ellipsis (...); only one ellipsis for tensor "
                )
            word = _ELLIPSIS
        if word == "(":
            if group is not None:
                raise ValueError("Axis composition is one-level (brackets inside brackets not allowed)")
            group = []
        elif word == ")":
            if group is None:
                raise ValueError("Brackets are not balanced")
            found.append(group)
            group = None
        elif word == "1":
            if group is None:
                found.append([])
        elif word.isdecimal():
            raise ValueError("rearrange only supports unnamed axes of size 1")
        elif word != _ELLIPSIS and not word.isidentifier():
            raise ValueError(f"Invalid axis identifier: {word}\nnot a valid python identifier")
        elif group is None:
            found.append(word if word == _ELLIPSIS else [word])
        else:
            group.append(word)
    if group is not None:
        raise ValueError(f"Imbalanced parentheses in expression: '{side}'")
    names = [name for names in found for name in ([names] if names == _ELLIPSIS else names)]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"Indexing expression contains duplicate dimension '{name}'")
    return found, names


def _sizes_of(group, size, known):
    """The sizes of the names that one dimension is split into."""
    open_names = [name for name in group if name not in known]
    if len(open_names) > 1:
        raise ValueError(f"rearrange: cannot infer the sizes of several dimensions at once: {', '.join(open_names)}")
    given = math.prod(known[name] for name in group if name in known)
    if open_names and (given == 0 or size % given) or not open_names and given != size:
        raise ValueError(
            f"rearrange: cannot infer ({' '.join(group)}), a dimension of size {size}, with the sizes {known}"
        )
    for name in open_names:
        known[name] = size // given
    return [known[name] for name in group]


def rearrange(tensor, pattern, **axes_lengths):
    """The tensor with its dimensions moved, split and joined as the pattern says, in the notation of einops.

        rearrange(x, "b c h w -> b (h w) c")
        rearrange(x, "b (heads d) -> heads b d", heads=4)
        rearrange([x, y], "n ... -> ... n")                  a list is stacked

    Of a dimension that is split all sizes but one are given by their names. `...` is all dimensions without a name, 1 or ()
    one of size 1.
    """
    if not isinstance(tensor, _C.Tensor):
        tensor = _C.stack(tensor)
    parts = pattern.split("->")
    if len(parts) != 2:
        raise ValueError("Pattern must contain a single '->' separator")
    (left, left_names), (right, right_names) = map(_parsed, parts)
    for name, size in axes_lengths.items():
        if not isinstance(size, int):
            raise TypeError(f"rearrange axis lengths must be integers, got: {type(size)}")
        if name not in left_names:
            raise ValueError(f"Identifiers not found in rearrange expression: {{{name!r}}}")
    if _ELLIPSIS in right_names and _ELLIPSIS not in left_names:
        raise ValueError(f"Ellipsis found in right side, but not left side of a pattern {pattern}")
    if any(group != _ELLIPSIS and _ELLIPSIS in group for group in left):
        raise ValueError(f"Ellipsis is parenthesis in the left side is not allowed: {pattern}")
    lonely = set(left_names) ^ set(right_names)
    if lonely:
        raise ValueError(f"Identifiers only on one side of rearrange expression (should be on both): {lonely}")

    free = tensor.dim() - (len(left) - 1 if _ELLIPSIS in left_names else len(left))
    if free < 0 or (free and _ELLIPSIS not in left_names):
        raise ValueError(
            f"Number of dimensions in pattern ({len(left)}) must be equal to the number of dimensions in the tensor ({tensor.dim()})"
        )
    # Every name is a dimension of its own, each that the ellipsis stands for, too.
    known, unnamed, shape, order, dim = dict(axes_lengths), [f"{i}..." for i in range(free)], [], [], 0
    for group in left:
        names = unnamed if group == _ELLIPSIS else group
        if group == _ELLIPSIS:
            sizes = list(tensor.shape[dim : dim + free])
            known.update(zip(unnamed, sizes, strict=True))
            dim += free
        else:
            sizes = _sizes_of(group, tensor.shape[dim], known)
            dim += 1
        shape += sizes
        order += names
    wanted = [
        unnamed if group == _ELLIPSIS else [n for name in group for n in (unnamed if name == _ELLIPSIS else [name])]
        for group in right
    ]
    moved = tensor.reshape(shape).permute([order.index(name) for group in wanted for name in group])
    result = []
    for group, names in zip(right, wanted, strict=True):
        sizes = [known[name] for name in names]
        result += sizes if group == _ELLIPSIS else [math.prod(sizes)]
    return moved.reshape(result)
