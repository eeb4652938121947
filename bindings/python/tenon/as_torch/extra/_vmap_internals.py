"""torch._vmap_internals: vmap by its private names."""

from tenon.func import vmap as vmap


def _vmap(func, in_dims=0, out_dims=0, allow_none_pass_through=False):
    """tenon.vmap; allow_none_pass_through: None among the outputs stays None."""
    if not allow_none_pass_through:
        return vmap(func, in_dims, out_dims)

    def wrapped(*args):
        from tenon.utils._pytree import tree_flatten, tree_unflatten

        spec, present = None, []

        def tensors(*row):
            nonlocal spec, present
            leaves, spec = tree_flatten(func(*row))
            present = [leaf is not None for leaf in leaves]
            return tuple(leaf for leaf in leaves if leaf is not None)

        results = iter(vmap(tensors, in_dims, out_dims)(*args))
        return tree_unflatten([next(results) if there else None for there in present], spec)

    return wrapped
