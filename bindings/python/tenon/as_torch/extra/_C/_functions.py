"""Classes of nodes of a graph."""

from tenon import _C
from tenon.autograd import Function


class _Undefined(Function):
    @staticmethod
    def forward(ctx, *tensors):
        outputs = tuple(tensor.view_as(tensor) for tensor in tensors)
        return outputs[0] if len(outputs) == 1 else outputs

    @staticmethod
    def backward(ctx, *grads):
        return None if len(grads) == 1 else (None,) * len(grads)


class UndefinedGrad:
    """UndefinedGrad()(x) is x, whose gradient is undefined."""

    def __call__(self, *tensors):
        return _Undefined.apply(*tensors)


class _OfGraph(type):
    def __instancecheck__(cls, node):
        return isinstance(node, _C.Node) and node.name() == cls.__name__


class AccumulateGrad(metaclass=_OfGraph):
    """The class of nodes that add gradients to a leaf."""
