"""Nodes of a graph that only tests of PyTorch's make."""

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
