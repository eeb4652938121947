"""Operators from load_operators() as PyTorch's: torch.ops.mine.swiglu, with derivative and meta function, without copies."""

import torch

import tenon
from tenon import _C


def _to_tenon(value):
    if isinstance(value, torch.Tensor):
        return tenon.from_dlpack(value.detach())
    if isinstance(value, (list, tuple)):
        return [_to_tenon(v) for v in value]
    if isinstance(value, torch.dtype):
        return getattr(tenon, str(value).removeprefix("torch."))
    return value


def _to_torch(value):
    if isinstance(value, tenon.Tensor):
        return torch.from_dlpack(value.detach())
    if isinstance(value, (list, tuple)):
        return type(value)(_to_torch(v) for v in value)
    return value


def _meta(value):
    """A tensor of Tenon's without data, in the shape of PyTorch's; symbolic sizes become numbers."""
    if isinstance(value, torch.Tensor):
        dtype = getattr(tenon, str(value.dtype).removeprefix("torch."))
        return tenon.empty_strided(tuple(map(int, value.shape)), tuple(map(int, value.stride())), dtype=dtype, device="meta")
    return [_meta(v) for v in value] if isinstance(value, (list, tuple)) else value


def _from_meta(value, like):
    if isinstance(value, tenon.Tensor):
        dtype = getattr(torch, repr(value.dtype).split(".")[1])
        return torch.empty_strided(tuple(value.shape), value.stride(), dtype=dtype, device=like)
    return tuple(_from_meta(v, like) for v in value) if isinstance(value, (list, tuple)) else value


def _device_of(values):
    return next((v.device for v in values if isinstance(v, torch.Tensor)), torch.device("cpu"))


def _differentiate(function, args, names, grads, wanted):
    """The gradients of function(*args, **names) with respect to args[i] for i in `wanted`; None where it is zero."""
    # The operator once more, recorded by Tenon, whose derivative it is.
    args = [_to_tenon(a) for a in args]
    leaves = [args[i].requires_grad_() for i in wanted]
    with tenon.enable_grad():
        outputs = function(*args, **{name: _to_tenon(value) for name, value in names.items()})
    outputs = [outputs] if isinstance(outputs, tenon.Tensor) else list(outputs)
    pairs = [(o, _to_tenon(g.contiguous())) for o, g in zip(outputs, grads) if g is not None and o.requires_grad]
    if not pairs:
        return [None] * len(leaves)
    return tenon.autograd.grad([o for o, _ in pairs], leaves, [g for _, g in pairs], allow_unused=True)


def _backward_schema(own, name):
    """That of the operator which computes the gradients: the results' gradients, which of the positional arguments have
    one, and what the operator itself is given. PyTorch traces it as one node."""
    parameters = own[own.index("(") + 1 : own.rindex(") ->")]
    return f"{name}(Tensor?[] grads_, int[] wanted_, {parameters}) -> Tensor[]"


def _register_derivative(library, namespace, name, own, function):
    backward_name = f"{name}_backward_"
    library.define(_backward_schema(own, backward_name))

    def compute(grads, wanted, *args, **names):
        found = _differentiate(function, args, names, grads, wanted)
        return [torch.zeros_like(args[i]) if g is None else _to_torch(g) for i, g in zip(wanted, found)]

    def shapes(grads, wanted, *args, **names):
        return [torch.empty_like(args[i]) for i in wanted]

    library.impl(backward_name, compute, "CPU")
    torch.library.register_fake(f"{namespace}::{backward_name}", shapes, lib=library)
    call_backward = getattr(getattr(torch.ops, namespace), backward_name)

    def setup_context(ctx, inputs, keyword_only_inputs=None, output=None):
        tensors = [v for v in inputs if isinstance(v, torch.Tensor)]
        ctx.save_for_backward(*tensors)
        ctx.others = [None if isinstance(v, torch.Tensor) else v for v in inputs]
        ctx.places = [i for i, v in enumerate(inputs) if isinstance(v, torch.Tensor)]
        ctx.names = keyword_only_inputs or {}

    def backward(ctx, *grads):
        args = list(ctx.others)
        for place, tensor in zip(ctx.places, ctx.saved_tensors):
            args[place] = tensor
        wanted = [place for place in ctx.places if ctx.needs_input_grad[place]]
        results = [None] * len(args)
        for place, grad in zip(wanted, call_backward(list(grads), wanted, *args, **ctx.names)):
            results[place] = grad
        return tuple(results)

    torch.library.register_autograd(f"{namespace}::{name}", backward, setup_context=setup_context, lib=library)


def register(ops):
    """Makes the operators of a namespace of tenon.ops known to PyTorch. They run on the CPU.

    torch.compile takes calls of them, differentiated ones as well. Gradients of gradients are not possible: the derivative
    is computed by Tenon, of which PyTorch sees one operator, `name_backward_`.

        tenon.interop.torch.register(tenon.load_operators("ops.yaml"))
        y = torch.ops.mine.swiglu(x, g)

    The result keeps them: they go when it is deleted.
    """
    library = torch.library.Library(ops._name, "FRAGMENT")
    for name, schema in _C._operator_schemas(f"{ops._name}::"):
        own = schema.removeprefix(f"{ops._name}::")
        if "!" in own:
            continue  # forms that write to arguments: PyTorch's users have the functional one
        function = _C._find_operator(name)
        library.define(own)

        def compute(*args, _function=function, **names):
            return _to_torch(_function(*[_to_tenon(a) for a in args], **{k: _to_tenon(v) for k, v in names.items()}))

        def shapes(*args, _function=function, **names):
            return _from_meta(_function(*[_meta(a) for a in args], **{k: _meta(v) for k, v in names.items()}), _device_of(args))

        qualified = own.split("(")[0].split(".")[0]
        library.impl(qualified, compute, "CPU")
        torch.library.register_fake(f"{ops._name}::{qualified}", shapes, lib=library)
        _register_derivative(library, ops._name, qualified, own, function)
    return library
