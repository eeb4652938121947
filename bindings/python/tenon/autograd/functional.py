"""Derivatives of functions of tensors."""

from tenon import _C
from tenon.autograd import _vectorized


def _tensors(values, name, function):
    """Whether it is one tensor, and the tensors. TypeError for what is neither a tensor nor a tuple of them."""
    if isinstance(values, _C.Tensor):
        return True, (values,)
    given = f"The {name} given to {function} must be either a Tensor or a tuple of Tensors but the"
    if not isinstance(values, (tuple, list)):
        raise TypeError(f"{given} given {name} has type {type(values)}.")
    for i, value in enumerate(values):
        if not isinstance(value, _C.Tensor):
            raise TypeError(f"{given} value at index {i} has type {type(value)}.")
    return False, tuple(values)


class _Called:
    """The function as the library calls it, which remembers whether it gives one tensor or several."""

    def __init__(self, func, name):
        self.func, self.name = func, name
        self.single = False

    def __call__(self, *inputs):
        result = self.func(*inputs)
        self.single, _ = _tensors(result, "outputs of the user-provided function", self.name)
        return result


def _unpacked(values, single):
    return values[0] if single else values


_STRATEGIES = ("reverse-mode", "forward-mode")


def _is_forward(strategy):
    if strategy not in _STRATEGIES:
        raise AssertionError(
            f'Expected strategy to be either "forward-mode" or "reverse-mode", got {strategy!r}. Hint: If your function has '
            'more outputs than inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".'
        )
    return strategy == "forward-mode"


def _product(name, func, inputs, v, create_graph, strict, like_outputs, strategy="reverse-mode"):
    single, inputs = _tensors(inputs, "inputs", name)
    function = _Called(func, name)
    v = () if v is None else _tensors(v, "v", name)[1]
    outputs, result = getattr(_C, f"_{name}")(function, inputs, v, create_graph, strict, _is_forward(strategy))
    return _unpacked(outputs, function.single), _unpacked(result, function.single if like_outputs else single)


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(*inputs), v^T J). v has the outputs' sizes, and may be left out for one output of one element."""
    return _product("vjp", func, inputs, v, create_graph, strict, False)


def jvp(func, inputs, v=None, create_graph=False, strict=False, *, strategy="reverse-mode"):
    """(func(*inputs), J v). v has the inputs' sizes, and may be left out for one input of one element.

    strategy: "reverse-mode" differentiates v^T J, which takes second derivatives; "forward-mode" computes tangents, and has
    neither create_graph nor strict.
    """
    return _product("jvp", func, inputs, v, create_graph, strict, True, strategy)


def vhp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(*inputs), v^T H) for a function that gives one element."""
    return _product("vhp", func, inputs, v, create_graph, strict, False)


def hvp(func, inputs, v=None, create_graph=False, strict=False, *, strategy="reverse-mode"):
    """(func(*inputs), H v) for a function that gives one element. strategy: as in jvp(), for the outer derivative."""
    return _product("hvp", func, inputs, v, create_graph, strict, False, strategy)


def _check_vectorize(name, vectorize, strict):
    if vectorize and strict:
        raise RuntimeError(
            f"torch.autograd.functional.{name}: `strict=True` and `vectorized=True` are not supported together. "
            "Please either set `strict=False` or `vectorize=False`."
        )


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"):
    """All derivatives of the outputs with respect to the inputs: [*output sizes, *input sizes] for each pair.

    strategy: "reverse-mode" takes a backward pass for each element of the outputs, "forward-mode" a call of func for each
    element of the inputs. vectorize: all passes, or calls, are one, by vmap; if an operator refuses, they follow one another.
    """
    _check_vectorize("jacobian", vectorize, strict)
    single, inputs = _tensors(inputs, "inputs", "jacobian")
    function, forward = _Called(func, "jacobian"), _is_forward(strategy)
    rows = None
    if vectorize and not (forward and create_graph):
        rows = _vectorized.jacobian(function, inputs, create_graph, forward)
    if rows is None:
        rows = _C._jacobian(function, inputs, create_graph, strict, forward)
    return _unpacked(tuple(_unpacked(tuple(row), single) for row in rows), function.single)


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode"):
    """All second derivatives of a function that gives one element: [*input i sizes, *input j sizes] for each pair.

    outer_jacobian_strategy, vectorize: as in jacobian(), for the derivatives of the gradient.
    """
    _check_vectorize("hessian", vectorize, strict)
    single, inputs = _tensors(inputs, "inputs", "hessian")
    func = _Called(func, "hessian")
    forward, rows = _is_forward(outer_jacobian_strategy), None
    if vectorize and not (forward and create_graph):
        rows = _vectorized.hessian(func, inputs, create_graph, forward)
    if rows is None:
        rows = _C._hessian(func, inputs, create_graph, strict, forward)
    return _unpacked(tuple(_unpacked(tuple(row), single) for row in rows), single)
