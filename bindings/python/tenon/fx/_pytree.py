"""Arguments of a traced program, taken apart by a TreeSpec that was found when it was traced."""

from tenon.utils import _pytree

SUPPORTED_NODES = {}
SUPPORTED_NODES_EXACT_MATCH = {}


def register_pytree_flatten_spec(cls, flatten_fn_spec, flatten_fn_exact_match_spec=None):
    """Registers how objects of a class are taken apart by a spec: flatten_fn_spec(object, spec) gives a list."""
    SUPPORTED_NODES[cls] = flatten_fn_spec
    SUPPORTED_NODES_EXACT_MATCH[cls] = flatten_fn_exact_match_spec


def _children(tree, spec):
    if spec.type in SUPPORTED_NODES:
        return SUPPORTED_NODES[spec.type](tree, spec)
    if spec.type is dict:
        return [tree[key] for key in spec.context]
    if spec.type in (list, tuple) or _pytree.is_namedtuple_class(spec.type):
        return [tree[i] for i in range(spec.num_children)]
    if spec.type in _pytree.SUPPORTED_NODES:
        return _pytree.SUPPORTED_NODES[spec.type].flatten_fn(tree)[0]
    raise RuntimeError(
        f"{spec.type} does not have a flatten_fn_spec associated with it. Please register one with "
        "torch.fx._pytree.register_pytree_flatten_spec."
    )


def tree_flatten_spec(pytree, spec):
    """The leaves that the spec names."""
    if spec.is_leaf():
        return [pytree]
    return [
        leaf for child, part in zip(_children(pytree, spec), spec.children()) for leaf in tree_flatten_spec(child, part)
    ]
