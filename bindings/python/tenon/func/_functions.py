"""autograd.Functions of users under vmap: their own rule, or one that is made of their forward and backward."""

from typing import NamedTuple

from tenon import _C
from tenon.autograd.function import Function, FunctionCtx
from tenon.func._vmap import level_settings, new_level
from tenon.utils._pytree import _broadcast_to_and_flatten, tree_flatten, tree_unflatten

_PAGE = "For more details, please see docs/transforms.md"


class VmapInfo(NamedTuple):
    """What the rule of a Function gets to know: the size of the batch, and the randomness that vmap was given."""

    batch_size: int
    randomness: str


def highest_level(leaves):
    """The innermost level that one of these is batched at; 0: none is batched."""
    return max((_C._func.batch_level(leaf) for leaf in leaves if isinstance(leaf, _C.Tensor)), default=0)


def _checked_outputs(returned):
    """(leaves of the outputs, for each the place of the batch or None, the outputs' shape) of what a rule has returned."""
    wanted = (
        "Expected the vmap staticmethod to have two returns, an output and out_dims with pytree structure compatible with the "
        "output. "
    )
    if not isinstance(returned, tuple):
        raise RuntimeError(f"{wanted}Got a {type(returned)} instead")
    if len(returned) != 2:
        raise RuntimeError(f"{wanted}Got {len(returned)} returns instead")
    output, out_dims = returned
    leaves, spec = tree_flatten(output)
    dims = _broadcast_to_and_flatten(out_dims, spec)
    if dims is None:
        raise RuntimeError(
            "The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) tuple. Expected "
            f"out_dims={out_dims} to be compatible with the structure of `output`. out_dims has structure "
            f"{tree_flatten(out_dims)[1]} but output has structure {spec}. {_PAGE}"
        )
    return leaves, dims, spec


def apply_batched(function, args):
    """function.apply(*args), one of whose tensors is batched; NotImplemented if none is."""
    leaves, spec = tree_flatten(args)
    level = highest_level(leaves)
    if not level:
        return NotImplemented
    name, has_rule = function.__name__, function.vmap is not Function.vmap
    if function.generate_vmap_rule and has_rule:
        raise RuntimeError(
            f"You tried to vmap over {name}, but it has both generate_vmap_rule=True and an overridden vmap staticmethod. "
            f"Please set generate_vmap_rule=False or delete the overridden vmap staticmethod to avoid ambiguity. {_PAGE}"
        )
    if not function.generate_vmap_rule and not has_rule:
        raise RuntimeError(
            f"You tried to vmap over {name}, but it does not have vmap support. Please override and implement the vmap "
            f"staticmethod or set generate_vmap_rule=True. {_PAGE}"
        )
    values, dims = [], []
    for leaf in leaves:
        batched = isinstance(leaf, _C.Tensor) and _C._func.batch_level(leaf) == level
        values.append(_C._func.batch_value(leaf) if batched else leaf)
        dims.append(0 if batched else None)
    info = VmapInfo(*level_settings(level))
    if function.generate_vmap_rule:
        outputs, out_spec = _apply_by_rows(function, values, dims, spec, info)
        out_dims = [0] * len(outputs)
    else:
        with _C._func.BelowLevel(level):
            returned = function.vmap(info, tree_unflatten(dims, spec), *tree_unflatten(values, spec))
        outputs, out_dims, out_spec = _checked_outputs(returned)
    results = [
        output if dim is None or not isinstance(output, _C.Tensor) else _C._func.add_batch_dim(output, dim, level)
        for output, dim in zip(outputs, out_dims, strict=True)
    ]
    return tree_unflatten(results, out_spec)


# ---- the rule that is made of forward, backward and jvp ----


class _RowCtx(FunctionCtx):
    """The ctx of one row: what it saves has no batch, what is kept for it does."""

    def __init__(self):
        self._saved = self._kept = self._kept_for_forward = self._dirty = self._constant = ()
        self._materialize = True

    def save_for_backward(self, *tensors):
        self._kept = tensors

    def save_for_forward(self, *tensors):
        self._kept_for_forward = tensors

    @property
    def saved_tensors(self):
        return self._saved

    def mark_dirty(self, *inputs):
        self._dirty = inputs

    def mark_non_differentiable(self, *outputs):
        self._constant = outputs

    def set_materialize_grads(self, value):
        self._materialize = value


