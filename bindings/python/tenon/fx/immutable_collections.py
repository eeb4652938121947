"""Lists and dicts as arguments of nodes: a node notices its arguments only when they are assigned."""

from tenon.utils import _pytree


def _no_mutation(self, *args, **kwargs):
    raise TypeError(
        f"{type(self).__name__!r} object does not support mutation. If you are attempting to modify the kwargs or args "
        "of a torch.fx.Node object,\ninstead create a new copy of it and assign the copy to the node:\n\n"
        "    new_args = ...  # copy and mutate args\n    node.args = new_args"
    )


def _closed(base, names):
    return {name: _no_mutation for name in names if hasattr(base, name)}


class immutable_list(list):
    """A list that cannot be changed."""

    vars().update(
        _closed(
            list, "__delitem__ __iadd__ __imul__ __setitem__ append clear extend insert pop remove reverse sort".split()
        )
    )

    def __hash__(self):
        return hash(tuple(self))

    def __reduce__(self):
        return type(self), (tuple(self),)


class immutable_dict(dict):
    """A dict that cannot be changed."""

    vars().update(_closed(dict, "__delitem__ __ior__ __setitem__ clear pop popitem setdefault update".split()))

    def __hash__(self):
        return hash(frozenset(self.items()))

    def __reduce__(self):
        return type(self), (tuple(self.items()),)


_pytree.register_pytree_node(
    immutable_list, lambda value: (list(value), None), lambda values, context: immutable_list(values)
)
_pytree.register_pytree_node(
    immutable_dict,
    lambda value: (list(value.values()), list(value)),
    lambda values, context: immutable_dict(zip(context, values)),
)
