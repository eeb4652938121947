"""What the transforms check of arguments and outputs, and which of the arguments they differentiate."""

import contextlib
import threading

from tenon import _C
from tenon.autograd import forward_ad
from tenon.utils._pytree import tree_flatten, tree_map


class _Depth(threading.local):
    in_jvp = False


_depth = _Depth()


@contextlib.contextmanager
def dual_level():
    """A level of forward mode, for jvp."""
    scope = _C._DualLevelScope()
    scope.__enter__()
    _depth.in_jvp = True
    try:
        yield
    finally:
        _depth.in_jvp = False
        scope.__exit__(None, None, None)


def is_in_dual_level():
    """Whether a jvp, or a dual_level() of the caller, is at work."""
    return _depth.in_jvp or forward_ad._level is not None


def _place(argnum, count):
    if not isinstance(argnum, int):
        raise RuntimeError(f"argnum must be int, got: {type(argnum)}")
    if not -count <= argnum < count:
        raise RuntimeError(f"Got argnum={argnum}, but only {count} positional inputs")
    return argnum % count


def places(argnums, args):
    """The places that argnums names, not negative: an int, or a tuple of them."""
    if isinstance(argnums, int):
        return _place(argnums, len(args))
    if not isinstance(argnums, tuple):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    found = tuple(_place(argnum, len(args)) for argnum in argnums)
    if not found:
        raise RuntimeError("argnums must be non-empty")
    if len(set(found)) != len(found):
        raise RuntimeError(f"argnums elements must be unique, got {argnums}")
    return found


def chosen(args, where):
    """The arguments at these places: one, or a tuple; all without places."""
    if where is None:
        return args
    return args[where] if isinstance(where, int) else tuple(args[i] for i in where)


def replaced(args, where, new):
    """The arguments with those at these places replaced by what chosen() has given, changed."""
    if where is None:
        return new
    new = {where: new} if isinstance(where, int) else dict(zip(where, new, strict=True))
    return tuple(new.get(i, arg) for i, arg in enumerate(args))


def fresh_inputs(tree):
    """(the tree with new inputs of the graph in the place of its tensors, these inputs)."""
    leaves, spec = tree_flatten(tree)
    for leaf in leaves:
        if not isinstance(leaf, _C.Tensor):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(leaf)}")
    inputs = [_C._func.fresh_input(leaf.clone() if leaf.is_inference() else leaf) for leaf in leaves]
    return spec.unflatten(inputs), inputs, spec


class Recording(contextlib.ExitStack):
    """Records what the function computes, also within no_grad() and inference_mode()."""

    def __enter__(self):
        super().__enter__()
        self.recorded_before = _C.is_grad_enabled()
        if _C.is_inference_mode_enabled():
            from tenon.autograd import inference_mode

            self.enter_context(inference_mode(False))
        if not _C.is_grad_enabled():
            from tenon.autograd import enable_grad

            self.enter_context(enable_grad())
        return self

    def left(self, tensors, inputs):
        """The tensors without the graph that leads to these inputs only. Their tangents stay."""
        results = _C._func.leave(tensors, inputs) if self.recorded_before else [tensor.detach() for tensor in tensors]
        if not is_in_dual_level():
            return results
        for i, (tensor, result) in enumerate(zip(tensors, results, strict=True)):
            tangent = forward_ad.unpack_dual(tensor).tangent
            if tangent is not None and forward_ad.unpack_dual(result).tangent is None:
                results[i] = forward_ad.make_dual(result, self.left([tangent], inputs)[0])
        return results


def with_aux(outputs, where, has_aux):
    """(outputs, aux) of what the function has given."""
    if not has_aux:
        return outputs, None
    if not (isinstance(outputs, tuple) and len(outputs) == 2):
        raise RuntimeError(f"{where}: output of function f should be a tuple: (output, aux) if has_aux is True")
    return outputs


def left_aux(aux, recording, inputs):
    """The tree of tensors that a function gives besides, without the transform's graph."""

    def left(leaf):
        if not isinstance(leaf, _C.Tensor):
            raise RuntimeError(f"Expected tensors, got unsupported type {type(leaf)}")
        return recording.left([leaf], inputs)[0]

    return tree_map(left, aux)


def check_outputs(outputs, where):
    """RuntimeError unless there are outputs, all of them tensors."""
    if not outputs or (len(outputs) == 1 and outputs[0] is None):
        raise RuntimeError(f"{where}: Expected f to be a function that has non-empty output (got output = {outputs})")
    for output in outputs:
        if not isinstance(output, _C.Tensor):
            raise RuntimeError(
                f"{where}: expected f(*primals) to return only tensors, got unsupported type {type(output)}"
            )


def is_differentiable(tensor):
    return tensor.is_floating_point() or tensor.is_complex()