class _Rows:
    """One call of a Function by rows: the places of the batch in its arguments."""

    def __init__(self, function, dims, spec, info):
        self.function, self.dims, self.spec, self.info = function, dims, spec, info

    def wrapped(self, values, dims, level):
        return [
            value if dim is None or value is None else _C._func.add_batch_dim(value, dim, level)
            for value, dim in zip(values, dims, strict=True)
        ]

    def by_argument(self, values):
        """Of the leaves' values those of arguments that are tensors, in the arguments' order, None for others."""
        found, first = [], 0
        for child in self.spec.children():
            found.append(values[first] if child.is_leaf() else None)
            first += child.num_leaves
        return found

    def by_leaf(self, values, what):
        """For each leaf the value of its argument."""
        given = values if isinstance(values, (tuple, list)) else (values,)
        if len(given) != self.spec.num_children:
            raise RuntimeError(
                f"function {self.function.__name__} returned an incorrect number of {what} "
                f"(expected {self.spec.num_children}, got {len(given)})"
            )
        found = []
        for child, value in zip(self.spec.children(), given, strict=True):
            found += [value] if child.is_leaf() else [None] * child.num_leaves
        return found

    def forward(self, ctx, leaves):
        row = ctx.row = _RowCtx()
        row.needs_input_grad = tuple(bool(needs) for needs in self.by_argument(ctx.needs_input_grad))
        with new_level(*self.info) as level:
            given = self.wrapped(leaves, self.dims, level)
            outputs, self.out_spec = tree_flatten(self.function._forward(row, tree_unflatten(given, self.spec)))
            known = list(zip(given, leaves, strict=True))
            results = []
            for output in outputs:
                results.append(self.without_row(output, known, level) if isinstance(output, _C.Tensor) else output)
                known.append((output, results[-1]))
            kept = [self.kept(tensor, known, level) for tensor in row._kept]
            kept_for_forward = [self.kept(tensor, known, level) for tensor in row._kept_for_forward]
            dirty, constant = ([self.known(t, known) for t in marked] for marked in (row._dirty, row._constant))
        row.kept_dims, row.forward_dims = [dim for _, dim in kept], [dim for _, dim in kept_for_forward]
        row._kept = row._kept_for_forward = row._dirty = row._constant = ()
        ctx.save_for_backward(*(tensor for tensor, _ in kept))
        ctx.save_for_forward(*(tensor for tensor, _ in kept_for_forward))
        ctx.mark_dirty(*dirty)
        ctx.mark_non_differentiable(*constant)
        ctx.set_materialize_grads(row._materialize)
        return tuple(results)

    def without_row(self, output, known, level):
        """An output with its batch in front."""
        for one, other in known:
            if one is output and _C._func.batch_level(output) == level:
                return other
        result = _C._func.remove_batch_dim(output, level, self.info.batch_size, 0)
        return result if _C._func.batch_level(output) == level else result.clone()

    def known(self, tensor, known):
        return next(value for one, value in known if one is tensor)

    def kept(self, tensor, known, level):
        """(what is kept for a tensor that a row saves, the place of its batch)."""
        if tensor is None or _C._func.batch_level(tensor) != level:
            return tensor, None
        return next((value for one, value in known if one is tensor), _C._func.batch_value(tensor)), 0

    def backward(self, ctx, grads):
        size, row = self.info.batch_size, ctx.row
        with new_level(*self.info) as level:
            row._saved = tuple(self.wrapped(ctx.saved_tensors, row.kept_dims, level))
            try:
                given = self.function._backward(row, self.wrapped(grads, [0] * len(grads), level))
            finally:
                row._saved = ()
            results = []
            for grad, dim in zip(self.by_leaf(given, "gradients"), self.dims, strict=True):
                if grad is None:
                    results.append(None)
                    continue
                grad = _C._func.remove_batch_dim(grad, level, size, 0)
                results.append(grad if dim == 0 else grad.sum(0))
        return tuple(results)

    def jvp(self, ctx, tangents):
        row = ctx.row
        with new_level(*self.info) as level:
            row._saved = tuple(self.wrapped(ctx.saved_tensors, row.forward_dims, level))
            try:
                given = self.by_argument(self.wrapped(tangents, self.dims, level))
                found = self.function._jvp(row, given)
            finally:
                row._saved = ()
            found = found if isinstance(found, tuple) else (found,)
            return tuple(
                None if tangent is None else _C._func.remove_batch_dim(tangent, level, self.info.batch_size, 0)
                for tangent in found
            )


def _apply_by_rows(function, leaves, dims, spec, info):
    """(leaves of the outputs, with the batch in front, the outputs' shape)."""
    rows = _Rows(function, dims, spec, info)
    members = {
        "forward": staticmethod(lambda ctx, *leaves: rows.forward(ctx, leaves)),
        "backward": staticmethod(lambda ctx, *grads: rows.backward(ctx, grads)),
        "generate_vmap_rule": True,
    }
    if function.jvp is not Function.jvp:
        members["jvp"] = staticmethod(lambda ctx, *tangents: rows.jvp(ctx, tangents))
    outputs = type(function.__name__, (Function,), members).apply(*leaves)
    return list(outputs), rows.out_spec
